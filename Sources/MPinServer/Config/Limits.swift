package import MPinService

/// All limits of the server.
package struct Limits: Sendable {
    /// The limits of registrations and logins, which are the same for all wire protocols.
    package var service = ServiceLimits()
    /// Largest request body in bytes. A larger one gets 413.
    package var bodyBytes = 64 * 1024
    /// Largest size of all header fields of a request in bytes. A larger one gets 400, and the connection is closed.
    package var headerBytes = 16 * 1024
    /// The largest number of header fields of a request.
    package var headerCount = 64
    /// Longest request target (path and query) in bytes. A longer one gets 414.
    package var targetBytes = 8 * 1024
    /// Seconds in which the header of a request must arrive. They count from its first byte; for the first request,
    /// from the start of the connection.
    package var headerSeconds = 5
    /// Seconds in which a whole request must arrive.
    package var readSeconds = 15
    /// Seconds in which a request must be answered after it has arrived.
    package var answerSeconds = 60
    /// Seconds that a connection may wait for its next request before it is closed.
    package var idleSeconds = 120
    /// Seconds that the client has to read the last answer before the connection is closed.
    package var lingerSeconds = 2
    /// Milliseconds for which a connection without a running request stays open when the server ends, because a request
    /// may just be arriving.
    package var quietMilliseconds = 100
    /// The largest number of open connections of one listener. Further ones are closed at once.
    package var connections = 10_000
    /// The largest number of open connections from one address, or from one /64 of IPv6, to one listener. Trusted
    /// proxies have no such limit.
    package var connectionsPerAddress = 1_000
    /// The largest number of login pages that wait for their phones at one listener; further ones get 503. A quarter of
    /// the connections is left: an eighth for phones that wait for their pages, and an eighth for clients that do not
    /// wait.
    package var waitingPages: Int { connections - connections / 4 }
    /// The largest number of login pages from one address that wait for their phones at one listener.
    package var waitingPagesPerAddress: Int { connectionsPerAddress - connectionsPerAddress / 4 }
    /// The largest number of phones that wait for their pages at one listener; further ones get 503.
    package var waitingPhones: Int { max(1, connections / 8) }
    /// The largest number of phones from one address that wait for their pages at one listener.
    package var waitingPhonesPerAddress: Int { max(1, connectionsPerAddress / 8) }
    /// The largest number of requests of one listener that are processed at the same time. Further ones get 503. Half
    /// of the places are kept for logins that have begun.
    package var requestsInFlight = 256
    /// The number of random bytes in the client settings, for clients without a generator of their own.
    package var seedBytes = 100
    /// Seconds that a browser stays logged in.
    package var webSessionSeconds = 3600
    /// Seconds in which the person at the browser must accept or decline a login by access number.
    package var proposalSeconds = 120
    /// Seconds for which a signed request to a D-TA is valid.
    package var signedSeconds = 60
    /// A D-TA refuses a signed request whose `expires` is more than this many seconds in the future.
    package var signedAheadSeconds = 300
    /// The largest number of days in one /timePermits request.
    package var permitDays = 14
    /// Seconds for one request to another part of the system.
    package var callSeconds = 10
    /// Seconds between two deletions of expired items.
    package var collectSeconds = 60
    /// One summary line of the audit log covers the time permits of this many seconds.
    package var permitAuditSeconds = 300
    /// Seconds that running requests have to end after SIGTERM.
    package var drainSeconds = 10

    package init() {}
}
