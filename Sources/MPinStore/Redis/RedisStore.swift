/// A store of short-lived items in a Redis server, which any number of processes share.
///
/// A change that has a ``BlindForm`` is one trip to the server, where a script makes it. Other transactions are two: one
/// reads the items, one writes them if they are still the same. If not, the transaction starts again.
///
/// Everything is gone when the server starts again, or when another one takes its place, even if it has kept the items
/// (``RedisClient``).
package final class RedisStore: Store {
    private let clients: RedisClients
    private let locks = KeyLocks()
    /// How long one call may take, waiting for a connection included.
    private let patience: Duration

    package let isNear = false
    package let expiresByItself = true

    /// How often the store has waited for an answer of the server.
    package var trips: Int { clients.trips.value }

    /// How often a transaction starts again because others changed the same items, and a call after a lost connection.
    private static let tries = 8
    /// How many keys the server is asked for at once.
    private static let pageSize = 500

    /// Connects to the server. Throws ``StoreError/unavailable(_:)`` if it cannot be used.
    package init(
        _ url: RedisURL, names: ServiceNames = ServiceNames(), patience: Duration = .seconds(5)
    ) async throws {
        clients = RedisClients(url, names: names)
        self.patience = patience
        _ = try await clients.ofCaller.session(by: .now + patience)
    }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        let reply = try await StorePatience.call(atMost: patience) { deadline in
            try await single(by: deadline) { _ in [.text("GET"), .item(key)] }
        }
        return reply.bytes.flatMap(RedisItem.init)?.live(at: now)
    }

    package func take(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        let reply = try await StorePatience.call(atMost: patience) { deadline in
            try await single(by: deadline, isChange: true) { _ in [.text("GETDEL"), .item(key)] }
        }
        return reply.bytes.flatMap(RedisItem.init)?.live(at: now)
    }

    package func time() async throws -> Moment? {
        let parts = try await single(by: .now + patience) { _ in [.text("TIME")] }.array.compactMap { Int64($0.text) }
        guard parts.count == 2 else { throw StoreError.unavailable("Redis: no time") }
        return Moment(microseconds: parts[0] &* 1_000_000 &+ parts[1])
    }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        let keys = ItemKey.inOrder(keys)
        return try await StorePatience.call(atMost: patience) { deadline in
            try await locks.withLocks(keys) { try await make(change, keys, at: now, by: deadline) }
        }
    }

    private func make<Result: Sendable>(
        _ change: (inout Items) throws -> Result, _ keys: [ItemKey], at now: Moment,
        by deadline: ContinuousClock.Instant
    ) async throws -> Result {
        for number in 0..<Self.tries {
            let old = try await items(keys, by: deadline)
            var items = Items(zip(keys, old).map { ($0, $1?.live(at: now)) })
            let result = try change(&items)
            if try await replace(keys, old, try items.changed(), at: now, by: deadline) { return result }
            // Others are at it, too. Whoever waits a little longer than they do succeeds.
            try await Task.sleep(for: .microseconds(Int.random(in: 0...1000 << number)))
        }
        throw StoreError.conflict
    }

    package func perform<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome {
        if let form = try change.blindForm() {
            let results = try await write(form.writes, at: now)
            if let outcome = try form.outcome(results) { return outcome }
        }
        return try await transaction(change.keys, at: now, durability) { try change.run(&$0) }
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        var names: Set<String> = []
        try await scan(table + "/*") { found in
            for name in found where key.map({ ItemKey.precedes($0, name) }) ?? true { names.insert(name) }
            return true
        }
        let keys = names.sorted(by: ItemKey.precedes).map { ItemKey(table, $0) }
        var listed: [(key: String, item: StoredItem)] = []
        for start in stride(from: 0, to: keys.count, by: Self.pageSize) where listed.count < limit {
            let page = Array(keys[start..<min(start + Self.pageSize, keys.count)])
            for (key, item) in zip(page, try await items(page, by: .now + patience)) {
                if let item = item?.live(at: now), listed.count < limit { listed.append((key.key, item)) }
            }
        }
        return listed
    }

    /// Looks at all items, which takes long. The server deletes them by itself (``expiresByItself``).
    package func collect(at now: Moment, limit: Int) async throws -> Int {
        var count = 0
        try await scan("*") { [self] found in
            guard !found.isEmpty else { return true }
            let reply = try await run(.collect, by: .now + patience, isChange: false) {
                (found.map(RedisCommands.Word.name), [.number(now.microseconds), .number(Int64(limit - count))])
            }
            guard case .integer(let deleted) = reply, 0...Int64(limit - count) ~= deleted else {
                throw StoreError.unavailable("Redis: no number of items")
            }
            count += Int(deleted)
            return count < limit
        }
        return count
    }
}

extension RedisStore {
    private func items(_ keys: [ItemKey], by deadline: ContinuousClock.Instant) async throws -> [RedisItem?] {
        guard !keys.isEmpty else { return [] }
        let replies = try await single(by: deadline) { _ in [.text("MGET")] + keys.map(RedisCommands.Word.item) }.array
        guard replies.count == keys.count else { throw StoreError.unavailable("Redis: no items") }
        return replies.map { $0.bytes.flatMap(RedisItem.init) }
    }

    /// Stores the new items if the old ones are still there. False if they are not. Then nothing is changed.
    private func replace(
        _ keys: [ItemKey], _ old: [RedisItem?], _ new: [StoredItem?], at now: Moment,
        by deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        let changes = zip(old, new).map { old, new -> [RedisCommands.Word] in
            let item = new.map(RedisItem.init)
            let isSame = old?.live(at: now) == new
            return [
                .bytes(old?.bytes ?? []), .bytes(item?.bytes ?? []),
                isSame ? .text("-") : .number(RedisItem.milliseconds(new?.expires, from: now)),
            ]
        }
        guard zip(old, new).contains(where: { $0?.live(at: now) != $1 }) else { return true }
        let reply = try await run(.change, by: deadline, isChange: true) {
            (keys.map(RedisCommands.Word.item), changes.flatMap(\.self))
        }
        if case .integer(1) = reply { return true }
        return false
    }

    private func write(_ writes: [BlindWrite], at now: Moment) async throws -> [BlindWrite.Result?] {
        let reply = try await StorePatience.call(atMost: patience) { deadline in
            try await run(.write, by: deadline, isChange: true) {
                (
                    writes.flatMap(\.keys).map(RedisCommands.Word.item),
                    [.number(now.microseconds)] + writes.flatMap { $0.words(at: now) }
                )
            }
        }
        var replies = reply.array[...]
        return writes.map { write in
            let (place, item) = (replies.popFirst(), replies.popFirst()?.bytes.flatMap(RedisItem.init))
            guard case .integer(let number)? = place, number > 0, let item,
                let key = write.keys.dropFirst(Int(number) - 1).first
            else { return nil }
            return BlindWrite.Result(key, item.item)
        }
    }

    /// Hands on all names of this run of the server that match, a part at a time, until `take` returns false. A name may come
    /// twice.
    private func scan(_ pattern: String, _ take: ([String]) async throws -> Bool) async throws {
        var cursor = "0"
        repeat {
            var prefix = 0
            let reply = try await single(by: .now + patience) { session in
                prefix = session.prefix.count
                return [
                    .text("SCAN"), .text(cursor), .text("MATCH"), .name(pattern), .text("COUNT"),
                    .text("\(Self.pageSize)"),
                ]
            }.array
            guard reply.count == 2 else { throw StoreError.unavailable("Redis: no names") }
            cursor = reply[0].text
            let table = pattern.dropLast().utf8.count
            let names = reply[1].array.compactMap(\.bytes).map {
                String(decoding: $0.dropFirst(prefix + table), as: UTF8.self)
            }
            guard try await take(names) else { return }
        } while cursor != "0"
    }

    private func run(
        _ script: RedisScript, by deadline: ContinuousClock.Instant, isChange: Bool,
        _ words: () -> (keys: [RedisCommands.Word], arguments: [RedisCommands.Word])
    ) async throws -> RedisReply {
        let (keys, arguments) = words()
        return try await single(by: deadline, isChange: isChange) { session in
            [.text("EVALSHA"), .bytes(session.scripts[script] ?? []), .number(Int64(keys.count))] + keys + arguments
        }
    }

    private func single(
        by deadline: ContinuousClock.Instant, isChange: Bool = false,
        _ words: (RedisSession) -> [RedisCommands.Word]
    ) async throws -> RedisReply {
        try await clients.ofCaller.single(by: deadline, isChange: isChange, tries: Self.tries, words)
    }
}
