package import MPinService

/// All limits of the server.
package struct Limits: Sendable {
    /// The limits of registrations and logins, which are the same for all wire protocols.
    package var service = ServiceLimits()
    /// Largest request body in bytes. A larger one gets 413.
    package var bodyBytes = 64 * 1024
    /// A larger body takes one of the places for large ones while it arrives.
    package var smallBodyBytes = 4096
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
    /// The largest number of open connections of one listener. For a further one, that one is closed which has waited
    /// longest for its client; if all are being answered, the new one is closed at once.
    package var connections = 10_000
    /// The same for those from one address, or from one /64 of IPv6. Trusted proxies have no such limit. A person who logs
    /// in uses up to three connections, so there is room for 300 people behind one address who log in at the same moment.
    package var connectionsPerAddress = 1_000
    /// The same for those from one network: a /24 of IPv4, or a /48 of IPv6.
    package var connectionsPerNetwork = 2_000
    /// The most bytes of what strangers have begun in each table of the stores (``StoreBudget``): login pages, sessions of
    /// phones, codes of devices, registrations. Further strangers get 503.
    package var memoryBudget = 64 << 20
    /// Of these, the most bytes in all tables together from one address, or from one /64 of IPv6. A login page takes about
    /// 3 KB, so some 700 can be open at the same time. Further ones get 429.
    package var memoryPerAddress = 2 << 20
    /// The same for one network: a /24 of IPv4, or a /48 of IPv6.
    package var memoryPerNetwork = 8 << 20
    /// How many large bodies, of which `bytes` bytes may be in memory, may arrive at the same time at one listener. Further
    /// ones get 503.
    func largeBodies(of bytes: Int) -> Int { max(1, bytes / max(1, bodyBytes)) }
    /// The largest number of login pages that wait for their phones at one listener; further ones get 503. A quarter of
    /// the connections is left: an eighth for phones that wait for their pages, and an eighth for clients that do not
    /// wait.
    package var waitingPages: Int { connections - connections / 4 }
    /// The largest number of login pages from one address that wait for their phones at one listener.
    package var waitingPagesPerAddress: Int { connectionsPerAddress - connectionsPerAddress / 4 }
    /// The largest number of login pages from one network that wait for their phones at one listener.
    package var waitingPagesPerNetwork: Int { connectionsPerNetwork - connectionsPerNetwork / 4 }
    /// The largest number of phones that wait for their pages at one listener; further ones get 503.
    package var waitingPhones: Int { max(1, connections / 8) }
    /// The largest number of phones from one address that wait for their pages at one listener.
    package var waitingPhonesPerAddress: Int { max(1, connectionsPerAddress / 8) }
    /// The largest number of phones from one network that wait for their pages at one listener.
    package var waitingPhonesPerNetwork: Int { max(1, connectionsPerNetwork / 8) }
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
