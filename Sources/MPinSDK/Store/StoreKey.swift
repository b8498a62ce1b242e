import MPinHTTP
package import MPinSecrets

/// The key of a store: either 32 bytes, or a passphrase from which each store's key is derived with the salt in that
/// store.
package final class StoreKey: Sendable {
    private let secret: SecretBytes
    private let isPassphrase: Bool
    /// The last key derived from the passphrase. It is kept because a derivation takes a tenth of a second.
    private let derived = Locked<(how: Argon2id, key: SecretBytes)?>(nil)

    /// Takes the key itself, 32 bytes.
    package init(_ key: SecretBytes) {
        secret = key
        isPassphrase = false
    }

    package init(passphrase: SecretBytes) {
        secret = passphrase
        isPassphrase = true
    }

    /// Returns the key of a store, 32 bytes. `derivation` is what the first line of the store says about its
    /// passphrase; nil if the store has none. Throws if the store has a passphrase and this object has a key, or the
    /// reverse.
    func key(_ derivation: Argon2id?) throws(SDKError) -> SecretBytes {
        guard let derivation else {
            guard !isPassphrase else { throw SDKError(.storageError, "the store has a key and no passphrase") }
            return secret
        }
        guard isPassphrase else { throw SDKError(.storageError, "the store asks for its passphrase") }
        return try derived.withLock { derived throws(SDKError) in
            if let derived, derived.how == derivation { return derived.key }
            guard let key = derivation.key(secret) else {
                throw SDKError(.storageError, "no memory to make the store's key from its passphrase")
            }
            derived = (derivation, key)
            return key
        }
    }

    /// How to derive the key when the store is written again: as before, or with today's parameters and a new salt if
    /// they are stronger. Nil if this object is a key and no passphrase.
    func nextDerivation(after former: Argon2id?, random: RandomSource) throws(SDKError) -> Argon2id? {
        guard isPassphrase else { return nil }
        if let former, !former.isOutdated { return former }
        do { return try Argon2id(random: random) } catch {
            throw SDKError(.randomFailed, "the random generator failed")
        }
    }

    /// The error text if no line of a store can be opened.
    var refusal: String {
        isPassphrase
            ? "wrong passphrase, or the store is damaged" : "the store is damaged or was written under another key"
    }
}

/// Reads the store's key from the file at `path`. For a new store, makes the file with a new key.
struct KeyFileSource: KeySource {
    let path: String

    func key(forNewStore isNew: Bool, random: RandomSource) throws(SDKError) -> SecretBytes {
        do {
            return isNew ? try KeyFile.loadOrCreate(path, random: random) : try KeyFile.load(path)
        } catch .random {
            throw SDKError(.randomFailed, "the random generator failed")
        } catch { throw SDKError(.storageError, "\(error)") }
    }
}
