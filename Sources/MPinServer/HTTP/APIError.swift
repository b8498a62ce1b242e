import HTTPTypes
import Hummingbird
import MPinStore
import MPinWire

/// An error answer, with a status and a reason for the caller.
struct APIError: Error {
    let status: HTTPResponse.Status
    let message: String
    /// Seconds after which the caller should try again.
    let retryAfter: Int?
    /// The number of attempts left after a wrong PIN; nil if the operator does not want it to be told.
    let attemptsLeft: Int?
    /// The member of the request's body that is missing or has the wrong type; nil if the error is another one.
    let member: String?

    init(
        _ status: HTTPResponse.Status, _ message: String, retryAfter: Int? = nil, attemptsLeft: Int? = nil,
        member: String? = nil
    ) {
        self.status = status
        self.message = message
        self.retryAfter = retryAfter
        self.attemptsLeft = attemptsLeft
        self.member = member
    }

    /// The answer to the caller, in JSON. All errors have this form.
    var response: Response {
        let name = status == .notFound ? "M-Pin authentication server" : nil
        var response = Response.json(
            ErrorResponse(message: message, service_name: name, attemptsLeft: attemptsLeft), status: status)
        // Milagro's servers send this header with every 401 (wire section 2).
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
    /// The store failed during the request. A login that was in progress may have been counted as a wrong PIN, so that
    /// nobody gains a guess by such a failure.
    static let storeFailed = APIError(.serviceUnavailable, "The state cannot be read or written", retryAfter: 5)
    /// The machine's clock has gone back to a time before this program was written, for which there are no dates of time
    /// permits.
    static let clockIsWrong = APIError(.serviceUnavailable, "The clock of the server is wrong", retryAfter: 60)
    /// Refuses a caller that has as much under way as its share allows.
    static let tooManyBegun = APIError(
        .tooManyRequests, "Too many logins and registrations are under way", retryAfter: 60)
    /// Refuses what would begin something new, because too much is under way. What has begun goes on.
    static let noRoom = APIError(.serviceUnavailable, "Too much is under way", retryAfter: 5)
    static let overloaded = APIError(.serviceUnavailable, "Overloaded", retryAfter: 1)
    /// Refuses a request that would wait for a person, because too many wait. Other requests never get this answer.
    static let tooManyWait = APIError(.serviceUnavailable, "Too many wait already", retryAfter: 5)
    static let ending = APIError(.serviceUnavailable, "The server is about to end", retryAfter: 1)
}

extension NoRoom {
    var spelled: APIError { self == .ofTable ? .noRoom : .tooManyBegun }
}
