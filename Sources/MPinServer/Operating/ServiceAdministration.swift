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

    /// Gives the stopped service with this database another id, bound to the key of its servers, and its records the
    /// MACs of that. Throws `StartError`.
    package static func renew(_ database: ServiceDatabase) async throws -> Entry {
        Entry(try await RecordSealing(database).renewID(), at: .now())
    }
}
