package import MPinSecrets
package import MPinStore
package import MPinWire
import Synchronization

/// The provider's signing keys. They are sealed in the store, so that all servers with this store have the same keys.
///
/// A key is published before it signs, because clients keep the list that they have fetched. It stays published after
/// its last signature, as long as a client may want to verify one of its tokens.
package final class SigningKeys: Sendable {
    /// The phases of a key's life, in seconds.
    package struct Schedule: Sendable {
        /// For how long a key signs.
        package var use = 90 * 86_400
        /// For how long a key is published before it signs. It must be longer than clients may keep the list
        /// (`cacheSeconds`).
        package var notice = 2 * 3600
        /// For how long a key is published after it has stopped signing. It must be longer than the lifetime of every
        /// token.
        package var afterlife = 30 * 86_400

        package init() {}
    }

    /// For how long a client may keep the published list, in seconds.
    package static let cacheSeconds = 3600

    struct Record: Codable {
        let kid: String
        let algorithm: SigningAlgorithm
        /// The sealed PEM text, in hex.
        let box: String
        /// When the key begins to sign.
        fileprivate(set) var begins: Moment
    }

    struct Records: Codable, Storable {
        var keys: [Record] = []
    }

    private struct Loaded {
        let signer: Signer
        let begins: Moment
    }

    static let place = "all"
    private let table: Table<Records>
    private let sealKey: SecretBytes
    private let schedule: Schedule
    private let loaded = Mutex<[Loaded]>([])
    let knownTokens = KnownTokens()

    private let algorithms: [SigningAlgorithm]
    private let observer: SignatureObserver

    /// `sealKey` has 32 bytes. `name` is the name of the table in the store, and `algorithms` are those for which there
    /// are keys.
    package init(
        in store: any Store, sealKey: SecretBytes, schedule: Schedule = Schedule(), name: String = "oidc_keys",
        algorithms: [SigningAlgorithm] = SigningAlgorithm.allCases,
        observer: @escaping SignatureObserver = { _, _ in }
    ) {
        self.observer = observer
        table = Table(name, in: store)
        self.algorithms = algorithms
        self.sealKey = sealKey
        self.schedule = schedule
    }

    static func table(in store: any Store) -> Table<Records> { Table("oidc_keys", in: store) }

    /// Reads the keys from the store, makes those that are due, and deletes those that nobody needs any more. The
    /// server calls it at its start, before anything is signed, and then regularly.
    package func refresh(at now: Moment) async throws { try await refresh(at: now, rotating: false) }

    /// Publishes a new key for each algorithm. It signs as soon as every client's copy of the list is new enough to
    /// have it.
    package func rotate(at now: Moment) async throws { try await refresh(at: now, rotating: true) }

    /// Deletes the key `kid` at once, because somebody else may know it: its tokens are not valid any more. If it was in
    /// use, the next key signs from now on, or a new one if none is published. Clients accept its tokens as soon as they
    /// have fetched the list again. Returns false if there is no such key.
    package func withdraw(_ kid: String, at now: Moment) async throws -> Bool {
        let records = try await table.read(Self.place, at: now) ?? Records()
        try await load(records)
        guard let algorithm = records.keys.first(where: { $0.kid == kid })?.algorithm else { return false }
        let spare = try await newRecord(algorithm, begins: now)
        let rest = try await table.update(Self.place, at: now, .durable) { entry in
            var records = entry?.value ?? Records()
            records.withdraw(kid, replacement: spare, at: now)
            entry = .init(records)
            return records
        }
        try await load(rest)
        return true
    }

    private func refresh(at now: Moment, rotating: Bool) async throws {
        var records = try await table.read(Self.place, at: now) ?? Records()
        // With a wrong `sealKey` this throws, before a new key is sealed that no server could open.
        try await load(records)
        for algorithm in algorithms {
            guard let begins = schedule.dueKey(records.times(algorithm), at: now, rotating: rotating) else { continue }
            let record = try await newRecord(algorithm, begins: begins)
            let schedule = schedule
            records = try await table.update(Self.place, at: now, .durable) { entry in
                var records = entry?.value ?? Records()
                // Another server may have stored a new key in the meantime, so this checks again whether one is due.
                let isDue = schedule.dueKey(records.times(algorithm), at: now, rotating: rotating) != nil
                if isDue, !records.keys.contains(where: { $0.kid == record.kid }) { records.keys.append(record) }
                entry = .init(records)
                return records
            }
        }
        try await load(try await withoutEnded(records, at: now))
    }

    private func withoutEnded(_ records: Records, at now: Moment) async throws -> Records {
        let schedule = schedule
        guard records.hasEnded(schedule, at: now) else { return records }
        return try await table.update(Self.place, at: now) { entry in
            entry?.value.dropEnded(schedule, at: now)
            return entry?.value ?? Records()
        }
    }

    private func newRecord(_ algorithm: SigningAlgorithm, begins: Moment) async throws -> Record {
        let pem = try await algorithm.newKey().get()
        // In hex, because an operator types the name after `signing-key withdraw`, where base64url may look like an option.
        let kid = Hex.encode(try randomBytes(12))
        let box = try SealedBox.seal(pem.span, key: sealKey, associatedData: Self.purpose(kid))
        return Record(kid: kid, algorithm: algorithm, box: Hex.encode(box), begins: begins)
    }

    private static func purpose(_ kid: String) -> [UInt8] { Array("OpenID signing key \(kid)".utf8) }

    private func load(_ records: Records) async throws {
        let known = loaded.withLock { $0 }
        var keys: [Loaded] = []
        for record in records.keys {
            if let old = known.first(where: { $0.signer.kid == record.kid }) {
                keys.append(Loaded(signer: old.signer, begins: record.begins))
                continue
            }
            guard let box = Hex.decode(record.box) else { throw JWTFault.unusableKey }
            let pem = try SealedBox.open(box, key: sealKey, associatedData: Self.purpose(record.kid))
            keys.append(
                Loaded(
                    signer: try await record.algorithm.signer(pem, kid: record.kid, observer), begins: record.begins))
        }
        let loadedKeys = keys
        loaded.withLock { $0 = loadedKeys }
        let left = Set(keys.map(\.signer.kid))
        if !known.allSatisfy({ left.contains($0.signer.kid) }) { knownTokens.forget() }
    }

    /// Returns the signer that is in use at `now`: of the keys that have begun to sign, the newest. Throws if there is
    /// none.
    package func signer(_ algorithm: SigningAlgorithm, at now: Moment) throws -> Signer {
        let keys = loaded.withLock { $0 }.lazy.filter { $0.signer.algorithm == algorithm && $0.begins <= now }
        guard let newest = keys.max(by: { $0.begins < $1.begins }) else { throw JWTFault.unusableKey }
        return newest.signer
    }

    /// The signers of all published keys.
    package var signers: [Signer] { loaded.withLock { $0.map(\.signer) } }

    /// The public keys as a JWK set (RFC 7517 section 5).
    package var published: JSONValue {
        .object(["keys": .array(signers.map { .object($0.publicMembers) })])
    }
}

extension SigningKeys.Records {
    /// When the keys of an algorithm begin to sign, sorted.
    fileprivate func times(_ algorithm: SigningAlgorithm) -> [Moment] {
        keys.filter { $0.algorithm == algorithm }.map(\.begins).sorted()
    }

    /// Deletes a key. If it was in use, the next key of its algorithm begins at `now`, or `replacement` if there is none.
    fileprivate mutating func withdraw(_ kid: String, replacement: SigningKeys.Record, at now: Moment) {
        let own = keys.filter { $0.algorithm == replacement.algorithm }
        let inUse = own.filter { $0.begins <= now }.max { $0.begins < $1.begins }
        keys.removeAll { $0.kid == kid }
        guard inUse?.kid == kid else { return }
        let next = keys.firstIndex { $0.algorithm == replacement.algorithm && $0.begins > now }
        if let next { keys[next].begins = now } else { keys.append(replacement) }
    }

    fileprivate func hasEnded(_ schedule: SigningKeys.Schedule, at now: Moment) -> Bool {
        keys.contains { isEnded($0, schedule, at: now) }
    }

    fileprivate mutating func dropEnded(_ schedule: SigningKeys.Schedule, at now: Moment) {
        let all = self
        keys.removeAll { all.isEnded($0, schedule, at: now) }
    }

    /// Returns whether a key need not be published any more. It signed until the next key of its algorithm began, and
    /// stays published for `afterlife` after that.
    private func isEnded(_ key: SigningKeys.Record, _ schedule: SigningKeys.Schedule, at now: Moment) -> Bool {
        let next = times(key.algorithm).first { $0 > key.begins }
        return next.map { $0.adding(seconds: schedule.afterlife) <= now } ?? false
    }
}

extension SigningKeys.Schedule {
    /// Returns when a new key should begin to sign, if one must be made now. Nil if none is due. `times` is when the
    /// existing keys of the algorithm begin. The very first key signs at once, because no client can have a list
    /// without it.
    func dueKey(_ times: [Moment], at now: Moment, rotating: Bool) -> Moment? {
        guard let newest = times.last else { return now }
        guard newest <= now else { return nil }
        let earliest = now.adding(seconds: notice)
        let planned = newest.adding(seconds: use)
        if rotating { return earliest }
        return planned <= earliest ? earliest : nil
    }
}
