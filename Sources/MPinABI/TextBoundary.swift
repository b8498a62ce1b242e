// How text crosses the C boundary, for the functions of mpin.h. As in Boundary.swift, nothing here may trap.

import CMPin
import Glibc
import MPinSecrets

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
    var text = text
    return text.withUTF8 { copyOut($0, out, length) }
}

/// Hands a secret text, its bytes in UTF-8, to a C caller, who wipes it.
func copyOut(
    _ secret: SecretBytes, _ out: UnsafeMutablePointer<CChar>?, _ length: UnsafeMutablePointer<Int>?
) -> mpin_status {
    secret.span.withUnsafeBufferPointer { copyOut($0, out, length) }
}

private func copyOut(
    _ utf8: UnsafeBufferPointer<UInt8>, _ out: UnsafeMutablePointer<CChar>?, _ length: UnsafeMutablePointer<Int>?
) -> mpin_status {
    guard let length else { return MPIN_INVALID_ARGUMENT }
    let room = UInt(bitPattern: length.pointee)
    let size = utf8.count + 1
    length.pointee = size
    guard let out else { return MPIN_OK }
    guard room >= UInt(size) else { return MPIN_BUFFER_TOO_SMALL }
    let bytes = UnsafeMutableRawPointer(out)
    if let source = utf8.baseAddress { bytes.copyMemory(from: source, byteCount: utf8.count) }
    bytes.storeBytes(of: 0, toByteOffset: utf8.count, as: UInt8.self)
    return MPIN_OK
}
