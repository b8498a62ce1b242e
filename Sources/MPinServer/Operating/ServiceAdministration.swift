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

    /// The id of the service with this database. Nil if it has none yet.
    package static func show(_ database: ServiceDatabase) async throws -> Entry? {
        let now = Moment.now()
        return try await ServiceID.read(in: database.unbound(), at: now).map { Entry($0, at: now) }
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
    package static func renew(_ database: ServiceDatabase) async throws -> Entry {
        do {
            return Entry(try await RecordSealing(database).renewID(), at: .now())
        } catch is RecordMAC.Refused {
            throw StartError(
                "the MAC of a record is wrong: find out who has changed it, then run `mpind migrate --reseal`")
        }
    }
}
