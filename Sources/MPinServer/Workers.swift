import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Threads for work that would hold up an event loop.
enum Workers {
    /// Arithmetic on the curve: as many threads as processors.
    private static let computing = started(NIOThreadPool(numberOfThreads: System.coreCount))
    /// Blocking calls to other servers: they wait more than they work.
    private static let calling = started(NIOThreadPool(numberOfThreads: 16))

    /// Most registrations that wait for their mails; more get 503. A slow mail server holds up them and nothing else.
    static let registrations = 32
    private static let registering = started(NIOThreadPool(numberOfThreads: registrations))
    private static let registrationsRunning = NIOLockedValueBox(0)
    /// Mails: they are sent while another part of the same process waits for that, and must not wait for it.
    private static let mailing = started(NIOThreadPool(numberOfThreads: registrations))

    /// Most calls that wait for what people do.
    static let waits = 128
    private static let waiting = started(NIOThreadPool(numberOfThreads: waits))

    private static func started(_ pool: NIOThreadPool) -> NIOThreadPool {
        pool.start()
        return pool
    }

    static func compute<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await computing.runIfActive(work)
    }

    static func call<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await calling.runIfActive(work)
    }

    static func register<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        let isAdmitted = registrationsRunning.withLockedValue { running in
            guard running < registrations else { return false }
            running += 1
            return true
        }
        guard isAdmitted else { throw APIError.overloaded }
        defer { registrationsRunning.withLockedValue { $0 -= 1 } }
        return try await registering.runIfActive(work)
    }

    static func wait<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await waiting.runIfActive(work)
    }

    static func mail<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await mailing.runIfActive(work)
    }
}
