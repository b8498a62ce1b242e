/// Why an operation failed. Two errors are equal if their statuses are equal.
package struct SDKError: Error, Equatable, CustomStringConvertible {
    package let status: Status
    /// A description for a person. Never contains a PIN, a token, a share, or the query of a URL.
    package let text: String
    /// The HTTP status; nil if no server has answered.
    package let httpStatus: Int?
    /// The details of the server's error answer.
    package let server: ServerReport
    /// Whether a retry would fail in the same way, so that the request is not repeated.
    package let isFinal: Bool
    /// Whether the PIN was wrong and the server accepts no other: the identity is blocked.
    let isLastAttempt: Bool

    /// The details of an error answer, without its HTTP status.
    package struct ServerReport: Sendable, Equatable {
        /// How many seconds to wait before a retry; nil if the server does not say.
        package var retryAfter: Int64?
        /// The server's name of the error; may be empty.
        package var code = ""
        /// The server's description of the error, one line; may be empty.
        package var text = ""
        /// The server's identifier of the request; may be empty.
        package var requestID = ""
        /// After a wrong PIN: how many more wrong PINs are possible before the identity is blocked; nil if the server
        /// does not say.
        package var attemptsLeft: Int32?
        /// When the request may be repeated, or when a temporary block ends, in seconds since 1970 (MIRACL Trust); nil
        /// if the server does not say.
        package var retryAt: Int64?
        /// The project and the browser's session of a verification that failed (MIRACL Trust); may be empty.
        package var projectID = ""
        package var accessID = ""

        package init() {}
    }

    package init(
        _ status: Status, _ text: String, httpStatus: Int? = nil, server: ServerReport = ServerReport(),
        isFinal: Bool = false, isLastAttempt: Bool = false
    ) {
        self.status = status
        self.text = text
        self.httpStatus = httpStatus
        self.server = server
        self.isFinal = isFinal
        self.isLastAttempt = isLastAttempt
    }

    /// The same error with another status, or with more text.
    func with(_ status: Status? = nil, adding more: String? = nil) -> SDKError {
        let words = more.map { "\(text); \($0)" } ?? text
        return SDKError(
            status ?? self.status, words, httpStatus: httpStatus, server: server, isFinal: isFinal,
            isLastAttempt: isLastAttempt && status == nil)
    }

    /// The error in one line: the name of the status, then the text.
    package var description: String { "\(status.name): \(text)" }

    package static func == (left: SDKError, right: SDKError) -> Bool { left.status == right.status }
}
