import MPinSecrets
import MPinService
import MPinStore

/// A master share as a D-TA stores it.
struct StoredShare: Codable, Storable, Equatable {
    /// Hex of the box; nil once a retired share is erased.
    var sealed: String?
    let startTime: String
    /// Nil for the current one.
    var servedUntil: String?

    init(sealing share: MasterShare, key: SecretBytes) throws {
        let purpose = Self.purpose(share.keyID, share.startTime)
        sealed = Hex.encode(try SealedBox.seal(share.secret.span, key: key, associatedData: purpose))
        startTime = share.startTime.iso
    }

    /// Nil for an erased share.
    func opened(keyID: String, key: SecretBytes) throws -> MasterShare? {
        guard let sealed else { return nil }
        guard let start = Moment(startTime) else { throw StartError("master share \(keyID) has no start time") }
        let secret = try SealedBox.open(
            Hex.decode(sealed) ?? [], key: key, associatedData: Self.purpose(keyID, start))
        return MasterShare(keyID: keyID, secret: secret, startTime: start, servedUntil: end)
    }

    /// Whether it is no longer served, and not erased yet.
    func isRetired(at now: Moment) -> Bool { sealed != nil && end.map { $0 <= now } ?? false }

    /// An end that cannot be read has passed: better no share than one for ever.
    private var end: Moment? { servedUntil.map { Moment($0) ?? Moment(microseconds: 0) } }

    /// Ties a box to its use, its key id and the time that clients are told. The first share keeps the words of the
    /// release that knew no other.
    private static func purpose(_ keyID: String, _ startTime: Moment) -> [UInt8] {
        Array("libmpin D-TA master share \(keyID == "1" ? "" : "\(keyID) ")\(startTime.iso)".utf8)
    }
}

/// What the key of the boxes is derived from a passphrase with.
struct StoredDerivation: Codable, Storable {
    /// Hex.
    let salt: String
    let passes: Int64
    let kibibytes: Int64

    init(_ derivation: Argon2id) {
        salt = Hex.encode(derivation.salt)
        passes = Int64(derivation.passes)
        kibibytes = Int64(derivation.kibibytes)
    }

    /// Nil where it is out of bounds.
    var derivation: Argon2id? {
        guard let passes = UInt32(exactly: passes), let kibibytes = UInt32(exactly: kibibytes),
            let salt = Hex.decode(salt)
        else { return nil }
        return Argon2id(passes: passes, kibibytes: kibibytes, salt: salt)
    }
}

/// The first share of a D-TA, and the key that seals its shares. Under a passphrase all of them have one salt, so that a
/// start derives one key.
struct MasterShareBeginning: Sendable {
    let shares: Table<StoredShare>
    let seal: Seal

    private var derivations: Table<StoredDerivation> { Table("passphrase", in: shares.store) }
    private static let only = "1"

    /// Makes the first share of an empty store and gives its key; nil where somebody else has made it meanwhile.
    func begin(at now: Moment) async throws -> SecretBytes? {
        let (key, derivation) = try newKey()
        let share = try MasterShare.generated(keyID: "1", at: now)
        let change = BeginShares(
            share: shares.key(share.keyID), derivation: derivations.key(Self.only),
            newShare: try StoredShare(sealing: share, key: key), newDerivation: derivation)
        return try await shares.store.performOnce(change, at: now, .durable) ? key : nil
    }

    /// The key of the shares that there are.
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

    /// 256 MiB: a D-TA derives its key once a start, on a machine that does nothing else.
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

/// Puts the first share into an empty store, with what its key is derived with.
private struct BeginShares: NamedChange {
    static let name = "begin-shares"

    let share: ItemKey
    let derivation: ItemKey
    let newShare: StoredShare
    let newDerivation: StoredDerivation?

    var keys: [ItemKey] { [share, derivation] }

    /// False: there is one already.
    func run(_ items: inout Items) throws -> Bool {
        if let found = items[share] { return try StoredShare(stored: found.value) == newShare }
        guard items[derivation] == nil else { return false }
        items[share] = StoredItem(value: try newShare.stored())
        items[derivation] = try newDerivation.map { StoredItem(value: try $0.stored()) }
        return true
    }
}
