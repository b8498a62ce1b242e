import Dispatch
import Synchronization

/// Runs writes one after the other. Writes that arrive while a transaction runs share the next one, so that under load
/// many writes need only one commit and one sync.
///
/// Runs a batch on the thread of its first caller, which avoids a change of threads. A batch that may have to wait, for
/// a sync or for another process, runs on a thread of the writer instead.
///
/// A write that fails must not change anything: either its only statement that changes data is its last, or it undoes
/// its changes.
final class BatchWriter: Sendable {
    /// Runs one write, or takes the error of a transaction that has failed. Returns a closure that passes the result to
    /// the caller of ``write(durable:_:)`` as soon as it is known whether the commit succeeded.
    private typealias Job = @Sendable (Result<SQLiteConnection, any Error>) -> Answer
    private typealias Answer = @Sendable ((any Error)?) -> Void

    private struct Waiting {
        var jobs: [Job] = []
        var isDurable = false
        /// Whether a thread is running batches. It also runs the jobs that are added meanwhile.
        var isServed = false
    }

    private let waiting = Mutex(Waiting())
    private let connection: Mutex<SQLiteConnection>
    private let syncing = DispatchQueue(label: "store")

    /// Opens the file at `path`, which must exist. If `erases`, deleted data is overwritten.
    init(path: String, erases: Bool = false) throws {
        connection = Mutex(try SQLiteConnection(path: path, erases: erases))
    }

    /// Runs `body` in a transaction and returns its result after the commit. If `durable`, the commit is synced to the
    /// disk.
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

    /// Runs `body`, which reads only, and returns its result; nil, without a call, if a transaction is running. A read
    /// with another connection takes longer after each write, because that connection must read the pages again.
    func readIfIdle<T: Sendable>(_ body: (SQLiteConnection) throws -> T) throws -> T? {
        try connection.withLockIfAvailable { try body($0) }
    }

    /// Returns when no thread of the writer uses the connection any more. After a durable write this is needed: its
    /// caller gets the result a little before the thread has finished.
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

    /// Runs the jobs in one transaction and passes their results to the callers. False, with nothing done, if another
    /// process is writing and `waits` is false.
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
            // An error of ROLLBACK means that the transaction has already ended.
            try? connection.run("ROLLBACK")
            for job in batch.jobs.dropFirst(answers.count) { answers.append(job(.failure(error))) }
            for answer in answers { answer(error) }
        }
        return true
    }

    /// Commits. Throws ``StoreError/unknownOutcome(_:)`` after a disk error, because the changes may have reached the
    /// disk.
    private static func commit(_ connection: SQLiteConnection) throws {
        do { try connection.run("COMMIT") } catch let failure as SQLiteConnection.Failure {
            throw failure.isDiskError
                ? StoreError.unknownOutcome(failure.description) : .unavailable(failure.description)
        }
    }
}

/// Runs `body` and turns an error of SQLite into ``StoreError/unavailable(_:)``.
func unavailable<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let failure as SQLiteConnection.Failure {
        throw StoreError.unavailable(failure.description)
    }
}
