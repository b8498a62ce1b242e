import MPinSecrets
import MPinService
import MPinStore

/// Gives all records of a database MACs (``RecordMAC``).
package struct RecordSealing: Sendable {
    /// What was done.
    package struct Outcome: Sendable, Encodable {
        /// The id of the service, 32 hex digits, which names in shared stores carry from now on.
        package let service: String
        /// How many records have got a new MAC.
        package fileprivate(set) var records = 0
        /// How many of them had a wrong one.
        package fileprivate(set) var wrong = 0
        /// Whether all records had MACs before.
        package fileprivate(set) var wasDone = false
    }

    private let database: ServiceDatabase
    private let keyFile: String

    /// How many records one change of the store takes, so that a login waits for one such change at most.
    private static let pageSize = 100

    private static let wrongMAC = "its MAC is wrong: find out who has changed it, then run `mpind migrate --reseal`"

    package init(_ database: ServiceDatabase) throws {
        self.database = database
        guard let keyFile = database.keyFile else {
            throw StartError(
                "give --service-key-file, --config or --state-dir: the key of the MACs is derived from the RPS's key")
        }
        self.keyFile = keyFile
    }

    /// Lets all servers write MACs and the id of the service into their names, waits until they do, and then gives MACs to the
    /// records that have none. Afterwards a record without a MAC is refused. Servers may run, but none of the version before.
    /// If the command is interrupted, it is repeated. Throws `StartError`.
    package func seal() async throws -> Outcome {
        // Where no server runs, nobody has to learn of it.
        if let store = try? await alone() { return try await seal(store, waits: false) }
        return try await seal(database.unbound(), waits: true)
    }

    private func seal(_ store: any Store, waits: Bool) async throws -> Outcome {
        let id = try await id(of: store)
        guard try await ServiceBinding.state(of: store, at: now(store)) != .complete else {
            note()
            return Outcome(service: id, wasDone: true)
        }
        let begin = try await ServiceID.seal(in: store, at: now(store))
        while waits, try await now(store) < begin { try await Task.sleep(for: .milliseconds(200)) }
        return try await complete(store, id)
    }

    /// Gives MACs to the records of a database that nobody uses, if the records of the server's have them.
    func follow(_ store: any Store) async throws {
        guard SealedMark(keyFile: keyFile).isThere else { return }
        guard try await ServiceBinding.state(of: store, at: now(store)) != .complete else { return }
        _ = try await complete(store, id(of: store))
    }

    private func complete(_ store: any Store, _ id: String) async throws -> Outcome {
        let mac = try mac(id)
        let outcome = try await rewrite(store, Outcome(service: id)) { item, place in
            if (try? mac.opened(item, at: place, takesPlain: false)) != nil { return nil }
            return (mac.bound(try Self.opened(item, place, mac, takesPlain: true), at: place), false)
        }
        try await finish(store)
        return outcome
    }

    /// The time by the clock that the servers go by.
    private func now(_ store: any Store) async throws -> Moment { try await store.time() ?? .now() }

    /// Gives new MACs to all records, whatever they had: after the key was lost or changed, or when the operator has found out
    /// what somebody else has changed. No server may run. Throws `StartError`.
    package func reseal() async throws -> Outcome {
        let store = try await alone()
        let id = try await ownID(of: store)
        let mac = try mac(id)
        let outcome = try await rewrite(store, Outcome(service: id)) { item, place in
            if (try? mac.opened(item, at: place, takesPlain: false)) != nil { return nil }
            let plain = RecordMAC.stripped(item)
            return (mac.bound(plain, at: place), plain != item)
        }
        try await finish(store)
        return outcome
    }

    /// The id of the service; another one if it is bound to another key, or was about to be renewed.
    private func ownID(of store: any Store) async throws -> String {
        let (key, now) = (try loadKey(keyFile), Moment.now())
        if try await !ServiceID.isRenewing(in: store, at: now) {
            do { return try await ServiceID.find(in: store, key: key, at: now).text } catch is ServiceID.ForeignKey {}
        }
        return try await ServiceID.renew(in: store, key: key, at: now).text
    }

    /// Gives the service another id, and its records the MACs of that. No server may run. If it is interrupted, it is repeated,
    /// and no server starts before. Throws `StartError`, also if a record has the MAC of another key, or a wrong one; then
    /// nothing has changed.
    func renewID() async throws -> ServiceID {
        let store = try await alone()
        let key = try loadKey(keyFile)
        guard try await ServiceBinding.state(of: store, at: .now()) != .none else {
            return try await ServiceID.renew(in: store, key: key, at: .now())
        }
        let (old, takesPlain) = (
            try await mac(id(of: store)), try await ServiceBinding.state(of: store, at: .now()) != .complete
        )
        if try await !ServiceID.isRenewing(in: store, at: .now()) {
            _ = try await rewrite(store, Outcome(service: "")) { item, place in
                _ = try Self.opened(item, place, old, takesPlain: takesPlain)
                return nil
            }
        }
        let new = try mac(try await ServiceID.beginRenewal(in: store, at: .now()))
        _ = try await rewrite(store, Outcome(service: "")) { item, place in
            if (try? new.opened(item, at: place, takesPlain: false)) != nil { return nil }
            return (new.bound(try Self.opened(item, place, old, takesPlain: takesPlain), at: place), false)
        }
        let id = try await ServiceID.renew(in: store, key: key, at: .now())
        if let file = store as? SQLiteStore { await file.drain() }
        return id
    }

    private func id(of store: any Store) async throws -> String {
        try await ServiceBinding.id(of: store, loadKey(keyFile), at: now(store))
    }

    private func mac(_ id: String) throws -> RecordMAC { ServiceBinding.mac(id, try loadKey(keyFile)) }

    private static func opened(
        _ item: StoredItem, _ place: ItemKey, _ mac: RecordMAC, takesPlain: Bool
    ) throws -> StoredItem {
        do { return try mac.opened(item, at: place, takesPlain: takesPlain) } catch is RecordMAC.Refused {
            throw StartError("\(place.shown): \(wrongMAC)")
        }
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
        note()
        if let file = store as? SQLiteStore { await file.drain() }
    }

    /// Notes beside the key what the servers note, too, and warn of if they cannot.
    private func note() { try? SealedMark(keyFile: keyFile).make() }

    /// Replaces each record for which `change` returns another one, and counts them.
    private func rewrite(
        _ store: any Store, _ start: Outcome,
        _ change: @escaping @Sendable (StoredItem, ItemKey) throws -> (item: StoredItem, wasWrong: Bool)?
    ) async throws -> Outcome {
        guard let whole = store as? any WholeStore else { return start }
        var (outcome, last) = (start, ItemKey?.none)
        while true {
            let keys = try await whole.items(after: last, limit: Self.pageSize, at: .now()).map(\.key)
            guard let end = keys.last else { return outcome }
            let bound = keys.filter { !BoundStore.free.contains($0.table) }
            last = end
            guard !bound.isEmpty else { continue }
            let page = try await whole.transaction(bound, at: .now(), .durable) { items in
                var page = Outcome(service: "")
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
