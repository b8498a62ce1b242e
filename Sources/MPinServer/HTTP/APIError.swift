import HTTPTypes
import Hummingbird
import MPinWire

/// A refusal that the caller is told about: status and reason.
struct APIError: Error {
    let status: HTTPResponse.Status
    let message: String
    /// Seconds after which another try makes sense.
    let retryAfter: Int?
    /// Of a wrong PIN, where the operator lets it be told.
    let attemptsLeft: Int?

    init(
        _ status: HTTPResponse.Status, _ message: String, retryAfter: Int? = nil, attemptsLeft: Int? = nil
    ) {
        self.status = status
        self.message = message
        self.retryAfter = retryAfter
        self.attemptsLeft = attemptsLeft
    }

    /// The one shape of every error answer.
    var response: Response {
        let name = status == .notFound ? "M-Pin authentication server" : nil
        var response = Response.json(
            ErrorResponse(message: message, service_name: name, attemptsLeft: attemptsLeft), status: status)
        // Old servers send it with every 401 (wire section 2).
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
    /// Nothing was acknowledged. A login that was being judged may count as a wrong PIN: the safe side.
    static let storeFailed = APIError(.serviceUnavailable, "The state cannot be read or written", retryAfter: 5)
    static let overloaded = APIError(.serviceUnavailable, "Overloaded", retryAfter: 1)
    /// Of those that wait for a person, and of nobody else.
    static let tooManyWait = APIError(.serviceUnavailable, "Too many wait already", retryAfter: 5)
    static let ending = APIError(.serviceUnavailable, "The server is about to end", retryAfter: 1)
}
