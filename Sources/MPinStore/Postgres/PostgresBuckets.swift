/// Buckets in a PostgreSQL database.
struct PostgresBuckets: BucketBook {
    private let store: PostgresStore

    init(_ url: PostgresURL, names: ServiceNames) async throws {
        store = try await PostgresStore(url, .shortLived, names: names, patience: .seconds(1))
    }

    var poolUse: PoolUse? { store.poolUse }

    func add(_ changes: [BucketChange]) async throws -> [Int64?] {
        let commands = changes.map { change in
            PostgresCommand(
                Self.count, .text(store.names.own(change.name)), .integer(change.interval),
                .integer(Int64(change.count)), .integer(change.most), .integer(change.known))
        }
        return try await store.exchange(commands, isChange: false).map { $0.rows.first?.first.flatMap(Self.number) }
    }

    func cleanUp() async throws { _ = try await store.exchange([PostgresCommand(Self.delete)], isChange: false) }

    private static func number(_ bytes: [UInt8]?) -> Int64? {
        bytes.map { Int64(truncatingIfNeeded: $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) }
    }

    /// The time of the database in microseconds.
    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

    /// Adds $3 requests to a bucket that regains one request in $2 microseconds, and returns the microseconds until it is
    /// full. It is never counted as full later than after $4 microseconds, and before that not earlier than after $5.
    private static let count = """
        INSERT INTO bucket AS there (key, full_again)
        VALUES ($1, \(now) + least($5::bigint + $2::bigint * $3, $4::bigint))
        ON CONFLICT (key) DO UPDATE SET full_again =
            least(greatest(there.full_again, \(now) + $5::bigint) + $2::bigint * $3, \(now) + $4::bigint)
        RETURNING full_again - \(now)
        """
    private static let delete = "DELETE FROM bucket WHERE full_again < \(now)"
}
