import CSodium

/// A key from a passphrase: Argon2id (RFC 9106, version 1.3), slow on purpose.
package enum PassphraseKey {
    /// Bytes of a salt.
    package static let saltSize = 16

    /// How a key is derived; not secret, kept beside what the key seals.
    package struct Parameters: Sendable, Equatable {
        /// 16 random bytes.
        package var salt: [UInt8]
        /// Passes over the memory.
        package var operations: Int
        /// Bytes of memory.
        package var memory: Int

        package init(salt: [UInt8], operations: Int, memory: Int) {
            self.salt = salt
            self.operations = operations
            self.memory = memory
        }

        /// A new salt; 3 passes over 256 MiB, libsodium's middle way: about a second of one core.
        package static func fresh() throws(RandomFailure) -> Parameters {
            Parameters(
                salt: try randomBytes(saltSize), operations: crypto_pwhash_opslimit_moderate(),
                memory: crypto_pwhash_memlimit_moderate())
        }

        /// What this program derives with: whoever wrote the parameters, they neither exhaust the machine nor make
        /// guessing cheap.
        fileprivate var isReasonable: Bool {
            salt.count == saltSize && (2...16).contains(operations) && (64 << 20...1 << 30).contains(memory)
        }
    }

    /// Why there is no key.
    package enum Failure: Error {
        /// A salt or cost that this program does not derive with.
        case parameters
        /// The machine has not the memory that the derivation takes.
        case memory
    }

    /// 32 bytes.
    package static func derive(_ passphrase: SecretBytes, _ parameters: Parameters) throws(Failure) -> SecretBytes {
        guard parameters.isReasonable, sodium_init() >= 0 else { throw .parameters }
        let key = SecretBytes(count: SealedBox.keySize)
        var bytes = key.mutableSpan
        let status = bytes.withUnsafeMutableBufferPointer { key -> Int32 in
            guard let start = key.baseAddress else { return -1 }
            return passphrase.span.withBytes { text, count in
                text.withMemoryRebound(to: CChar.self, capacity: Int(count)) { text in
                    crypto_pwhash(
                        start, UInt64(key.count), text, count, parameters.salt,
                        UInt64(parameters.operations), parameters.memory, crypto_pwhash_alg_argon2id13())
                }
            }
        }
        guard status == 0 else { throw .memory }
        return key
    }
}
