// How bytes and text cross the boundary, once for all functions. Nothing here may trap: what C hands over is checked
// before it is used. A `size_t` arrives as an `Int`: one above `Int.max` is a negative number here.

import CMPin
import Glibc
import MPinCrypto
import MPinSecrets

/// The octets of an input; nil for NULL or an impossible length.
func octets(_ start: UnsafePointer<UInt8>?, _ count: Int) -> UnsafeBufferPointer<UInt8>? {
    guard let start, count >= 0 else { return nil }
    return UnsafeBufferPointer(start: start, count: count)
}

/// The octets of an optional input: NULL with length 0 is an absent one.
func optionalOctets(_ start: UnsafePointer<UInt8>?, _ count: Int) -> UnsafeBufferPointer<UInt8>?? {
    if start == nil, count == 0 { return .some(nil) }
    guard let octets = octets(start, count) else { return nil }
    return .some(octets)
}

/// An output of a fixed size. It is made aside and handed over when the whole call has succeeded, so that a failure
/// writes nothing and an output may lie where an input lies.
struct Output: ~Copyable {
    private let target: UnsafeMutablePointer<UInt8>?
    /// Where the call writes. Its count is 0 if the output is not wanted.
    let room: UnsafeMutableBufferPointer<UInt8>

    /// For `size` bytes. NULL with length 0 is allowed if the output is optional.
    init(
        _ target: UnsafeMutablePointer<UInt8>?, _ count: Int, size: Int, optional: Bool = false
    ) throws(MPinError) {
        let isAbsent = optional && target == nil && count == 0
        if !isAbsent {
            guard target != nil, 0...size ~= count else { throw .wrongParameter }
            guard count == size else { throw .bufferTooSmall }
        }
        self.target = target
        room = .allocate(capacity: isAbsent ? 0 : size)
        room.initialize(repeating: 0)
    }

    /// Writes the caller's buffer.
    func handOver() {
        if let target, let source = room.baseAddress { target.update(from: source, count: room.count) }
    }

    deinit {
        let room = room
        var bytes = room.mutableSpan
        wipe(&bytes)
        room.deallocate()
    }
}

/// The text of an input; nil for NULL and for bytes that are not UTF-8.
func text(_ start: UnsafePointer<CChar>?) -> String? {
    guard let start else { return nil }
    return String(validatingCString: start)
}

/// The text of an input that may be NULL; the outer nil stands for bytes that are not UTF-8.
func optionalText(_ start: UnsafePointer<CChar>?) -> String?? {
    guard let start else { return .some(nil) }
    guard let text = String(validatingCString: start) else { return nil }
    return .some(text)
}

/// The bytes of a secret text, in the caller's memory: it never becomes a String, which nobody could wipe.
func secretOctets(_ start: UnsafePointer<CChar>?) -> UnsafeBufferPointer<UInt8>? {
    guard let start else { return nil }
    let bytes = UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self)
    return UnsafeBufferPointer(start: bytes, count: strlen(start))
}

/// Whether they are text, without a copy of them.
func isUTF8(_ octets: UnsafeBufferPointer<UInt8>) -> Bool {
    do { _ = try UTF8Span(validating: octets.span) } catch { return false }
    return true
}

/// A text output: the size with its NUL into `length`, and the text into `out` if it is there and large enough.
func copyOut(_ text: String, _ out: UnsafeMutablePointer<CChar>?, _ length: UnsafeMutablePointer<Int>?) -> mpin_status {
    guard let length else { return MPIN_INVALID_ARGUMENT }
    let room = UInt(bitPattern: length.pointee)
    var text = text
    return text.withUTF8 { utf8 in
        let size = utf8.count + 1
        length.pointee = size
        guard let out else { return MPIN_OK }
        guard room >= UInt(size) else { return MPIN_BUFFER_TOO_SMALL }
        let bytes = UnsafeMutableRawPointer(out)
        if let source = utf8.baseAddress { bytes.copyMemory(from: source, byteCount: utf8.count) }
        bytes.storeBytes(of: 0, toByteOffset: utf8.count, as: UInt8.self)
        return MPIN_OK
    }
}
