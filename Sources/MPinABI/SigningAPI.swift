// mpin.h: signing. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK
import MPinSecrets

@_cdecl("mpin_sdk_hash_document") @implementation
public func mpin_sdk_hash_document(
    _ hash: UnsafeMutablePointer<UInt8>?, _ document: UnsafePointer<UInt8>?, _ document_len: Int
) -> mpin_status {
    guard let output = Output(hash, SHA256.size, size: SHA256.size),
        let document = octets(document, document_len)
    else { return MPIN_INVALID_ARGUMENT }
    var room = output.room.mutableSpan
    SHA256.hash(document.span, into: &room)
    output.handOver()
    return MPIN_OK
}

@_cdecl("mpin_sdk_verify_document") @implementation
public func mpin_sdk_verify_document(
    _ is_same: UnsafeMutablePointer<Int32>?, _ document: UnsafePointer<UInt8>?, _ document_len: Int,
    _ hash: UnsafePointer<UInt8>?
) -> mpin_status {
    guard let is_same, let document = octets(document, document_len), let hash = octets(hash, SHA256.size) else {
        return MPIN_INVALID_ARGUMENT
    }
    let own = SecretBytes(count: SHA256.size)
    var room = own.mutableSpan
    SHA256.hash(document.span, into: &room)
    is_same.pointee = constantTimeEqual(own.span, hash.span) ? 1 : 0
    return MPIN_OK
}
