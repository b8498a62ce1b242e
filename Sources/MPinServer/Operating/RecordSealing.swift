import MPinSecrets
import MPinService
import MPinStore

/// Gives all records of a database MACs (``RecordMAC``).
package struct RecordSealing: Sendable {
    /// What was done.
    package struct Outcome: Sendable, Encodable {
        /// How many records have got a new MAC.
        package var records = 0
        /// How many of them had a wrong one.
        package var wrong = 0

        package init() {}
    }

    private let database: ServiceDatabase
    private let keyFile: String

    /// How many records one change of the store takes, so that a login waits for one such change at most.
    private static let pageSize = 100

    package init(_ database: ServiceDatabase) throws {
        self.database = database
        guard let keyFile = database.keyFile else {
            throw StartError(
                "give --service-key-file, --config or --state-dir: the key of the MACs is derived from the RPS's key")
        }
        self.keyFile = keyFile
    }

    /// Lets all servers write MACs, waits until they do, and then gives MACs to the records that have none. Afterwards a
    /// record without a MAC is refused. Servers may run, but none of the version before. Nil if it was done before. If the
    /// command is interrupted, it is repeated.
    package func seal() async throws -> Outcome? {
        // Where no server runs, nobody has to learn of it.
        if let store = try? await alone() { return try await seal(store, waits: false) }
        return try await seal(database.unbound(), waits: true)
    }

    private func seal(_ store: any Store, waits: Bool) async throws -> Outcome? {
        guard try await ServiceBinding.state(of: store, at: now(store)) != .complete else {
            try SealedMark(keyFile: keyFile).make()
            return nil
        }
        let mac: RecordMAC
        do { mac = try await self.mac(of: store) } catch is ServiceID.ForeignKey { throw ServiceBinding.foreignKey }
        let begin = try await ServiceID.seal(in: store, at: now(store)).adding(seconds: 2 * ServiceID.watchSeconds + 1)
        while waits, try await now(store) < begin { try await Task.sleep(for: .milliseconds(200)) }
        return try await complete(store, mac)
    }

    /// Gives MACs to the records of a database that nobody uses, if the records of the server's have them.
    func follow(_ store: any Store) async throws {
        guard SealedMark(keyFile: keyFile).isThere else { return }
        guard try await ServiceBinding.state(of: store, at: now(store)) != .complete else { return }
        _ = try await complete(store, mac(of: store))
    }

    private func complete(_ store: any Store, _ mac: RecordMAC) async throws -> Outcome {
        let outcome = try await rewrite(store) { item, place in
            if (try? mac.opened(item, at: place, takesPlain: false)) != nil { return nil }
            return (mac.bound(try mac.opened(item, at: place, takesPlain: true), at: place), false)
        }
        try await finish(store)
        return outcome
    }

    /// The time by the clock that the servers go by.
    private func now(_ store: any Store) async throws -> Moment { try await store.time() ?? .now() }

    /// Gives new MACs to all records, whatever they had: after the key was lost or changed, or when the operator has found out
    /// what somebody else has changed. No server may run.
    package func reseal() async throws -> Outcome {
        let store = try await alone()
        do { _ = try await self.mac(of: store) } catch is ServiceID.ForeignKey {
            _ = try await ServiceID.renew(in: store, key: try loadKey(keyFile), at: .now())
        }
        let mac = try await self.mac(of: store)
        let outcome = try await rewrite(store) { item, place in
            if (try? mac.opened(item, at: place, takesPlain: false)) != nil { return nil }
            let plain = RecordMAC.stripped(item)
            return (mac.bound(plain, at: place), plain != item)
        }
        try await finish(store)
        return outcome
    }

    /// Gives the service another id, and its records the MACs of that. No server may run. A record whose MAC is wrong is
    /// refused, unless the key is another one, too.
    func renewID() async throws -> ServiceID {
        let store = try await alone()
        let old = try? await mac(of: store)
        let id = try await ServiceID.renew(in: store, key: loadKey(keyFile), at: .now())
        guard try await ServiceBinding.state(of: store, at: .now()) == .complete else { return id }
        let new = try await mac(of: store)
        _ = try await rewrite(store) { item, place in
            let plain = try old?.opened(item, at: place, takesPlain: false) ?? RecordMAC.stripped(item)
            return (new.bound(plain, at: place), false)
        }
        try await finish(store)
        return id
    }

    private func mac(of store: any Store) async throws -> RecordMAC {
        let key = try loadKey(keyFile)
        let id = try await ServiceID.find(in: store, key: key, at: .now())
        return RecordMAC(secret: key, service: id.text, owner: Identities.owner)
    }

    private func alone() async throws -> any Store {
        do {
            let place = try StoreURL(database.url)
            if case .sqlite(let path) = place { try database.requireService(path) }
            let store = try await place.whole()
            try await store.requireAlone()
            return store
        } catch let error as StoreError { throw StartError("\(StoreURL.shown(database.url)): \(error)") }
    }

    private func finish(_ store: any Store) async throws {
        try await ServiceID.seal(in: store, at: .now())
        try await ServiceBinding.finish(store, at: .now())
        try SealedMark(keyFile: keyFile).make()
        if let file = store as? SQLiteStore { await file.drain() }
    }

    /// Replaces each record for which `change` returns another one.
    private func rewrite(
        _ store: any Store,
        _ change: @escaping @Sendable (StoredItem, ItemKey) throws -> (item: StoredItem, wasWrong: Bool)?
    ) async throws -> Outcome {
        guard let whole = store as? any WholeStore else { return Outcome() }
        var (outcome, last) = (Outcome(), ItemKey?.none)
        while true {
            let keys = try await whole.items(after: last, limit: Self.pageSize, at: .now()).map(\.key)
            guard let end = keys.last else { return outcome }
            let bound = keys.filter { !BoundStore.free.contains($0.table) }
            last = end
            guard !bound.isEmpty else { continue }
            let page = try await whole.transaction(bound, at: .now(), .durable) { items in
                var page = Outcome()
                for key in bound {
                    guard let item = items[key], let changed = try change(item, key) else { continue }
                    items[key] = changed.item
                    page.records += 1
                    page.wrong += changed.wasWrong ? 1 : 0
                }
                return page
            }
            outcome.records += page.records
            outcome.wrong += page.wrong
        }
    }
}
