import GRDB
import Synchronization

/// Runs writes one after the other. Those that have come while others ran share a transaction, so that under load many
/// pay for one commit and one sync.
///
/// A write that fails changes nothing: its only changing statement is its last.
final class BatchWriter: Sendable {
    /// Runs the write and gives what tells its caller how it went, given whether the transaction has held.
    private typealias Job = @Sendable (Result<Database, any Error>) -> @Sendable ((any Error)?) -> Void

    private struct Waiting {
        var jobs: [Job] = []
        var isDurable = false
    }

    private let pool: DatabasePool
    private let waiting = Mutex(Waiting())

    init(_ pool: DatabasePool) { self.pool = pool }

    /// `durable`: with a sync to the disk.
    func write<T: Sendable>(
        durable: Bool = false, _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let job: Job = { database in
                let result = Result { try body(database.get()) }
                return { error in continuation.resume(with: error.map(Result.failure) ?? result) }
            }
            let isFirst = waiting.withLock { waiting in
                waiting.jobs.append(job)
                waiting.isDurable = waiting.isDurable || durable
                return waiting.jobs.count == 1
            }
            if isFirst { pool.asyncWriteWithoutTransaction { [self] in runWaiting($0) } }
        }
    }

    private func runWaiting(_ db: Database) {
        let batch = waiting.withLock { waiting in
            let batch = waiting
            waiting = Waiting()
            return batch
        }
        var answers: [@Sendable ((any Error)?) -> Void] = []
        do {
            try db.execute(sql: batch.isDurable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
            try db.inTransaction(.immediate) {
                for job in batch.jobs { answers.append(job(.success(db))) }
                return .commit
            }
            for answer in answers { answer(nil) }
        } catch {
            for job in batch.jobs.dropFirst(answers.count) { answers.append(job(.failure(error))) }
            for answer in answers { answer(error) }
        }
    }
}
