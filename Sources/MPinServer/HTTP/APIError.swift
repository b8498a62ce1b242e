import HTTPTypes
import Hummingbird
import MPinWire

/// An error answer, with a status and a reason for the caller.
struct APIError: Error {
    let status: HTTPResponse.Status
    let message: String
    /// Seconds after which the caller should try again.
    let retryAfter: Int?
    /// The number of attempts left after a wrong PIN, if the operator allows that it is told.
    let attemptsLeft: Int?

    init(
        _ status: HTTPResponse.Status, _ message: String, retryAfter: Int? = nil, attemptsLeft: Int? = nil
    ) {
        self.status = status
        self.message = message
        self.retryAfter = retryAfter
        self.attemptsLeft = attemptsLeft
    }

    /// The answer. All errors have this form.
    var response: Response {
        let name = status == .notFound ? "M-Pin authentication server" : nil
        var response = Response.json(
            ErrorResponse(message: message, service_name: name, attemptsLeft: attemptsLeft), status: status)
        // Old servers send this header with every 401 (wire section 2).
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Authenticate" }
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }

    static let notFound = APIError(.notFound, "URI NOT FOUND")
    static let methodNotAllowed = APIError(.methodNotAllowed, "METHOD NOT ALLOWED")
    static let bodyTooLarge = APIError(.contentTooLarge, "Body too large")
    static let targetTooLong = APIError(.uriTooLong, "Request target too long")
    static let invalidID = APIError(.badRequest, "Invalid M-Pin ID")
    static let internalError = APIError(.internalServerError, "INTERNAL SERVER ERROR")
    static let gone = APIError(.badRequest, "The request ended before its time")
    /// The store failed before the request was confirmed. A login that was in progress may count as a wrong PIN, which
    /// is the safe side.
    static let storeFailed = APIError(.serviceUnavailable, "The state cannot be read or written", retryAfter: 5)
    static let overloaded = APIError(.serviceUnavailable, "Overloaded", retryAfter: 1)
    /// For requests that wait for a person. Other requests do not get it.
    static let tooManyWait = APIError(.serviceUnavailable, "Too many wait already", retryAfter: 5)
    static let ending = APIError(.serviceUnavailable, "The server is about to end", retryAfter: 1)
}
