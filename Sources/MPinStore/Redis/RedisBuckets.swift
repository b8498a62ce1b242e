/// Buckets in a Redis server. It deletes those that are full again.
struct RedisBuckets: BucketBook {
    private let client: RedisClient

    let poolUse: PoolUse? = nil

    init(_ url: RedisURL, names: ServiceNames) { client = RedisClient(url, names: names) }

    func add(_ changes: [BucketChange]) async throws -> [Int64?] {
        let keys = changes.map { RedisCommands.Word.name("bucket/" + $0.name) }
        let arguments = changes.flatMap { change -> [RedisCommands.Word] in
            [.number(change.interval), .number(Int64(change.count)), .number(change.most), .number(change.known)]
        }
        let reply = try await client.single(by: .now + .seconds(1), isChange: false, tries: 2) { session in
            [.text("EVALSHA"), .bytes(session.scripts[.count] ?? []), .number(Int64(keys.count))] + keys + arguments
        }
        return reply.array.map { if case .integer(let left) = $0 { left } else { nil } }
    }

    func cleanUp() async throws {}
}
