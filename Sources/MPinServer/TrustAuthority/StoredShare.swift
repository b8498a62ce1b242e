import MPinSecrets
import MPinService
import MPinStore

/// A master share as a D-TA stores it.
struct StoredShare: Codable, Storable, Equatable {
    /// The sealed share in hex; nil after a retired share was erased.
    var sealed: String?
    let startTime: String
    /// When the share stops being served; nil for the current share.
    var servedUntil: String?

    init(sealing share: MasterShare, key: SecretBytes) throws {
        let purpose = Self.purpose(share.keyID, share.startTime)
        sealed = Hex.encode(try SealedBox.seal(share.secret.span, key: key, associatedData: purpose))
        startTime = share.startTime.iso
    }

    /// Opens the sealed share with `key`. Nil if it was erased.
    func opened(keyID: String, key: SecretBytes) throws -> MasterShare? {
        guard let sealed else { return nil }
        guard let start = Moment(startTime) else { throw StartError("master share \(keyID) has no start time") }
        let secret = try SealedBox.open(
            Hex.decode(sealed) ?? [], key: key, associatedData: Self.purpose(keyID, start))
        return MasterShare(keyID: keyID, secret: secret, startTime: start, servedUntil: end)
    }

    /// Whether the share is no longer served, but not erased yet.
    func isRetired(at now: Moment) -> Bool { sealed != nil && end.map { $0 <= now } ?? false }

    /// When the share stops being served. A time that cannot be read counts as passed, so that no share is served for
    /// ever.
    private var end: Moment? { servedUntil.map { Moment($0) ?? Moment(microseconds: 0) } }

    /// The text that is authenticated with a sealed share, so that its use, its key id and its start time, which
    /// clients get, cannot be changed. The text of the first share has no key id, because the first release had only
    /// one share.
    private static func purpose(_ keyID: String, _ startTime: Moment) -> [UInt8] {
        Array("libmpin D-TA master share \(keyID == "1" ? "" : "\(keyID) ")\(startTime.iso)".utf8)
    }
}

/// The parameters by which the sealing key is derived from a passphrase (Argon2id).
struct StoredDerivation: Codable, Storable {
    /// The salt in hex.
    let salt: String
    let passes: Int64
    let kibibytes: Int64

    init(_ derivation: Argon2id) {
        salt = Hex.encode(derivation.salt)
        passes = Int64(derivation.passes)
        kibibytes = Int64(derivation.kibibytes)
    }

    /// The derivation with these parameters; nil if they are out of bounds.
    var derivation: Argon2id? {
        guard let passes = UInt32(exactly: passes), let kibibytes = UInt32(exactly: kibibytes),
            let salt = Hex.decode(salt)
        else { return nil }
        return Argon2id(passes: passes, kibibytes: kibibytes, salt: salt)
    }
}

/// Makes the first share of a D-TA, and finds the key that seals its shares. All shares under a passphrase have the
/// same salt, so that a start derives only one key.
struct MasterShareBeginning: Sendable {
    let shares: Table<StoredShare>
    let seal: Seal

    private var derivations: Table<StoredDerivation> { Table("passphrase", in: shares.store) }
    private static let only = "1"

    /// Makes the first share of an empty store, and returns the key that seals it. Nil if another process has made one
    /// in the meantime.
    func begin(at now: Moment) async throws -> SecretBytes? {
        let (key, derivation) = try newKey()
        let share = try MasterShare.generated(keyID: "1", at: now)
        let change = BeginShares(
            share: shares.key(share.keyID), derivation: derivations.key(Self.only),
            newShare: try StoredShare(sealing: share, key: key), newDerivation: derivation)
        return try await shares.store.performOnce(change, at: now, .durable) ? key : nil
    }

    /// Returns the key that seals the stored shares. Throws `StartError` if they are sealed by a passphrase and `seal`
    /// is a key, or the reverse.
    func sealingKey(at now: Moment) async throws -> SecretBytes {
        switch (seal, try await derivations.read(Self.only, at: now)) {
        case (.key(let key), nil): return key
        case (.passphrase(let passphrase), let stored?): return try Self.derived(passphrase, stored.derivation)
        case (.key, _): throw StartError("the master share is sealed by a passphrase, not by a key file")
        case (.passphrase, nil): throw StartError("the master share is sealed by a key file, not by a passphrase")
        }
    }

    private func newKey() throws -> (SecretBytes, StoredDerivation?) {
        switch seal {
        case .key(let key): return (key, nil)
        case .passphrase(let passphrase):
            let fresh = Argon2id(passes: 3, kibibytes: Self.kibibytes, salt: try randomBytes(Argon2id.saltSize))
            return (try Self.derived(passphrase, fresh), fresh.map(StoredDerivation.init))
        }
    }

    /// The memory of a derivation, 256 MiB. It may be that much because a D-TA derives its key only when it starts.
    private static let kibibytes: UInt32 = 256 << 10

    private static func derived(_ passphrase: SecretBytes, _ derivation: Argon2id?) throws -> SecretBytes {
        guard let derivation else { throw StartError("the stored passphrase parameters are out of bounds") }
        guard let key = derivation.key(passphrase) else {
            throw StartError(
                "not enough memory to derive a key from the passphrase (\(derivation.kibibytes >> 10) MiB)")
        }
        return key
    }
}

/// The change of ``MasterShareBeginning/begin(at:)``: stores the first share and the parameters of its key.
private struct BeginShares: NamedChange {
    static let name = "begin-shares"

    let share: ItemKey
    let derivation: ItemKey
    let newShare: StoredShare
    let newDerivation: StoredDerivation?

    var keys: [ItemKey] { [share, derivation] }

    /// False if another process has made a first share already.
    func run(_ items: inout Items) throws -> Bool {
        if let found = items[share] { return try StoredShare(stored: found.value) == newShare }
        guard items[derivation] == nil else { return false }
        items[share] = StoredItem(value: try newShare.stored())
        items[derivation] = try newDerivation.map { StoredItem(value: try $0.stored()) }
        return true
    }
}
