import MPinHTTP
package import MPinSecrets

/// One secret text in a file of its own, sealed under the key of the users' store. It is written as that store is: a
/// crash at any moment leaves the old or the new text.
///
///     mpin-session 2
///     <hex of the sealed text>
///
/// The first line has the form of the first line of ``StoreFormat``, with another first word.
package final class SealedFile: TextPlace {
    package let path: String?
    private let storage: FileStorage
    private let purpose: String
    private let key: StoreKey
    private let random: RandomSource
    private static let version = 2

    /// `purpose` is the first word of the file, and is sealed with the text.
    init(path: String, purpose: String, key: StoreKey, random: @escaping RandomSource) {
        storage = FileStorage(path: path)
        self.path = storage.path
        self.purpose = purpose
        self.key = key
        self.random = random
    }

    /// The text; nil also if it is damaged or was sealed under another key.
    package func read() throws(SDKError) -> SecretBytes? {
        guard let blob = try storage.read() else { return nil }
        return try open(blob)?.text
    }

    package func version() -> UInt64 { storage.version() }

    /// A damaged file is copied to another place first.
    package func update(
        within limits: CallLimits?, afterwards: () -> Void,
        _ change: (SecretBytes?) throws(SDKError) -> SecretBytes
    ) throws(SDKError) {
        try storage.update(within: limits, afterwards: afterwards) { blob throws(SDKError) in
            let former = try blob.flatMap { blob throws(SDKError) in try open(blob) }
            if blob != nil, former == nil { try storage.setAside() }
            let text = try change(former?.text)
            return try seal(text, key.nextDerivation(after: former?.derivation, random: random))
        }
    }

    private func open(_ blob: [UInt8]) throws(SDKError) -> (text: SecretBytes, derivation: Argon2id?)? {
        let lines = blob.split(separator: UInt8(ascii: "\n"))
        let header: StoreHeader
        do throws(SDKError) {
            header = try StoreHeader(lines.first ?? [], magic: purpose, newest: Self.version)
        } catch {
            if error.status == .unsupportedFormat { throw error }
            return nil
        }
        guard lines.count == 2, let box = Hex.decode(String(decoding: lines[1], as: UTF8.self)),
            let key = try? key.key(header.derivation),
            let text = try? SealedBox.open(box, key: key, associatedData: Array(header.text.utf8))
        else { return nil }
        return (text, header.derivation)
    }

    private func seal(_ text: SecretBytes, _ derivation: Argon2id?) throws(SDKError) -> [UInt8] {
        let header = StoreHeader(magic: purpose, version: Self.version, derivation: derivation).text
        let key = try key.key(derivation)
        do {
            let box = try SealedBox.seal(text.span, key: key, associatedData: Array(header.utf8), random: random)
            return Array("\(header)\n\(Hex.encode(box))\n".utf8)
        } catch .random { throw SDKError(.randomFailed, "the random generator failed") } catch {
            throw SDKError(.storageError, "the store's key is not a key")
        }
    }
}
