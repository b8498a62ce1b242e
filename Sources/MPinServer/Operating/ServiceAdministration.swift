package import MPinSecrets
import MPinService
import MPinStore

/// The operator's commands for the id of a service (``ServiceID``).
package enum ServiceAdministration {
    package struct Entry: Sendable, Encodable {
        /// 32 hex digits.
        package let service: String
        /// Whether names in shared stores carry it.
        package let isInNames: Bool

        init(_ id: ServiceID, at now: Moment) {
            service = id.text
            isInNames = id.sealed.map { $0 <= now } ?? false
        }
    }

    /// The id of the service with this database: a SQLite file or a ``PostgresURL``. Nil if it has none yet.
    package static func show(_ database: String) async throws -> Entry? {
        let now = Moment.now()
        return try await ServiceID.read(in: openServiceDatabase(database), at: now).map { Entry($0, at: now) }
    }

    /// Lets names in shared stores carry the id of the service with this database, which servers may use meanwhile. Nil if
    /// it has none yet. Throws `StartError`.
    package static func seal(_ database: String) async throws -> Entry? {
        let now = Moment.now()
        do {
            let store = try await openServiceDatabase(database)
            guard try await ServiceID.read(in: store, at: now) != nil else { return nil }
            try await ServiceID.seal(in: store, at: now)
            return try await ServiceID.read(in: store, at: now).map { Entry($0, at: now) }
        } catch let error as StoreError { throw StartError("\(StoreURL.shown(database)): \(error)") }
    }

    /// Gives the stopped service with this database another id, bound to the key of its servers. Throws `StartError`.
    package static func renew(_ database: String, key: SecretBytes) async throws -> Entry {
        do {
            let url = try StoreURL(database)
            if case .sqlite(let path) = url {
                guard try DatabaseKind(checking: path) == .rps else { throw StartError("\(database): not of an RPS") }
            }
            let (store, now) = (try await url.whole(), Moment.now())
            try await store.requireAlone()
            return Entry(try await ServiceID.renew(in: store, key: key, at: now), at: now)
        } catch let error as StoreError { throw StartError("\(StoreURL.shown(database)): \(error)") }
    }
}
