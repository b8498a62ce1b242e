import Glibc
package import MPinHTTP
package import MPinSecrets

/// What the program can replace in the client core: transport, storage and its key, clock, random generator, log.
package struct Environment: Sendable {
    package var makeTransport: @Sendable (HTTPPolicy) -> any HTTPTransport
    /// Where the users are stored; nil: the file that the configuration names.
    package var storage: (any Storage)?
    /// Where the store's key comes from; nil: the passphrase or the key file that the configuration names.
    package var keySource: (any KeySource)?
    package var random: RandomSource
    package var now: Clock
    /// Receives the log lines; nil: no log.
    package var log: Log?
    /// Returns whether the current call must end, as after ``SDK/cancel()``. The client core calls it in the thread of
    /// the call, before the call begins and while the call waits.
    package var isCancelled: @Sendable () -> Bool = { false }
    /// The maximum length of the pause before the first retry of a request.
    package var retryMilliseconds = Retries.usualMilliseconds

    /// The defaults: libcurl, files, the system's random generator and clock, no log.
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

/// Returns the time in milliseconds since 1970-01-01 UTC. A clock that fails throws ``Status/flowError``.
package typealias Clock = @Sendable () throws(SDKError) -> Int64

/// The system's wall clock.
package let systemClock: Clock = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000
}

/// The importance of a log line. The numbers are those of the C header.
package enum LogLevel: Int32, Sendable {
    case debug = 1
    case info = 2
    case warning = 3
    case error = 4
}

/// Receives one log line, which contains no secret.
package typealias Log = @Sendable (LogLevel, String) -> Void

/// Provides the key of 32 bytes that seals the store.
package protocol KeySource: Sendable {
    /// Returns the key. A new key may be made and kept only if `isNew` is true, because a new key cannot open an old
    /// store.
    func key(forNewStore isNew: Bool, random: RandomSource) throws(SDKError) -> SecretBytes
}
