package import MPinSecrets

/// The sealed records of all users in one ``Storage``.
package final class UserStore: Sendable {
    private let storage: any Storage
    private let key: SecretBytes

    package init(storage: any Storage, key: SecretBytes) {
        self.storage = storage
        self.key = key
    }

    /// Differs after every change, by whatever process.
    package var version: UInt64 { storage.version() }

    package func load() throws(SDKError) -> StoreFormat.Content { try content(storage.read()) }

    /// Changes one record, nil for none, in what is stored at this moment: other processes' users stay as they are.
    /// Returns all records as stored now.
    package func update(_ key: String, _ change: (inout UserRecord?) throws(SDKError) -> Void) throws(SDKError)
        -> [UserRecord]
    {
        var records: [UserRecord] = []
        try storage.update { blob throws(SDKError) in
            let content = try content(blob)
            if content.damaged > 0 { try storage.setAside() }
            var record = content.records.last { $0.key == key }
            try change(&record)
            records = content.records.filter { $0.key != key } + (record.map { [$0] } ?? [])
            return try StoreFormat.encode(records, key: self.key)
        }
        return records
    }

    private func content(_ blob: [UInt8]?) throws(SDKError) -> StoreFormat.Content {
        guard let blob else { return StoreFormat.Content() }
        return try StoreFormat.decode(blob, key: key)
    }
}
