/// Why an operation failed. Two are equal when their status is.
package struct SDKError: Error, Equatable, CustomStringConvertible {
    package let status: Status
    /// What went wrong where, for a person; never a PIN, a token, a share, or the query of a URL.
    package let text: String
    /// The HTTP status, where a server answered.
    package let httpStatus: Int?
    /// What else the server said.
    package let server: ServerReport
    /// Whether another try would end the same.
    package let isFinal: Bool

    /// What an error answer says beside its HTTP status.
    package struct ServerReport: Sendable, Equatable {
        /// Seconds to wait.
        package var retryAfter: Int64?
        /// The server's name of the error; may be empty.
        package var code = ""
        /// The server's own words, one line; may be empty.
        package var text = ""
        /// The server's name of the request; may be empty.
        package var requestID = ""
        /// Of a wrong PIN: how many more may be wrong before the block; nil where the server does not tell.
        package var attemptsLeft: Int32?

        package init() {}
    }

    package init(
        _ status: Status, _ text: String, httpStatus: Int? = nil, server: ServerReport = ServerReport(),
        isFinal: Bool = false
    ) {
        self.status = status
        self.text = text
        self.httpStatus = httpStatus
        self.server = server
        self.isFinal = isFinal
    }

    /// The same with another status, or with more to say.
    func with(_ status: Status? = nil, adding more: String? = nil) -> SDKError {
        let words = more.map { "\(text); \($0)" } ?? text
        return SDKError(status ?? self.status, words, httpStatus: httpStatus, server: server, isFinal: isFinal)
    }

    /// One line: name, text.
    package var description: String { "\(status.name): \(text)" }

    package static func == (left: SDKError, right: SDKError) -> Bool { left.status == right.status }
}
