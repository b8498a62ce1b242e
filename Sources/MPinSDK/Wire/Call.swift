/// A kind of request: its name, whether it may be sent twice, and what a failed answer means (wire section 13). The values
/// stand beside the wire that sends them.
package struct Call: Sendable {
    /// The name in error texts.
    package let name: String
    /// Whether the request may be sent twice. A server may give the first shares only once, and most POSTs and PUTs change
    /// something at the server.
    package let isIdempotent: Bool
    /// The HTTP statuses of a success. On most wires only 200 is one (wire section 2).
    private let successes: Range<Int>
    /// What HTTP statuses mean that mean something else for other requests.
    private let meanings: KeyValuePairs<Int, Status>
    /// What any other HTTP status 4xx means.
    private let refusal: Status
    /// The HTTP status of a wrong PIN after which the server accepts no other; nil if the request has none.
    let lastAttempt: Int?
    /// What the server's error codes mean, which say more than the HTTP status.
    private let codes: [(String, Status)]

    package init(
        _ name: String, isIdempotent: Bool = false, successes: Range<Int> = 200..<201,
        meanings: KeyValuePairs<Int, Status> = [:], refusal: Status = .httpRequestError,
        lastAttempt: Int? = nil, codes: [(String, Status)] = []
    ) {
        self.name = name
        self.isIdempotent = isIdempotent
        self.successes = successes
        self.meanings = meanings
        self.refusal = refusal
        self.lastAttempt = lastAttempt
        self.codes = codes
    }

    /// What an HTTP status of the answer means.
    package func status(http: Int) -> Status {
        switch http {
        case successes: .ok
        case lastAttempt: .incorrectPIN
        case 406: .badUserAgent
        case 429: .tooManyRequests
        default: meanings.first { $0.key == http }?.value ?? general(http)
        }
    }

    private func general(_ http: Int) -> Status {
        switch http {
        case 201..<300: .responseParseError
        case 400..<500: refusal
        case 500..<600: .httpServerError
        default: .networkError
        }
    }

    /// What the server's error code means; nil for a code for which the HTTP status has to do.
    func status(code: String) -> Status? { codes.first { $0.0 == code }?.1 }
}
