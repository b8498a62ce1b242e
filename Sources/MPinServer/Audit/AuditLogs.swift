import Foundation
import MPinSecrets
import MPinService

/// The audit logs of all servers with one database: each verified by itself, and by what the database knows of it.
package struct AuditLogs: Sendable {
    /// The log of one server.
    package struct Log: Sendable {
        package let server: String
        package let verification: AuditVerification
        /// Whether the database knows the log. It does not know those of D-TAs, and of servers that have not run with it.
        package let isNoted: Bool
    }

    /// A log that the database knows and that was not given.
    package struct Missing: Sendable, Equatable {
        package let chain: String
        package let entry: AuditMarks.Entry
    }

    package let logs: [Log]
    package let missing: [Missing]
    private let places: [(server: String, place: AuditPlace)]

    /// Verifies the logs at `places`. `marks`: what the database knew before, because servers that run go on writing.
    package init(_ places: [(server: String, place: AuditPlace)], marks: [String: AuditMarks.Entry]) throws {
        self.places = places
        logs = try places.map { server, place in
            let mark = try marks[place.chain].map { entry in
                guard let mark = AuditVerification.Mark(entry.mark) else {
                    throw StartError("the database's entry of \(server) is not a mark")
                }
                return mark
            }
            return Log(
                server: server, verification: try AuditVerification(place, expected: mark), isNoted: mark != nil)
        }
        let given = Set(places.map(\.place.chain))
        missing = marks.filter { !given.contains($0.key) }.sorted { $0.key < $1.key }
            .map { Missing(chain: $0.key, entry: $0.value) }
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
