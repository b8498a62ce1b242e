package import MPinService

/// Every limit of the server in one place.
package struct Limits: Sendable {
    /// Of registrations and logins, whatever wire they come over.
    package var service = ServiceLimits()
    /// Largest request body in bytes; more gets 413.
    package var bodyBytes = 64 * 1024
    /// Largest sum of all header fields of a request in bytes; more gets 400 and the connection is closed.
    package var headerBytes = 16 * 1024
    /// Most header fields of a request.
    package var headerCount = 64
    /// Longest request target (path and query) in bytes; more gets 414.
    package var targetBytes = 8 * 1024
    /// Seconds that a client has for the header of a request, from its first byte on, or from the connection's start.
    package var headerSeconds = 5
    /// Seconds that a client has for a whole request.
    package var readSeconds = 15
    /// Seconds from the end of a request to the end of its answer.
    package var answerSeconds = 60
    /// Seconds after which a connection is closed that waits for its next request.
    package var idleSeconds = 120
    /// Seconds that the other side gets to read a last answer.
    package var lingerSeconds = 2
    /// Milliseconds that a connection without a request may still bring one when the server ends.
    package var quietMilliseconds = 100
    /// Open connections of one listener; more are closed at once.
    package var connections = 10_000
    /// Open connections of one address, or of one /64 of IPv6, to one listener. Trusted proxies are free.
    package var connectionsPerAddress = 1_000
    /// Pages that wait for a phone at one listener, in all and of one address; more get 503. An eighth of the connections
    /// is for phones that wait for their pages, and an eighth for all who do not wait.
    package var waitingPages: Int { connections - connections / 4 }
    package var waitingPagesPerAddress: Int { connectionsPerAddress - connectionsPerAddress / 4 }
    package var waitingPhones: Int { max(1, connections / 8) }
    package var waitingPhonesPerAddress: Int { max(1, connectionsPerAddress / 8) }
    /// Requests of one listener that are worked on at the same time; more get 503. Half are for logins that have
    /// begun.
    package var requestsInFlight = 256
    /// Random bytes that clients without a generator of their own get.
    package var seedBytes = 100
    /// Seconds that a browser stays logged in.
    package var webSessionSeconds = 3600
    /// Seconds in which a person says whether a login by access number is theirs.
    package var proposalSeconds = 120
    /// Seconds that a signed request to a D-TA is good for.
    package var signedSeconds = 60
    /// The furthest that a D-TA lets `expires` lie ahead, in seconds.
    package var signedAheadSeconds = 300
    /// Most days of one /timePermits request.
    package var permitDays = 14
    /// Seconds for one call to another part of the system.
    package var callSeconds = 10
    /// Seconds between two collections of expired items.
    package var collectSeconds = 60
    /// Seconds of time permits that one line of the audit log sums up.
    package var permitAuditSeconds = 300
    /// Seconds that running requests get to end after SIGTERM.
    package var drainSeconds = 10

    package init() {}
}
