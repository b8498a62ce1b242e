import MPinSecrets

/// The layout of the store: lines of text, so that damage stays within its line.
///
///     mpin-store 1
///     <hex of a sealed record>
///     ...
///     <hex of the sealed digest of everything above>
///
/// Every record is sealed by itself (XChaCha20-Poly1305); the last line makes a record that is missing visible.
package enum StoreFormat {
    private static let magic = "mpin-store "
    private static let version = 1
    private static let recordPurpose = Array("mpin-store/1 record".utf8)
    private static let digestPurpose = Array("mpin-store/1 digest".utf8)

    /// What a blob holds.
    package struct Content {
        package var records: [UserRecord] = []
        /// Lines that could not be read, or that are missing.
        package var damaged = 0
    }

    static func encode(_ records: [UserRecord], key: SecretBytes) throws(SDKError) -> [UInt8] {
        var blob = Array("\(magic)\(version)\n".utf8)
        for record in records {
            guard let text = try? JSON.encode(record) else { throw SDKError(.storageError, "cannot write a record") }
            blob += try line(sealing: text.span, key, recordPurpose)
        }
        return blob + (try line(sealing: SHA256.hash(blob).span, key, digestPurpose))
    }

    /// A blob of a newer version is refused, and so is one of which nothing can be opened: its key is another.
    static func decode(_ blob: [UInt8], key: SecretBytes) throws(SDKError) -> Content {
        let lines = blob.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        try checkHeader(lines.first ?? [])
        var content = Content()
        var isComplete = false
        var position = (lines.first?.count ?? 0) + 1
        for line in lines.dropFirst() where !line.isEmpty {
            if let record = record(line, key) {
                content.records.append(record)
            } else if let digest = open(line, key, digestPurpose) {
                let isLast = position + line.count + 1 == blob.count
                isComplete = isLast && digest == SecretBytes(copying: SHA256.hash(Array(blob[..<position])).span)
            } else {
                content.damaged += 1
            }
            position += line.count + 1
        }
        if !isComplete { content.damaged = max(content.damaged, 1) }
        guard isComplete || !content.records.isEmpty else {
            throw SDKError(.storageError, "the store is damaged or was written under another key")
        }
        return content
    }

    private static func checkHeader(_ line: ArraySlice<UInt8>) throws(SDKError) {
        let text = String(decoding: line, as: UTF8.self)
        guard text.hasPrefix(magic), let found = Int(text.dropFirst(magic.count)), found > 0 else {
            throw SDKError(.storageError, "not a store")
        }
        guard found == version else {
            throw SDKError(.unsupportedFormat, "the store has format \(found), this library knows \(version)")
        }
    }

    private static func line(sealing text: Span<UInt8>, _ key: SecretBytes, _ purpose: [UInt8]) throws(SDKError)
        -> [UInt8]
    {
        do {
            return Array(Hex.encode(try SealedBox.seal(text, key: key, associatedData: purpose)).utf8) + [10]
        } catch .random { throw SDKError(.randomFailed, "the random generator failed") } catch {
            throw SDKError(.storageError, "the store's key is not a key")
        }
    }

    private static func open(_ line: ArraySlice<UInt8>, _ key: SecretBytes, _ purpose: [UInt8]) -> SecretBytes? {
        // The other spelling of the same bytes is damage, too.
        guard let box = Hex.decode(String(decoding: line, as: UTF8.self)), Hex.encode(box).utf8.elementsEqual(line)
        else {
            return nil
        }
        return try? SealedBox.open(box, key: key, associatedData: purpose)
    }

    private static func record(_ line: ArraySlice<UInt8>, _ key: SecretBytes) -> UserRecord? {
        guard let text = open(line, key, recordPurpose),
            let record = try? JSON.decode(UserRecord.self, from: text.span), record.lifecycle != nil
        else { return nil }
        return record
    }
}
