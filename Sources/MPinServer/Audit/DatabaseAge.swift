import Foundation
import MPinService
import MPinStore

/// Finds out whether the database of a server is older than its audit log: whether somebody has put back a copy, so that
/// wrong PINs and blocks are undone. It is the reverse of what ``AuditMarks`` are for.
///
/// The database says how far the log had come. What the log has after that about wrong PINs must be in the database.
struct DatabaseAge: Sendable {
    private let identities: Table<IdentityRecord>
    private let marks: AuditMarks
    private let place: AuditPlace
    /// The file name of the database, by which the log calls it.
    private let name: String

    private static let pageSize = 1000

    init(_ durable: any Store, _ place: AuditPlace, name: String) {
        identities = Table("identity", in: durable)
        marks = AuditMarks(in: durable)
        self.place = place
        self.name = name
    }

    /// The identities of which the log knows more wrong PINs than the database: hex of the SHA-256 of their M-Pin IDs, in
    /// order. `isMarked`: whether a server with this key has noted in its database before how far the log had come. If not,
    /// a database without a mark is not compared.
    func missing(isMarked: Bool, at now: Moment) async throws -> [String] {
        let noted = try await marks.mark(of: place, isNear: true, at: now)
        guard noted != nil || isMarked else { return [] }
        var missing: [String] = []
        for (identity, wrong) in try logged(after: noted?.number ?? 0) where wrong > 0 {
            // An identity that the database does not know cannot log in at all.
            guard let record = try await identities.read(identity, at: now), !record.hasEnded else { continue }
            if record.failuresSinceSuccess < wrong { missing.append(identity) }
        }
        return missing.sorted()
    }

    /// How many wrong PINs of each identity the log has after the line `number`, since the last right one.
    private func logged(after number: Int) throws -> [String: Int] {
        var (wrong, next) = ([String: Int](), number + 1)
        let reader = AuditReader(place)
        while true {
            let page = try reader.lines(from: next, limit: Self.pageSize)
            for text in page.lines {
                guard let line = try? JSONDecoder().decode(Line.self, from: Data(text)) else { continue }
                note(line, &wrong)
            }
            guard page.lines.count == Self.pageSize else { return wrong }
            next = page.next
        }
    }

    private func note(_ line: Line, _ wrong: inout [String: Int]) {
        switch (line.event, line.status) {
        case ("login", "401"), ("blocked", _): if let identity = line.identity { wrong[identity, default: 0] += 1 }
        case ("login", "200"), ("signature", "200"), ("unblocked", _), ("deleted", _), ("renewed", _),
            ("registered", _):
            if let identity = line.identity { wrong[identity] = nil }
        case ("command", _) where line.accepts(name): wrong = [:]
        default: break
        }
    }

    /// The members of a line that matter here.
    private struct Line: Decodable {
        let event: String
        let identity: String?
        let status: String?
        let command: String?
        let database: String?

        /// Whether the operator has put an older database in its place, or has taken it as it is.
        func accepts(_ name: String) -> Bool {
            ["restore", Self.accepted].contains(command) && database == name
        }

        static let accepted = "accept-older-database"
    }

    /// Records that the operator takes the database as it is.
    func accept(_ missing: [String], _ audit: Audit) {
        audit.record(.command(Line.accepted, [("database", name), ("identities", String(missing.count))]))
    }
}
