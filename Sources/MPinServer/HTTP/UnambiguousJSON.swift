import CJansson
import Foundation

/// Whether `body` is a JSON object or array in which no object names a member twice (wire section 2). Of two such members
/// one program takes the first and the next one the last: what one has checked is not what the other works with.
func isUnambiguousJSON(_ body: Data) -> Bool {
    let value = body.withUnsafeBytes { bytes in
        json_loadb(
            bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
            size_t(JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL), nil)
    }
    guard let value else { return false }
    json_decref(value)
    return true
}
