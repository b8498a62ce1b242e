// A libFuzzer target for every message of the protocol that the client or the server reads. Nothing may trap or read
// out of bounds. A message that was read must be written in a form that is read as the same message.
//
// The first byte selects the message, and the rest is its JSON text.

import MPinWire

/// libFuzzer calls this function once for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMessages(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
    withInput(data, size) { selector, input in readers[Int(selector) % readers.count](input) }
}

/// One function that reads a message for each kind of message, in the order of the protocol description's sections.
private let readers: [@Sendable (UnsafeMutableBufferPointer<UInt8>) -> Void] = [
    both(ClientSettings.self), both(RegisterRequest.self), both(RegisterResponse.self), both(SignatureResponse.self),
    both(MPinIDContent.self), both(VerifyUserRequest.self), both(VerifyUserResponse.self), both(ActivateRequest.self),
    both(RPSTimePermitResponse.self), both(Pass1Request.self), both(Pass1Response.self), both(Pass2Request.self),
    both(Pass2Response.self), both(AuthenticateRequest.self), both(RPAAuthenticateRequest.self),
    both(RPAAuthenticateResponse.self), both(WaitingBrowserResponse.self), both(AccessRequest.self),
    both(AccessResponse.self), both(CodeStatusRequest.self), both(CodeDetailsResponse.self),
    both(MobileAuthenticateResponse.self), both(LoginResultRequest.self), both(ServiceResponse.self),
    both(ServerSecretResponse.self), both(MasterKeysResponse.self), both(ClientSecretResponse.self),
    both(TimePermitResponse.self), both(TimePermitsResponse.self), both(VerificationRequest.self),
    both(ConfirmationRequest.self), both(ConfirmationResponse.self), both(SigningPermission.self),
    both(SigningRegisterRequest.self), both(SigningRegisterResponse.self), both(SigningShareResponse.self),
    renewal, errorDetail, time,
]

/// Reads a message and writes it, then reads and writes the result again. Both written texts must be equal as JSON. The
/// order of members may differ.
private func both<Message: Codable & Sendable>(
    _ type: Message.Type
) -> @Sendable (UnsafeMutableBufferPointer<UInt8>) -> Void {
    { input in
        guard let message = try? JSON.decode(type, from: input.span) else { return }
        guard let text = try? JSON.bytes(message) else { return expect(false, "what was read can be written") }
        guard let again = try? JSON.decode(type, from: text.span) else { return expect(false, "and read again") }
        expect(value(of: message) == value(of: again), "as the same message")
    }
}

private func value(of message: some Encodable) -> JSONValue? {
    guard let text = try? JSON.bytes(message) else { return nil }
    return try? JSON.decode(JSONValue.self, from: text.span)
}

/// Reads a `RenewalAnswer`, which is the only message that is never written.
@Sendable private func renewal(_ input: UnsafeMutableBufferPointer<UInt8>) {
    _ = try? JSON.decode(RenewalAnswer.self, from: input.span)
}

/// Reads the body of an error answer. It may have any content, because any server or proxy on the way may have sent it.
@Sendable private func errorDetail(_ input: UnsafeMutableBufferPointer<UInt8>) {
    guard let body = try? JSON.decode(JSONValue.self, from: input.span, fromAny: true) else { return }
    let detail = ErrorDetail(body)
    expect(detail.text.utf8.count <= 2 * input.count, "an error's text comes from its body")
}

@Sendable private func time(_ input: UnsafeMutableBufferPointer<UInt8>) {
    guard let seconds = WireTime.seconds(String(decoding: input, as: UTF8.self)) else { return }
    expect(WireTime.seconds(String(seconds)) == WireTime.seconds(seconds), "a number of seconds is a time, too")
}
