import Glibc
package import MPinHTTP
package import MPinSecrets

/// What the client core gets from outside: transport, storage and its key, clock, randomness, log.
package struct Environment: Sendable {
    package var makeTransport: @Sendable (HTTPPolicy) -> any HTTPTransport
    /// Nil: the file that the configuration names.
    package var storage: (any Storage)?
    /// Nil: the key file that the configuration names.
    package var keySource: (any KeySource)?
    package var random: RandomSource
    package var now: Clock
    /// Nil: silence.
    package var log: Log?
    /// Whether the call that runs is to end, beside ``SDK/cancel()``: asked in its thread, before it begins and as it waits.
    package var isCancelled: @Sendable () -> Bool = { false }
    /// The first pause before a request is sent again lasts so long, at most.
    package var retryMilliseconds = Retries.usualMilliseconds

    /// The built-in ones: libcurl, files, the system's generator and clock, silence.
    package init(
        makeTransport: @escaping @Sendable (HTTPPolicy) -> any HTTPTransport = { CurlTransport(policy: $0) },
        storage: (any Storage)? = nil, keySource: (any KeySource)? = nil,
        random: @escaping RandomSource = systemRandom, now: @escaping Clock = systemClock, log: Log? = nil
    ) {
        self.makeTransport = makeTransport
        self.storage = storage
        self.keySource = keySource
        self.random = random
        self.now = now
        self.log = log
    }
}

/// The wall clock: milliseconds since 1970-01-01 UTC. A clock that fails is a ``Status/flowError``.
package typealias Clock = @Sendable () throws(SDKError) -> Int64

/// The system's wall clock.
package let systemClock: Clock = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000
}

/// How much a line of the log matters, with the numbers of the C header.
package enum LogLevel: Int32, Sendable {
    case debug = 1
    case info = 2
    case warning = 3
    case error = 4
}

/// Takes one line that holds no secret.
package typealias Log = @Sendable (LogLevel, String) -> Void

/// Where the 32 bytes come from that seal the store.
package protocol KeySource: Sendable {
    /// The key. One may be made, and kept, for a new store only: under a new key an old store cannot be read.
    func key(forNewStore isNew: Bool, random: RandomSource) throws(SDKError) -> SecretBytes
}
