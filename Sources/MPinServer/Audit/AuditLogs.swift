import Foundation
import MPinSecrets
import MPinService

/// The audit logs of all servers with one database: each verified by itself, and by what the database knows of it.
package struct AuditLogs: Sendable {
    /// The log of one server.
    package struct Log: Sendable {
        package let server: String
        package let verification: AuditVerification
        /// Whether the log has a line that the database knows. It knows none of D-TAs, nor of servers that have not run with
        /// it.
        package let isNoted: Bool
    }

    /// What the database knows of a log, and none of the given logs has.
    package struct Missing: Sendable, Equatable {
        /// The name of the log.
        package let log: String
        package let entry: AuditMarks.Entry
    }

    package let logs: [Log]
    package let missing: [Missing]
    private let places: [(server: String, place: AuditPlace)]

    /// Verifies the logs at `places`, each from its line `start` on. `marks`: what the database knew before, because servers that run go on writing. Which
    /// of the logs with one key a mark belongs to is known by the line itself, as no two logs have the same.
    package init(
        _ places: [(server: String, place: AuditPlace)], from start: Int = 1,
        marks: [(log: String, entry: AuditMarks.Entry)]
    ) throws {
        self.places = places
        logs = try places.map { server, place in
            let known = marks.map(\.entry).filter { $0.key == place.keyName }
            let found = try AuditVerification(
                place, from: start, lookingFor: Set(known.compactMap { AuditVerification.Mark($0.mark) }))
            return Log(server: server, verification: found, isNoted: !found.seen.isEmpty)
        }
        let seen = Set(logs.flatMap(\.verification.seen).map(\.description))
        missing = marks.filter { !seen.contains($0.entry.mark) }.map { Missing(log: $0.log, entry: $0.entry) }
    }

    /// The lines of all logs in the order of their times, each with the name of its server as the first member of the JSON
    /// object. What is not a line of an audit log is left out: a verification names it.
    package func merged() throws -> [String] {
        var lines: [(time: String, text: String)] = []
        for (server, place) in places {
            let name = String(decoding: try JSONEncoder().encode(server), as: UTF8.self)
            // Lines that say where a log goes on may have no time: they stay behind the line before them.
            var time = ""
            for line in try AuditFiles.find(place, older: []).1.files.flatMap(\.lines) {
                guard AuditLine(line) != nil, let members = try? JSONDecoder().decode(Members.self, from: line) else {
                    continue
                }
                time = members.time ?? time
                lines.append((time, "{\"server\":\(name),\(String(decoding: line.dropFirst(), as: UTF8.self))"))
            }
        }
        // Sorting is stable: lines of one moment keep the order of their log.
        return lines.sorted { $0.time < $1.time }.map(\.text)
    }

    private struct Members: Decodable { let time: String? }
}
