// A libFuzzer target for everything that a session reads from a provider or a browser: ID tokens, keys, answers of the
// endpoints, and the URL of a redirect; and for what it has stored. Nothing may trap. An ID token is accepted only if it
// is the one that the provider has signed.
//
// The first byte selects what is read, and the rest is its text.

import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire

@testable import MPinSession

/// libFuzzer calls this function once for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTokens(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
    withInput(data, size) { selector, input in readers[Int(selector) % readers.count](Array(input)) }
}

private let readers: [@Sendable ([UInt8]) -> Void] = [
    idToken, partsOfAnIDToken, keys, tokenAnswer, discovery, claims, redirect, stored,
]

// MARK: ID tokens

/// A token that a provider has signed with the key below, and what it has to say.
private let signed =
    "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSJ9.eyJpc3MiOiJodHRwczovL3AuZXhhbXBsZSIsInN1YiI6ImFubiIsImF1ZCI6ImFwcCIsImlhdCI6MTAw"
    + "MCwiZXhwIjoyMDAwLCJub25jZSI6Im4iLCJhdF9oYXNoIjoib0ZZZjFrbk50cnFuaEFWZkJSdXRlUSJ9.1feuxx03HmQb_qpqZ4wR3b-jv0ODk4uUuP2"
    + "0U-0hR6JgVpt9K82y0dTQGUGcdxmPWaD2XyueHAgEJb-ZbUb0PA"
private let published = """
    {"keys":[{"kty":"EC","crv":"P-256","kid":"one","x":"Qk3Se6b7bEfYKSVnqLcwiLDy4-Q3XBI__IeJcpy9SHM",\
    "y":"mkGs3PLbZ4RlRHIt7v427VidPiA_7xt8-1_5NcGLL7w"}]}
    """
private let expected = IDToken.Expectation(
    issuer: "https://p.example", clientID: "app", nonce: "n", accessToken: "access", now: 1500, subject: nil)

/// A session whose provider answers every request with ``answer``.
private let (session, request): (AppSession, AuthorizationRequest) = {
    do {
        let environment = Environment(
            makeTransport: { _ in Provided() },
            random: { bytes in
                for index in bytes.indices { bytes[index] = 7 }
                return true
            })
        let sdk = SDK(environment: environment)
        try sdk.initialize(SDKConfig(storagePath: "fuzz-store"))
        let session = try AppSession(sdk, path: "fuzz-session")
        return (session, try AuthorizationRequest(session, provider, redirectURI: "app:/callback"))
    } catch { fatalError("no session: \(error)") }
}()

private let provider = Provider(name: "p", login: .browser, clientID: "app", issuer: "https://p.example")
private let answer = Locked<[UInt8]>([])

private struct Provided: HTTPTransport {
    func execute(
        _ request: HTTPRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(HTTPFailure) -> HTTPResponse {
        let body = answer.withLock { $0 }
        return HTTPResponse(status: body.first == 0x21 ? 400 : 200, body: SecretBytes(copying: body.span))
    }
}

private func caller() -> Caller { session.caller(session.limits()) }

private func verify(_ token: String, keys: [UInt8]) -> Bool {
    answer.withLock { $0 = keys }
    let verified = try? IDToken(SecretText(token), expected, keys: KeySet(), at: "https://p.example/keys", caller())
    if let verified { expect(verified.subject == "ann", "of the user whom the token names") }
    return verified != nil
}

private func verifySigned(_ token: String) {
    guard verify(token, keys: Array(published.utf8)) else { return }
    let parts = token.split(separator: ".").prefix(2)
    expect(parts == signed.split(separator: ".").prefix(2), "a token was accepted that nobody has signed")
}

@Sendable private func idToken(_ input: [UInt8]) { verifySigned(String(decoding: input, as: UTF8.self)) }

/// Header, claims and signature, separated by zero bytes, without their encoding.
@Sendable private func partsOfAnIDToken(_ input: [UInt8]) {
    let parts = input.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
    verifySigned(parts.map { Base64URL.encode(Array($0)) }.joined(separator: "."))
}

@Sendable private func keys(_ input: [UInt8]) { _ = verify(signed, keys: input) }

// MARK: Answers

@Sendable private func tokenAnswer(_ input: [UInt8]) {
    answer.withLock { $0 = input }
    var plain = provider
    plain.issuer = nil
    plain.endpoints.token = "https://p.example/token"
    do throws(SDKError) {
        let received = try session.tokens(.token, plain, Form(), caller())
        expect(HeaderField.isValue(received.answer.access_token.plainText), "the token fits into a header")
        expect(received.expiry ?? .max >= received.now, "a token expires later")
        let record = try session.record(received, plain, userID: "", scope: "", nonce: nil, caller())
        expect(record.isValid(for: 0, now: received.now) == (received.expiry != received.now), "and is valid till then")
    } catch {
        expect(error.text.utf8.allSatisfy { (32...126).contains($0) }, "an error's text can be shown")
    }
}

@Sendable private func discovery(_ input: [UInt8]) {
    guard let document = try? JSON.decode(JSONValue.self, from: input.span),
        let endpoints = try? Endpoints(discovery: document, issuer: "https://p.example")
    else { return }
    expect(!endpoints.token.isEmpty && !endpoints.keys.isEmpty, "a provider has these endpoints")
}

@Sendable private func claims(_ input: [UInt8]) {
    guard let document = try? JSON.decode(JSONValue.self, from: input.span),
        let profile = try? Profile(document, in: "userinfo", names: ["sub": "id"])
    else { return }
    expect(profile.completed(by: profile) == profile, "a profile completes itself")
}

@Sendable private func redirect(_ input: [UInt8]) {
    // "$" stands for the state of the login, which nobody else knows.
    let url = String(decoding: input, as: UTF8.self)
    let known = url.split(separator: "$", omittingEmptySubsequences: false).joined(separator: request.state)
    guard let found = AuthorizationAnswer(known, for: request) else { return }
    expect(url.contains("$") || url.contains("%") || known.contains(request.state), "an answer without the state")
    do throws(SDKError) {
        expect(try found.code(from: provider).count > 0, "a code is not empty")
    } catch {
        expect(error.status == .loginRefused, "an answer without a code is a refusal")
    }
}

@Sendable private func stored(_ input: [UInt8]) {
    guard let content = try? JSON.decode(SessionContent.self, from: input.span) else { return }
    guard let text = try? JSON.encode(content), let again = try? JSON.decode(SessionContent.self, from: text.span)
    else { return expect(false, "what was read can be written and read again") }
    expect(again.session?.credentials.accessToken == content.session?.credentials.accessToken, "as the same session")
    expect(again.unrevoked.count == content.unrevoked.count, "with the same tokens to revoke")
}
