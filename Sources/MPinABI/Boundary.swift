// How bytes and text cross the C boundary, for all functions. Nothing here may trap, so everything from C is checked
// before it is used. A `size_t` arrives as an `Int`, so a value above `Int.max` is negative here.

import CMPin
import Glibc
import MPinCrypto
import MPinSecrets

/// The octets of an input. Nil for NULL or an impossible length.
func octets(_ start: UnsafePointer<UInt8>?, _ count: Int) -> UnsafeBufferPointer<UInt8>? {
    guard let start, count >= 0 else { return nil }
    return UnsafeBufferPointer(start: start, count: count)
}

/// The octets of an optional input. The inner nil means that there is no input: `start` is NULL and `count` is 0. The
/// outer nil is an error.
func optionalOctets(_ start: UnsafePointer<UInt8>?, _ count: Int) -> UnsafeBufferPointer<UInt8>?? {
    if start == nil, count == 0 { return .some(nil) }
    guard let octets = octets(start, count) else { return nil }
    return .some(octets)
}

/// An output of a fixed size. The call writes to separate memory, which is copied to the caller's buffer when the whole
/// call has succeeded. So nothing is written after an error, and an output may overlap an input.
struct Output: ~Copyable {
    private let target: UnsafeMutablePointer<UInt8>?
    /// The memory that the call writes to. Its count is 0 if the output is not wanted.
    let room: UnsafeMutableBufferPointer<UInt8>

    /// Prepares an output of `size` bytes. NULL with length 0 is allowed if the output is optional.
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

    /// Copies the result to the caller's buffer.
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

/// The text of an input. Nil for NULL and for bytes that are not UTF-8.
func text(_ start: UnsafePointer<CChar>?) -> String? {
    guard let start else { return nil }
    return String(validatingCString: start)
}

/// The text of an optional input. The inner nil means that there is no input: `start` is NULL. The outer nil is an
/// error: the bytes are not UTF-8.
func optionalText(_ start: UnsafePointer<CChar>?) -> String?? {
    guard let start else { return .some(nil) }
    guard let text = String(validatingCString: start) else { return nil }
    return .some(text)
}

/// The bytes of a secret text, in the caller's memory; nil for NULL. No String is made of the text, because a String
/// cannot be wiped.
func secretOctets(_ start: UnsafePointer<CChar>?) -> UnsafeBufferPointer<UInt8>? {
    guard let start else { return nil }
    let bytes = UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self)
    return UnsafeBufferPointer(start: bytes, count: strlen(start))
}

/// Whether the octets are UTF-8. Makes no copy of them.
func isUTF8(_ octets: UnsafeBufferPointer<UInt8>) -> Bool {
    do { _ = try UTF8Span(validating: octets.span) } catch { return false }
    return true
}

/// Hands a text to a C caller. Writes its size, with the NUL at its end, into `length`, and the text itself into `out`
/// if `out` is not NULL and large enough.
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
