import MPinSecrets
import MPinWire

/// The layout of the store. It consists of lines of text, so that damage to one line leaves the others readable.
///
///     mpin-store 2
///     <hex of a sealed record>
///     ...
///     <hex of the sealed digest of everything above and of the generation>
///
/// Every record is sealed separately (XChaCha20-Poly1305). The last line shows whether a record is missing. If the
/// store has a passphrase, the first line ends in ` argon2id <passes> <KiB> <salt in hex>`. Format 1 can be read, too;
/// it has no passphrases and no generations.
///
/// The generation is a number that grows with every change, so a running process notices if somebody replaces the store
/// by an old copy. If no process has the store open at that time, an old copy is not noticed. An exchange of two stores
/// with the same key is not noticed either; key files and passphrases give every store a key of its own.
package enum StoreFormat {
    static let magic = "mpin-store"
    private static let version = 2

    /// The content of a store.
    package struct Content {
        package var records: [UserRecord] = []
        /// The number of lines that could not be read or that are missing.
        package var damaged = 0
        /// The generation, a number that grows with every change, in the last line. Nil if the last line is missing,
        /// and in format 1.
        var generation: UInt64?
        var derivation: Argon2id?
    }

    static func encode(_ content: Content, key: StoreKey, random: RandomSource) throws(SDKError) -> [UInt8] {
        let header = StoreHeader(magic: magic, version: version, derivation: content.derivation)
        let seal = Seal(key: try key.key(content.derivation), version: version)
        var blob = Array("\(header.text)\n".utf8)
        for record in content.records {
            guard let text = try? JSON.encode(record) else { throw SDKError(.storageError, "cannot write a record") }
            blob += try seal.line(text.span, .record, random)
        }
        let ending = SHA256.hash(blob) + bigEndian(content.generation ?? 0)
        return blob + (try seal.line(ending.span, .digest, random))
    }

    /// Decodes a store. Throws if its version is newer, or if no line can be opened, because then the key is wrong.
    static func decode(_ blob: [UInt8], key: StoreKey) throws(SDKError) -> Content {
        let lines = blob.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let header = try StoreHeader(lines.first ?? [], magic: magic, newest: version)
        let seal = Seal(key: try key.key(header.derivation), version: header.version)
        var content = Content(derivation: header.derivation)
        var isComplete = false
        var position = (lines.first?.count ?? 0) + 1
        for line in lines.dropFirst() where !line.isEmpty {
            if let record = seal.record(line) {
                content.records.append(record)
            } else if let ending = seal.open(line, .digest) {
                let isLast = position + line.count + 1 == blob.count
                let above = SHA256.hash(Array(blob[..<position]))
                isComplete = isLast && ending.plainBytes.starts(with: above)
                content.generation = generation(ending)
            } else {
                content.damaged += 1
            }
            position += line.count + 1
        }
        if !isComplete { content.damaged = max(content.damaged, 1) }
        guard isComplete || !content.records.isEmpty else { throw SDKError(.storageError, key.refusal) }
        return content
    }

    private static func bigEndian(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// Reads the generation, 8 bytes, which follows the digest in the opened last line. Nil if the line has another
    /// length.
    private static func generation(_ ending: SecretBytes) -> UInt64? {
        guard ending.count == SHA256.size + 8 else { return nil }
        return ending.plainBytes[SHA256.size...].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The first line of a store: what it is, its format, and how its key is made if it has a passphrase.
struct StoreHeader {
    var magic: String
    var version: Int
    var derivation: Argon2id?

    init(magic: String, version: Int, derivation: Argon2id?) {
        self.magic = magic
        self.version = version
        self.derivation = derivation
    }

    /// Reads the first line of a store whose first word is `magic`. `newest` is the newest format that can be read.
    init(_ line: ArraySlice<UInt8>, magic: String, newest: Int) throws(SDKError) {
        let words = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 2, words[0] == magic, let version = Int(words[1]), version > 0 else {
            throw SDKError(.storageError, "not a store")
        }
        guard version <= newest else {
            throw SDKError(.unsupportedFormat, "the store has format \(version), this library knows \(newest)")
        }
        self.magic = magic
        self.version = version
        if words.count == 2 { return }
        guard version > 1, words.count == 6, words[2] == "argon2id", let passes = UInt32(words[3]),
            let kibibytes = UInt32(words[4]), let salt = Hex.decode(String(words[5])),
            let derivation = Argon2id(passes: passes, kibibytes: kibibytes, salt: salt)
        else { throw SDKError(.storageError, "the store's first line is damaged") }
        self.derivation = derivation
    }

    var text: String {
        let start = "\(magic) \(version)"
        guard let derivation else { return start }
        return "\(start) argon2id \(derivation.passes) \(derivation.kibibytes) \(Hex.encode(derivation.salt))"
    }
}

/// Seals and opens single lines.
private struct Seal {
    let key: SecretBytes
    let version: Int

    /// What a line contains. The purpose is sealed with the line, so that a record cannot take the place of a digest or
    /// vice versa.
    enum Purpose: String {
        case record
        case digest
    }

    private func bytes(_ purpose: Purpose) -> [UInt8] { Array("mpin-store/\(version) \(purpose.rawValue)".utf8) }

    func line(_ text: Span<UInt8>, _ purpose: Purpose, _ random: RandomSource) throws(SDKError) -> [UInt8] {
        do {
            let box = try SealedBox.seal(text, key: key, associatedData: bytes(purpose), random: random)
            return Array(Hex.encode(box).utf8) + [10]
        } catch .random { throw SDKError(.randomFailed, "the random generator failed") } catch {
            throw SDKError(.storageError, "the store's key is not a key")
        }
    }

    func open(_ line: ArraySlice<UInt8>, _ purpose: Purpose) -> SecretBytes? {
        // Upper-case hex counts as damage, so that every line has one spelling only.
        guard let box = Hex.decode(String(decoding: line, as: UTF8.self)), Hex.encode(box).utf8.elementsEqual(line)
        else {
            return nil
        }
        return try? SealedBox.open(box, key: key, associatedData: bytes(purpose))
    }

    func record(_ line: ArraySlice<UInt8>) -> UserRecord? {
        guard let text = open(line, .record),
            let record = try? JSON.decode(UserRecord.self, from: text.span), record.lifecycle != nil
        else { return nil }
        return record
    }
}
