import NIOCore
import NIOPosix

/// Threads for work that would hold up an event loop.
enum Workers {
    /// Arithmetic on the curve: as many threads as processors.
    private static let computing = started(NIOThreadPool(numberOfThreads: System.coreCount))
    /// Blocking calls to other servers: they wait more than they work.
    private static let calling = started(NIOThreadPool(numberOfThreads: 16))
    /// Mails: they are sent while another part of the same process waits in a call, and must not wait for that call.
    private static let mailing = started(NIOThreadPool(numberOfThreads: 16))

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

    static func wait<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await waiting.runIfActive(work)
    }

    static func mail<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await mailing.runIfActive(work)
    }
}
