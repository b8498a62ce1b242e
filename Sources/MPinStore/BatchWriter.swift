import Dispatch
import Synchronization

/// Runs writes one after the other. Writes that come while others run share the next transaction, so that under load
/// many writes need only one commit and one sync.
///
/// The first caller runs the batch on its own thread, which avoids a change of threads. A batch that may have to wait,
/// for a sync or for another process, runs on a thread of its own.
///
/// A write that fails must not change anything: its only changing statement is its last, or it undoes its changes.
final class BatchWriter: Sendable {
    /// Runs the write, or takes the error of the transaction. Returns a closure that reports the result to the caller,
    /// once it is known whether the commit succeeded.
    private typealias Job = @Sendable (Result<SQLiteConnection, any Error>) -> Answer
    private typealias Answer = @Sendable ((any Error)?) -> Void

    private struct Waiting {
        var jobs: [Job] = []
        var isDurable = false
        /// Whether a caller is running batches. It will also run the jobs that are added.
        var isServed = false
    }

    private let waiting = Mutex(Waiting())
    private let connection: Mutex<SQLiteConnection>
    private let syncing = DispatchQueue(label: "store")

    /// The only writer of that connection.
    init(path: String, erases: Bool = false) throws {
        connection = Mutex(try SQLiteConnection(path: path, erases: erases))
    }

    /// Runs `body` in a transaction. `durable`: whether the commit is synced to the disk.
    func write<T: Sendable>(
        durable: Bool = false, _ body: @escaping @Sendable (SQLiteConnection) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            add(durable: durable) { connection in
                let result = Result { try unavailable { try body(connection.get()) } }
                return { error in continuation.resume(with: error.map(Result.failure) ?? result) }
            }
        }
    }

    /// Returns when no thread of the writer uses the connection any more. A durable write returns to its caller a
    /// little earlier than that.
    func drain() async { await withCheckedContinuation { rest in syncing.async { rest.resume() } } }

    private func add(durable: Bool, _ job: @escaping Job) {
        let isServed = waiting.withLock { waiting in
            defer { waiting.isServed = true }
            waiting.jobs.append(job)
            waiting.isDurable = waiting.isDurable || durable
            return waiting.isServed
        }
        if !isServed { serve() }
    }

    /// Runs batches until no job is left.
    private func serve() {
        while let batch = next() {
            let isDone = !batch.isDurable && connection.withLock { Self.run(batch, $0, waits: false) }
            guard isDone else {
                return syncing.async { [self] in
                    _ = connection.withLock { Self.run(batch, $0, waits: true) }
                    serve()
                }
            }
        }
    }

    private func next() -> Waiting? {
        waiting.withLock { waiting in
            let batch = waiting
            waiting = Waiting(isServed: !batch.jobs.isEmpty)
            return batch.jobs.isEmpty ? nil : batch
        }
    }

    /// Runs the jobs in one transaction and reports the results. False, with nothing done, if another process writes
    /// and `waits` is false.
    private static func run(_ batch: Waiting, _ connection: SQLiteConnection, waits: Bool) -> Bool {
        var answers: [Answer] = []
        do {
            let hasBegun = try unavailable {
                try connection.syncAtCommit(batch.isDurable)
                return try connection.beginWriting(waits: waits)
            }
            guard hasBegun else { return false }
            for job in batch.jobs where connection.isInTransaction { answers.append(job(.success(connection))) }
            try commit(connection)
            for answer in answers { answer(nil) }
        } catch {
            // This fails if the transaction has already ended.
            try? connection.run("ROLLBACK")
            for job in batch.jobs.dropFirst(answers.count) { answers.append(job(.failure(error))) }
            for answer in answers { answer(error) }
        }
        return true
    }

    /// After a disk error in the commit, nobody knows whether it was written.
    private static func commit(_ connection: SQLiteConnection) throws {
        do { try connection.run("COMMIT") } catch let failure as SQLiteConnection.Failure {
            throw failure.isDiskError
                ? StoreError.unknownOutcome(failure.description) : .unavailable(failure.description)
        }
    }
}

/// Turns an error of SQLite into ``StoreError/unavailable(_:)``.
func unavailable<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let failure as SQLiteConnection.Failure {
        throw StoreError.unavailable(failure.description)
    }
}
