import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Threads for work that would block an event loop.
enum Workers {
    /// Threads for arithmetic on the curve, one for each processor.
    private static let computing = started(NIOThreadPool(numberOfThreads: System.coreCount))
    /// Threads for blocking calls to other servers. There may be more of them than processors, because they mostly
    /// wait.
    private static let calling = started(NIOThreadPool(numberOfThreads: 16))

    /// The largest number of registrations that wait for their mails at the same time; further ones get 503. They have
    /// threads of their own, so that a slow mail server delays only other registrations.
    static let registrations = 32
    private static let registering = started(NIOThreadPool(numberOfThreads: registrations))
    private static let registrationsRunning = TaskLimit(registrations)
    /// Threads for mails. They are separate, because a registration of the RPS waits, on a thread of another pool, for
    /// the mail that the RPA in the same process sends.
    private static let mailing = started(NIOThreadPool(numberOfThreads: registrations))

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
        try await registrationsRunning.run { try await registering.runIfActive(work) }
    }

    static func mail<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await mailing.runIfActive(work)
    }
}

/// Limits how many tasks run at the same time; further ones get 503.
final class TaskLimit: Sendable {
    private let most: Int
    private let taken = NIOLockedValueBox(0)

    init(_ most: Int) { self.most = most }

    func run<T: Sendable>(_ work: () async throws -> T) async throws -> T {
        let isAdmitted = taken.withLockedValue { taken in
            guard taken < most else { return false }
            taken += 1
            return true
        }
        guard isAdmitted else { throw APIError.overloaded }
        defer { taken.withLockedValue { $0 -= 1 } }
        return try await work()
    }
}
