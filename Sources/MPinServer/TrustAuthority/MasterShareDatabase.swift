import Foundation
import MPinSecrets
import MPinService
package import MPinStore

/// The store of a D-TA: its master shares, each sealed, and nothing else.
package struct MasterShareDatabase: Sendable {
    private let store: any Store
    private let table: Table<StoredShare>
    private let key: SecretBytes
    /// Whether `init` has made the first share.
    let isNew: Bool

    /// Opens the master shares in `store`, or makes a first share if there is none. Several processes may do this at
    /// once: one makes the share, and the others use it. Throws `StartError` if `seal` does not open the shares.
    package init(in store: any Store, seal: Seal, now: Moment) async throws {
        self.store = store
        table = Table("master_share", in: store)
        let beginning = MasterShareBeginning(shares: table, seal: seal)
        if try await table.list(limit: 1, at: now).isEmpty, let key = try await beginning.begin(at: now) {
            (self.key, isNew) = (key, true)
        } else {
            (key, isNew) = (try await beginning.sealingKey(at: now), false)
        }
        do { _ = try await shares() } catch is SealedBox.Failure {
            throw StartError("the stored master share does not open under this \(seal.name)")
        }
    }

    /// Opens the store at `url`, or creates it with a first share.
    package init(url: StoreURL, seal: Seal, now: Moment) async throws {
        let store: any Store
        do {
            store = try await url.lasting(MasterShareSchema.shares, erases: true)
        } catch StoreError.unusable(let reason) {
            throw StartError(reason)
        }
        try await self.init(in: store, seal: seal, now: now)
    }

    /// Opens the file of a D-TA that has run before. Throws `StartError` if there is no file.
    package init(existing path: String, seal: Seal, now: Moment) async throws {
        guard FileManager.default.fileExists(atPath: path) else { throw StartError("\(path): no such database") }
        do { try await self.init(url: .sqlite(path: path), seal: seal, now: now) } catch let error as StartError {
            throw StartError("\(path): \(error)")
        }
    }

    /// The shares that are not erased, oldest first.
    package func shares() async throws -> [MasterShare] {
        try await entries().compactMap { try $0.share.opened(keyID: String($0.number), key: key) }
    }

    /// Makes a new current share. The previous one is served until `end`.
    package func rotate(serveOldUntil end: Moment, at now: Moment) async throws -> MasterShare {
        for _ in 0..<8 {
            let entries = try await entries()
            let share = try MasterShare.generated(keyID: String((entries.last?.number ?? 0) + 1), at: now)
            let change = RotateShares(
                old: entries.map { table.key(String($0.number)) }, new: table.key(share.keyID),
                share: try StoredShare(sealing: share, key: key), end: end.iso)
            if try await store.performOnce(change, at: now, .durable) { return share }
        }
        throw StoreError.conflict
    }

    /// Erases the shares that are no longer served, and returns their number.
    package func eraseRetired(at now: Moment) async throws -> Int {
        let retired = try await entries().filter { $0.share.isRetired(at: now) }.map { table.key(String($0.number)) }
        guard !retired.isEmpty else { return 0 }
        return try await store.perform(EraseShares(keys: retired, now: now), at: now, .durable)
    }

    /// All shares, also erased ones, oldest first.
    private func entries() async throws -> [(number: Int, share: StoredShare)] {
        try await table.all(at: .now()).map { key, share in
            guard let number = Int32(key) else { throw StoreError.unusable("master share \(key) has no number") }
            return (Int(number), share)
        }.sorted { $0.number < $1.number }
    }
}

/// The change of ``MasterShareDatabase/rotate(serveOldUntil:at:)``: gives the current share an end and adds the new
/// one.
private struct RotateShares: NamedChange {
    static let name = "rotate-shares"

    let old: [ItemKey]
    let new: ItemKey
    let share: StoredShare
    let end: String

    var keys: [ItemKey] { old + [new] }

    /// False if another process has made a share with the same number.
    func run(_ items: inout Items) throws -> Bool {
        if let found = items[new] { return try StoredShare(stored: found.value) == share }
        for key in old {
            try Table<StoredShare>.change(&items[key]) { entry in
                if let share = entry?.value, share.servedUntil == nil { entry?.value.servedUntil = end }
            }
        }
        items[new] = StoredItem(value: try share.stored())
        return true
    }
}

/// The change of ``MasterShareDatabase/eraseRetired(at:)``: removes the sealed shares from their items. The items stay,
/// so that their numbers are not used again.
private struct EraseShares: NamedChange {
    static let name = "erase-shares"

    let keys: [ItemKey]
    let now: Moment

    func run(_ items: inout Items) throws -> Int {
        var count = 0
        for key in keys {
            try Table<StoredShare>.change(&items[key]) { entry in
                guard let share = entry?.value, share.isRetired(at: now) else { return }
                entry?.value.sealed = nil
                count += 1
            }
        }
        return count
    }
}
