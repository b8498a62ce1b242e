package import MPinHTTP
import MPinSecrets
import MPinWire

/// The deadline of an operation, and whether it is cancelled.
package struct CallLimits: Sendable {
    package let deadline: Deadline
    package let isCancelled: @Sendable () -> Bool

    package init(deadline: Deadline, isCancelled: @escaping @Sendable () -> Bool) {
        self.deadline = deadline
        self.isCancelled = isCancelled
    }
}

/// Sends the requests of one operation, of the client core or of a session. The operation's deadline and cancel apply to
/// each of them.
package struct Caller {
    let transport: any HTTPTransport
    /// Every URL is checked against this policy before it reaches the transport, because the program's own transport
    /// may not check it.
    let policy: HTTPPolicy
    /// The client id and the program's custom headers.
    let headers: [(String, String)]
    package let limits: CallLimits
    /// The networks to which the URLs in the backend's answers may lead; nil: any.
    var reach: Set<AddressClass>?
    var retryMilliseconds = Retries.usualMilliseconds
    let log: Log?
    package var deadline: Deadline { limits.deadline }

    /// A caller for URLs that the program itself gave. Such URLs may lead to any network.
    var anywhere: Caller {
        var caller = self
        caller.reach = nil
        return caller
    }

    func get(
        _ call: Call, _ url: String, secretQuery: SecretBytes? = nil, until earlier: Deadline? = nil
    ) throws(SDKError) -> HTTPResponse {
        var request = HTTPRequest(
            url: url, headers: headers, deadline: earlier ?? deadline, mayRepeat: call.isIdempotent)
        request.secretQuery = secretQuery
        return try answer(call, request)
    }

    /// Sends a request with a body. `more` are additional headers.
    func send(
        _ call: Call, _ method: HTTPRequest.Method, _ url: String, _ message: some Encodable,
        _ more: [(String, String)] = [], until earlier: Deadline? = nil
    ) throws(SDKError) -> HTTPResponse {
        let body: SecretBytes
        do { body = try JSON.encode(message) } catch { throw SDKError(.invalidArgument, "\(call.name): no JSON text") }
        var request = HTTPRequest(
            method: method, url: url, headers: [("Content-Type", "application/json; charset=UTF-8")] + headers + more,
            deadline: earlier ?? deadline)
        request.secretBody = body
        return try answer(call, request)
    }

    /// Decodes the JSON text of an answer as a `Message`.
    package func decode<Message: Decodable>(_ call: Call, _ answer: HTTPResponse) throws(SDKError) -> Message {
        do {
            return try JSON.decode(from: answer.body.span)
        } catch { throw SDKError(.responseParseError, "\(call.name): \(error)", httpStatus: answer.status) }
    }

    /// Sends a request, with retries, and returns the answer.
    private func answer(_ call: Call, _ request: HTTPRequest) throws(SDKError) -> HTTPResponse {
        var retries = Retries(deadline: request.deadline, firstPauseMilliseconds: retryMilliseconds)
        while true {
            do throws(SDKError) {
                let response = try execute(call, request)
                let status = call.status(http: response.status)
                if status == .ok { return response }
                throw Self.error(call, status, response)
            } catch {
                guard call.isIdempotent, let pause = retries.pause(after: error) else { throw error }
                try wait(pause, call)
            }
        }
    }

    /// Sends a request once and returns any answer. Inlined, because a copy of the PIN could be left in each stack frame
    /// between a flow that gets one and its requests.
    @inline(__always)
    package func execute(_ call: Call, _ request: HTTPRequest) throws(SDKError) -> HTTPResponse {
        var request = request
        request.reach = reach
        let start = monotonicNanoseconds()
        do throws(HTTPFailure) {
            if let refusal = policy.refusal(of: request.url, reach: reach) { throw refusal }
            let response = try transport.execute(request, isCancelled: limits.isCancelled)
            tell(.debug, request, since: start, "HTTP \(response.status), \(response.body.count) bytes")
            return response
        } catch {
            tell(.warning, request, since: start, "\(error)")
            throw Self.error(call, error)
        }
    }

    /// Writes a line about a request to the log. Path, query, headers and bodies are left out, because they may contain
    /// a token.
    private func tell(
        _ level: LogLevel, _ request: HTTPRequest, since start: UInt64, _ outcome: @autoclosure () -> String
    ) {
        guard let log else { return }
        let milliseconds = (monotonicNanoseconds() &- start) / 1_000_000
        log(level, "\(request.method.rawValue) \(request.origin): \(outcome()) in \(milliseconds) ms")
    }

    private static func error(_ call: Call, _ status: Status, _ response: HTTPResponse) -> SDKError {
        let report = SDKError.ServerReport(response)
        let words = report.text.isEmpty ? "" : ": \(report.text)"
        let id = report.requestID.isEmpty ? "" : " (request \(report.requestID))"
        let hint = hint(status, report).map { ": \($0)" } ?? ""
        return SDKError(
            call.status(code: report.code) ?? status, "\(call.name): HTTP \(response.status)\(words)\(id)\(hint)",
            httpStatus: response.status, server: report, isLastAttempt: response.status == call.lastAttempt)
    }

    /// An explanation for a status whose name does not suffice; nil for any other status.
    private static func hint(_ status: Status, _ report: SDKError.ServerReport) -> String? {
        switch status {
        case .identityNotVerified:
            "the mail link has not been opened yet: confirm, or restart the registration"
        case .registrationExpired: "begin the registration anew"
        case .clientSecretExpired: "register again"
        case .badUserAgent: "the server does not know this program, or its client id"
        case .incorrectPIN: report.attemptsLeft.map { "\($0) \($0 == 1 ? "try is" : "tries are") left" }
        default: nil
        }
    }

    /// Waits until the end of the pause, which must be before the deadline. Throws if the operation is cancelled
    /// meanwhile.
    private func wait(_ pause: Deadline, _ call: Call) throws(SDKError) {
        while pause.remainingMilliseconds() > 0 {
            guard !limits.isCancelled() else { throw Self.error(call, .cancelled) }
            pause.sleep(atMost: 50)
        }
    }

    private static func error(_ call: Call, _ failure: HTTPFailure) -> SDKError {
        let status: Status =
            switch failure {
            case .invalidURL, .insecureURL, .untrustedDomain, .forbiddenAddress: .untrustedDomainError
            case .invalidRequest: .invalidArgument
            case .network, .unavailable: .networkError
            case .timedOut: .timedOut
            case .cancelled: .canceled
            case .answerTooLarge: .responseParseError
            }
        if case .unavailable = failure { return SDKError(status, "\(call.name): \(failure)", isFinal: true) }
        return SDKError(status, "\(call.name): \(failure)")
    }
}

extension SDKError.ServerReport {
    private static let maxText = 200
    private static let maxRequestID = 100

    init(_ response: HTTPResponse) {
        self.init()
        retryAfter = response.retryAfter
        let detail = (try? JSON.decode(JSONValue.self, from: response.body.span)).map(ErrorDetail.init)
        // MIRACL's servers send errors as plain text (TRUST wire section 7.2).
        let isText = response.header("Content-Type")?.lowercased().hasPrefix("text/plain") == true
        code = Self.line(detail?.code ?? "", Self.maxText)
        text = Self.line(detail?.text ?? (isText ? response.body.plainText : ""), Self.maxText)
        attemptsLeft = detail?.attemptsLeft.map { Int32(clamping: $0) }
        let context = detail?.context ?? [:]
        retryAt = (context["backoff"] ?? context["blockedUntil"]).flatMap { Int64($0) }
        projectID = Self.line(context["projectId"] ?? "", Self.maxText)
        accessID = Self.line(context["accessId"] ?? "", Self.maxText)
        requestID = Self.line(response.header("X-Request-Id") ?? detail?.requestID ?? "", Self.maxRequestID)
    }

    /// The first `limit` characters as one line, without control characters, which could change the state of a
    /// terminal.
    private static func line(_ text: String, _ limit: Int) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: " "
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
