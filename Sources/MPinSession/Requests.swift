import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire

/// How long the first attempt of a request that may be sent again waits for its answer, if the call has so many
/// milliseconds left. A provider accepts the refresh token again for 30 seconds or so.
package func firstAttempt(of milliseconds: Int) -> UInt32 { UInt32(clamping: min(milliseconds / 2, 10_000)) }

/// Its name in ``KeySet`` and ``IDToken``.
typealias Requests = Caller

/// Requests to a provider, which says in its own way why it refuses them (RFC 6749 section 5.2).
extension Caller {
    /// Gets a JSON document. `name` is what error texts call it.
    func document(_ name: String, _ url: String, bearer: SecretText? = nil) throws(SDKError) -> JSONValue {
        let call = Call(name)
        var request = HTTPRequest(url: url, headers: [("Accept", "application/json")], deadline: deadline)
        if let bearer { request.secretHeaders.append(("Authorization", ("Bearer " + bearer).secret)) }
        return try decode(call, success(call, execute(call, request)))
    }

    /// Posts a form. After a failure of the network, and if no answer comes, an idempotent one is sent once more: the
    /// provider may have got the request, and accepts it again for a while.
    func post(
        _ call: Call, _ url: String, _ form: Form, _ secretHeaders: [(String, SecretBytes)]
    ) throws(SDKError) -> HTTPResponse {
        var request = HTTPRequest(
            method: .post, url: url,
            headers: [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")],
            deadline: deadline)
        request.secretHeaders = secretHeaders
        request.secretBody = form.body
        guard call.isIdempotent else { return try success(call, execute(call, request)) }
        request.deadline = .after(milliseconds: firstAttempt(of: deadline.remainingMilliseconds()))
        let response: HTTPResponse
        do throws(SDKError) { response = try execute(call, request) } catch {
            guard error.status == .networkError || error.status == .timedOut else { throw error }
            request.deadline = deadline
            response = try execute(call, request)
        }
        return try success(call, response)
    }

    /// Returns an answer with status 200, and throws for any other. An OAuth error is in ``SDKError/server``.
    private func success(_ call: Call, _ response: HTTPResponse) throws(SDKError) -> HTTPResponse {
        if response.status == 200 { return response }
        var report = SDKError.ServerReport()
        report.retryAfter = response.retryAfter
        if let fault = try? JSON.decode(OAuthFault.self, from: response.body.span) {
            report.code = printable(fault.error)
            report.text = printable(fault.error_description ?? "")
        }
        let status: Status =
            switch response.status {
            case 429: .tooManyRequests
            case 400..<500: .httpRequestError
            case 500..<600: .httpServerError
            default: .networkError
            }
        let words = [report.code, report.text].filter { !$0.isEmpty }.map { ": \($0)" }.joined()
        throw SDKError(
            status, "\(call.name): HTTP \(response.status)\(words)", httpStatus: response.status, server: report)
    }
}

extension Call {
    static let token = Call("token")
    static let renewal = Call("renewal", isIdempotent: true)
    static let exchange = Call("token exchange", isIdempotent: true)
    static let revocation = Call("revocation", isIdempotent: true)
    static let deviceAuthorization = Call("device authorization", isIdempotent: true)
    /// A request of the app itself.
    static let api = Call("request")
}

/// The body of an error answer (RFC 6749 section 5.2).
private struct OAuthFault: Decodable {
    var error: String
    var error_description: String?
}

/// At most 100 characters of the ones that an OAuth error may have (RFC 6749 section 5.2): a text from a server may go
/// to a terminal.
func printable(_ text: String, atMost count: Int = 100) -> String {
    String(decoding: text.utf8.prefix(count).map { (32...126).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
}
