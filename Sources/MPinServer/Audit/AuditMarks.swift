import Foundation
import Logging
import MPinSecrets
import MPinService
package import MPinStore
import ServiceLifecycle

/// How far the audit log of each server has come, kept in the database of the servers. So whoever cuts off a log,
/// or takes it away whole, would have to alter the database, too.
package struct AuditMarks: Sendable {
    /// What is kept of one log.
    package struct Entry: Codable, Equatable, Sendable, Storable {
        /// What stands for the key of the log (``AuditPlace/keyName``). Several servers may have the same key.
        package let key: String
        /// The machine of the server, by which an operator finds it.
        package let host: String
        /// The last line, as ``AuditVerification/Mark`` prints it.
        package let mark: String
        package let noted: Moment
    }

    /// The entries, by ``AuditPlace/name(on:)``.
    private let table: Table<Entry>

    init(in store: any Store) { table = Table("audit_mark", in: store) }

    package init(database: ServiceDatabase) async throws { self.init(in: try await database.unbound()) }

    /// The entries with the names of their logs, in the order of the names.
    package func all(at now: Moment) async throws -> [(log: String, entry: Entry)] {
        try await table.all(at: now).map { (log: $0.key, entry: $0.value) }
    }

    func note(
        _ mark: AuditVerification.Mark, of place: AuditPlace, isNear: Bool, at now: Moment
    ) async throws {
        let host = ProcessInfo.processInfo.hostName
        let entry = Entry(key: place.keyName, host: host, mark: mark.description, noted: now)
        try await table.update(Self.name(of: place, isNear, host), at: now) { $0 = .init(entry) }
    }

    /// How far a log had come. Nil if the database does not know it.
    func mark(of place: AuditPlace, isNear: Bool, at now: Moment) async throws -> AuditVerification.Mark? {
        let name = Self.name(of: place, isNear, ProcessInfo.processInfo.hostName)
        return try await table.read(name, at: now).flatMap { AuditVerification.Mark($0.mark) }
    }

    /// A database on this machine is moved together with the log, so the name does not depend on that of the machine.
    private static func name(of place: AuditPlace, _ isNear: Bool, _ host: String) -> String {
        place.name(on: isNear ? "" : host)
    }

    /// Forgets the log of a server that is gone for good. False if there is none with this name.
    package func forget(_ log: String, at now: Moment) async throws -> Bool {
        try await table.take(log, at: now) != nil
    }
}

extension AuditPlace {
    /// What stands for the key in the database of the servers: 16 hex digits that reveal nothing of it.
    var keyName: String { hash("libmpin audit key") }

    /// The name of the log of a machine in the database of the servers: 16 hex digits.
    package func name(on host: String) -> String { hash("libmpin audit log\n\(host)\n\(log)") }

    private func hash(_ text: String) -> String {
        Hex.encode(Array(HMACSHA256.tag(Array(text.utf8), key: key).prefix(8)))
    }
}

/// Notes in the database every few seconds, and when the server stops, how far its audit log has come.
struct AuditMarkWatch: Service {
    private static let seconds = 5

    let marks: AuditMarks
    let audit: Audit
    /// Whether the database is on this machine.
    let isNear: Bool
    let clock: Clock
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var noted: AuditVerification.Mark?
            while true {
                noted = await note(after: noted)
                try await Task.sleep(for: .seconds(Self.seconds))
            }
        }
        _ = await note(after: nil)
    }

    /// Notes the last line, unless it is `noted`. Returns the line that the database knows then.
    private func note(after noted: AuditVerification.Mark?) async -> AuditVerification.Mark? {
        do {
            guard let place = audit.place, let mark = try audit.mark(), mark != noted else { return noted }
            try await marks.note(mark, of: place, isNear: isNear, at: clock())
            return mark
        } catch {
            logger.warning("not noted how far the audit log has come", metadata: ["error": "\(error)"])
            return noted
        }
    }
}
