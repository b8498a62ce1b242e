import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire

/// How long the first attempt of a request that may be sent again waits for its answer, if the call has so many
/// milliseconds left. A provider accepts the refresh token again for 30 seconds or so.
package func firstAttempt(of milliseconds: Int) -> UInt32 { UInt32(clamping: min(milliseconds / 2, 10_000)) }

/// Sends the requests of one call to a provider.
struct Requests {
    let parts: SessionParts
    let limits: CallLimits

    /// Sends a request once and returns any answer. `name` is what error texts call it. `deadline`: nil for that of the
    /// call.
    func execute(
        _ name: String, _ request: HTTPRequest, until deadline: Deadline? = nil
    ) throws(SDKError) -> HTTPResponse {
        var request = request
        request.deadline = deadline ?? limits.deadline
        do throws(HTTPFailure) {
            if let refusal = parts.policy.refusal(of: request.url) { throw refusal }
            let response = try parts.transport.execute(request, isCancelled: limits.isCancelled)
            parts.log?(.debug, "\(request.method.rawValue) \(request.origin): HTTP \(response.status)")
            return response
        } catch {
            parts.log?(.warning, "\(request.method.rawValue) \(request.origin): \(error)")
            throw SDKError(Self.status(error), "\(name): \(error)")
        }
    }

    private static func status(_ failure: HTTPFailure) -> Status {
        switch failure {
        case .invalidURL, .insecureURL, .untrustedDomain, .forbiddenAddress: .untrustedDomainError
        case .invalidRequest: .invalidArgument
        case .network, .unavailable: .networkError
        case .timedOut: .timedOut
        case .cancelled: .canceled
        case .answerTooLarge: .responseParseError
        }
    }

    /// Gets a JSON document.
    func document(_ name: String, _ url: String, bearer: SecretText? = nil) throws(SDKError) -> JSONValue {
        var request = HTTPRequest(url: url, headers: [("Accept", "application/json")], deadline: limits.deadline)
        if let bearer { request.secretHeaders.append(("Authorization", ("Bearer " + bearer).secret)) }
        return try decode(name, try success(name, try execute(name, request)))
    }

    /// Posts a form. After a failure of the network, and if no answer comes, a repeatable one is sent once more: the
    /// provider may have got the request, and accepts it again for a while.
    func post(
        _ name: String, _ url: String, _ form: Form, _ secretHeaders: [(String, SecretBytes)], isRepeatable: Bool
    ) throws(SDKError) -> HTTPResponse {
        var request = HTTPRequest(
            method: .post, url: url,
            headers: [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")],
            deadline: limits.deadline)
        request.secretHeaders = secretHeaders
        request.secretBody = form.body
        guard isRepeatable else { return try execute(name, request) }
        let patience = firstAttempt(of: limits.deadline.remainingMilliseconds())
        do throws(SDKError) {
            return try execute(name, request, until: .after(milliseconds: patience))
        } catch {
            guard error.status == .networkError || error.status == .timedOut else { throw error }
            return try execute(name, request)
        }
    }

    func decode<Message: Decodable>(_ name: String, _ response: HTTPResponse) throws(SDKError) -> Message {
        do { return try JSON.decode(from: response.body.span) } catch {
            throw SDKError(.responseParseError, "\(name): \(error)", httpStatus: response.status)
        }
    }

    /// Returns an answer with status 200, and throws for any other. An OAuth error is in ``SDKError/server``.
    func success(_ name: String, _ response: HTTPResponse) throws(SDKError) -> HTTPResponse {
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
        throw SDKError(status, "\(name): HTTP \(response.status)\(words)", httpStatus: response.status, server: report)
    }
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
