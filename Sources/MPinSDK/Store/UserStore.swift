import MPinHTTP
package import MPinSecrets

/// The sealed records of all users in one ``Storage``.
package final class UserStore: Sendable {
    private let storage: any Storage
    private let key: StoreKey
    private let random: RandomSource
    /// The highest generation (see ``StoreFormat``) that was read or written. A store with a lower generation is an old
    /// copy.
    private let newest = Locked<UInt64>(0)

    package init(storage: any Storage, key: StoreKey, random: @escaping RandomSource = systemRandom) {
        self.storage = storage
        self.key = key
        self.random = random
    }

    /// Makes the store with a key of 32 bytes.
    package convenience init(storage: any Storage, key: SecretBytes) {
        self.init(storage: storage, key: StoreKey(key))
    }

    /// The store that a configuration describes.
    convenience init(_ config: SDKConfig, _ environment: Environment) throws(SDKError) {
        guard environment.storage != nil || !config.storagePath.isEmpty else {
            throw SDKError(.invalidArgument, "config.storage_path is empty: name a file")
        }
        let storage = environment.storage ?? FileStorage(path: config.storagePath)
        let key: StoreKey
        if let passphrase = config.passphrase {
            guard passphrase.count > 0 else { throw SDKError(.invalidArgument, "config.storage_passphrase is empty") }
            key = StoreKey(passphrase: passphrase)
        } else {
            let source = environment.keySource ?? KeyFileSource(path: config.keyPath ?? config.storagePath + ".key")
            key = StoreKey(try source.key(forNewStore: storage.read() == nil, random: environment.random))
        }
        self.init(storage: storage, key: key, random: environment.random)
    }

    /// The file at `path`, sealed under the key of this store.
    func sealedFile(_ path: String, purpose: String) -> SealedFile {
        SealedFile(path: path, purpose: purpose, key: key, random: random)
    }

    /// A number that differs after every change by any process.
    package var version: UInt64 { storage.version() }

    package func load() throws(SDKError) -> StoreFormat.Content { try content(storage.read()) }

    /// Changes the stored record with the key `key`. `change` receives nil if there is none, and sets nil to remove the
    /// record. All records are read again first, so that changes by other processes stay. `change` may give the record
    /// another key if no stored record has that key, or if the key is one of `replaced`. Returns all records that are
    /// then stored.
    package func update(
        _ key: IdentityKey, replacing replaced: Set<IdentityKey> = [], within limits: CallLimits? = nil,
        _ change: (inout UserRecord?) throws(SDKError) -> Void
    ) throws(SDKError) -> [UserRecord] {
        try replace(limits) { records throws(SDKError) in
            var record = records.last { $0.key == key }
            try change(&record)
            let others = records.filter { $0.key != key }
            guard let record else { return others }
            let rest = others.filter { $0.key != record.key }
            guard rest.count == others.count || replaced.contains(record.key) else { throw Self.isKnown }
            return rest + [record]
        }
    }

    static var isKnown: SDKError { SDKError(.flowError, "the customer has a user of that id already") }

    /// Adds the records whose users are not stored yet. A record without customer or application counts as stored if a
    /// record with any customer or application is. Returns all records that are then stored, and how many were added.
    func add(_ new: [UserRecord], within limits: CallLimits?) throws(SDKError) -> (all: [UserRecord], added: Int) {
        var added = 0
        let all = try replace(limits) { records throws(SDKError) in
            var keys = Set(records.map(\.key))
            let fresh = new.filter { record in
                !records.contains { $0.key.isOf(record) } && keys.insert(record.key).inserted
            }
            added = fresh.count
            return records + fresh
        }
        return (all, added)
    }

    /// Removes all records.
    func removeAll(within limits: CallLimits?) throws(SDKError) { _ = try replace(limits) { _ in [] } }

    private func replace(
        _ limits: CallLimits?, _ change: ([UserRecord]) throws(SDKError) -> [UserRecord]
    ) throws(SDKError) -> [UserRecord] {
        var next = StoreFormat.Content()
        try storage.update(within: limits) { blob throws(SDKError) in
            let former = try content(blob)
            if former.damaged > 0 { try storage.setAside() }
            next.records = try change(former.records)
            next.generation = max(newest.withLock { $0 }, former.generation ?? 0) &+ 1
            next.derivation = try key.nextDerivation(after: former.derivation, random: random)
            return try StoreFormat.encode(next, key: key, random: random)
        }
        newest.withLock { $0 = max($0, next.generation ?? 0) }
        return next.records
    }

    private func content(_ blob: [UInt8]?) throws(SDKError) -> StoreFormat.Content {
        var content = StoreFormat.Content()
        if let blob { content = try StoreFormat.decode(blob, key: key) }
        try newest.withLock { newest throws(SDKError) in
            if blob == nil, storage.mayBeEmptied { newest = 0 }
            // A store whose last line is missing, or of format 1, has no generation. It could be of any age, so it
            // counts as generation 0.
            let generation = content.generation ?? 0
            guard generation >= newest else {
                let reason = blob == nil ? "is gone" : "has lost its end, or an old copy has taken its place"
                throw SDKError(.storageError, "the store \(reason)")
            }
            newest = generation
        }
        return content
    }
}
