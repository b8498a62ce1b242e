import Dispatch
import Synchronization

/// Runs writes one after the other. Those that have come while others ran share a transaction, so that under load many
/// pay for one commit and one sync.
///
/// Whoever comes first runs the batch on its own thread, which costs no change of threads; a batch that takes its time,
/// for a sync or because another process writes, goes to a thread of its own.
///
/// A write that fails changes nothing: its only changing statement is its last, or it takes back what it has changed.
final class BatchWriter: Sendable {
    /// Runs the write, or fails it, and gives what tells its caller how it went, given whether the transaction held.
    private typealias Job = @Sendable (Result<SQLiteConnection, any Error>) -> Answer
    private typealias Answer = @Sendable ((any Error)?) -> Void

    private struct Waiting {
        var jobs: [Job] = []
        var isDurable = false
        /// Whether somebody runs batches, and will run what is added.
        var isServed = false
    }

    private let waiting = Mutex(Waiting())
    private let connection: Mutex<SQLiteConnection>
    private let syncing = DispatchQueue(label: "store")

    /// The only writer of that connection.
    init(path: String, erases: Bool = false) throws {
        connection = Mutex(try SQLiteConnection(path: path, erases: erases))
    }

    /// `durable`: with a sync to the disk.
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

    /// Returns when no thread of the writer's holds the connection any more: a durable write is answered a little earlier.
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

    /// Runs batches until nobody waits.
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

    /// False, with nothing done, where another process writes and this must not wait for it.
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
            // This fails where the transaction has ended already.
            try? connection.run("ROLLBACK")
            for job in batch.jobs.dropFirst(answers.count) { answers.append(job(.failure(error))) }
            for answer in answers { answer(error) }
        }
        return true
    }

    /// A disk that fails in a commit may have kept it.
    private static func commit(_ connection: SQLiteConnection) throws {
        do { try connection.run("COMMIT") } catch let failure as SQLiteConnection.Failure {
            throw failure.isOfDisk
                ? StoreError.unknownOutcome(failure.description) : .unavailable(failure.description)
        }
    }
}

/// What SQLite does not do now is unavailable to the callers of a store.
func unavailable<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let failure as SQLiteConnection.Failure {
        throw StoreError.unavailable(failure.description)
    }
}
