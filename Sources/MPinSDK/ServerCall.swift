import MPinHTTP
import MPinSecrets
import MPinWire

/// One request of a flow; what an HTTP status means depends on it (wire section 13).
enum ServerCall: Sendable, CaseIterable {
    case clientSettings
    case register
    case signature
    case secondClientSecret
    case timePermit
    case permitStorage
    case secondTimePermit
    case pass1
    case pass2
    case authenticate

    /// For error texts.
    var name: String {
        switch self {
        case .clientSettings: "client settings"
        case .register: "register"
        case .signature: "first client secret share"
        case .secondClientSecret: "second client secret share"
        case .timePermit: "first time permit share"
        case .permitStorage: "permit storage"
        case .secondTimePermit: "second time permit share"
        case .pass1: "pass 1"
        case .pass2: "pass 2"
        case .authenticate: "authenticate"
        }
    }

    /// What an HTTP status means here. Success is exactly 200 (wire section 2).
    func status(http: Int) -> Status {
        switch (self, http) {
        case (_, 200): .ok
        case (_, 406): .badUserAgent
        case (_, 429): .tooManyRequests
        case (.register, 403): .identityNotAuthorized
        case (.signature, 400), (.signature, 401): .identityNotVerified
        case (.secondClientSecret, 408): .requestExpired
        case (.timePermit, 410), (.secondTimePermit, 410): .revoked
        case (.authenticate, 401), (.authenticate, 410): .incorrectPIN
        case (.authenticate, 408): .requestExpired
        case (.authenticate, 412): .incorrectAccessNumber
        case (.authenticate, 403): .identityNotAuthorized
        case (.authenticate, 409): .clientSecretExpired
        case (_, 201..<300): .responseParseError
        case (_, 400..<500): .httpRequestError
        case (_, 500..<600): .httpServerError
        default: .networkError
        }
    }
}

/// When an operation must end.
struct CallLimits {
    let deadline: Deadline
    let isCancelled: @Sendable () -> Bool
}

/// Sends the requests of one operation: each under the operation's deadline, each open to its cancel.
struct Caller {
    let transport: any HTTPTransport
    let limits: CallLimits
    var deadline: Deadline { limits.deadline }
    private static let maxServerText = 200

    func get(_ call: ServerCall, _ url: String, until earlier: Deadline? = nil) throws(SDKError) -> SecretBytes {
        try send(call, HTTPRequest(url: url, deadline: earlier ?? deadline))
    }

    func send(_ call: ServerCall, _ method: HTTPRequest.Method, _ url: String, _ message: some Encodable)
        throws(SDKError) -> SecretBytes
    {
        let body: SecretBytes
        do { body = try JSON.encode(message) } catch { throw SDKError(.invalidArgument, "\(call.name): no JSON text") }
        let request = HTTPRequest(
            method: method, url: url, headers: [("Content-Type", "application/json; charset=UTF-8")],
            body: body.plainBytes, deadline: deadline)
        return try send(call, request)
    }

    /// `answer` as a message of the wire.
    func decode<Message: Decodable>(_ call: ServerCall, _ answer: SecretBytes) throws(SDKError) -> Message {
        do {
            return try JSON.decode(from: answer.span)
        } catch { throw SDKError(.responseParseError, "\(call.name): \(error)", httpStatus: 200) }
    }

    private func send(_ call: ServerCall, _ request: HTTPRequest) throws(SDKError) -> SecretBytes {
        let response: HTTPResponse
        do {
            response = try transport.execute(request, isCancelled: limits.isCancelled)
        } catch { throw SDKError(Self.status(error), "\(call.name): \(error)") }
        let status = call.status(http: response.status)
        guard status != .ok else { return response.body }
        let detail = Self.serverText(response.body).map { ": \($0)" } ?? ""
        throw SDKError(status, "\(call.name): HTTP \(response.status)\(detail)", httpStatus: response.status)
    }

    private static func status(_ failure: HTTPFailure) -> Status {
        switch failure {
        case .invalidURL, .insecureURL: .untrustedDomainError
        case .invalidRequest: .invalidArgument
        case .network: .networkError
        case .timedOut: .timedOut
        case .cancelled: .canceled
        case .answerTooLarge: .responseParseError
        }
    }

    /// The server's own words, one line and not long.
    private static func serverText(_ body: SecretBytes) -> String? {
        guard let error = try? JSON.decode(ErrorResponse.self, from: body.span), !error.message.isEmpty else {
            return nil
        }
        let scalars = error.message.unicodeScalars.prefix(maxServerText).map {
            $0.value < 32 || $0.value == 127 ? " " : $0
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
