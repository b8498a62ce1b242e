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

    /// The identities of which the log knows wrong PINs, blocks or revocations that the database lacks: hex of the SHA-256 of
    /// their M-Pin IDs, in order. `isMarked`: whether a server with this key has noted in its database before how far the
    /// log had come. If not, a database without a mark is not compared.
    func missing(isMarked: Bool, at now: Moment) async throws -> [String] {
        let noted = try await marks.mark(of: place, isNear: true, at: now)
        guard noted != nil || isMarked else { return [] }
        var missing: [String] = []
        for (identity, logged) in try logged(after: noted?.number ?? 0) {
            guard let record = try await record(identity, at: now) else { continue }
            if !logged.isKnown(to: record, at: now) { missing.append(identity) }
        }
        return missing.sorted()
    }

    /// The record of an identity. Nil if the database does not know it, or the record is refused: then it cannot log in at all.
    private func record(_ identity: String, at now: Moment) async throws -> IdentityRecord? {
        do { return try await identities.read(identity, at: now) } catch StoreError.unusable { return nil }
    }

    /// What the log has about the identities after the line `number`.
    private func logged(after number: Int) throws -> [String: Logged] {
        var (logged, next) = ([String: Logged](), number + 1)
        let reader = AuditReader(place)
        while true {
            let page = try reader.lines(from: next, limit: Self.pageSize)
            for text in page.lines {
                guard let line = try? JSONDecoder().decode(Line.self, from: Data(text)) else { continue }
                if line.accepts(name) { logged = [:] }
                if let identity = line.identity { logged[identity, default: Logged()].note(line) }
            }
            guard page.lines.count == Self.pageSize else { return logged }
            next = page.next
        }
    }

    /// What the log has about one identity.
    private struct Logged {
        /// Wrong PINs since the last right one.
        var wrong = 0
        /// The block: until when, and nil if only the operator ends it.
        var block: Moment??
        var hasEnded = false

        mutating func note(_ line: Line) {
            switch (line.event, line.status) {
            case ("login", "401"), ("signature", "401"): wrong += 1
            case ("login", "200"), ("signature", "200"): wrong = 0
            case ("blocked", _): block = .some(line.until.flatMap { Moment($0) })
            case ("unblocked", _): (wrong, block) = (0, nil)
            case ("revoked", _), ("renewed", _): hasEnded = true
            case ("registered", _), ("deleted", _): self = Logged()
            default: break
            }
        }

        func isKnown(to record: IdentityRecord, at now: Moment) -> Bool {
            if record.hasEnded { return true }
            if hasEnded || record.failuresSinceSuccess < wrong { return false }
            switch block {
            case nil: return true
            case .some(nil): return record.blocked
            case .some(let until?): return until <= now || record.blocked || record.blockedUntil != nil
            }
        }
    }

    /// The members of a line that matter here.
    private struct Line: Decodable {
        let event: String
        let identity: String?
        let status: String?
        let until: String?
        let command: String?
        let database: String?

        /// Whether the operator has put an older database in its place, or has taken it as it is.
        func accepts(_ name: String) -> Bool {
            event == "command" && ["restore", Self.accepted].contains(command) && database == name
        }

        static let accepted = "accept-older-database"
    }

    /// Records that the operator takes the database as it is.
    func accept(_ missing: [String], _ audit: Audit) {
        audit.record(.command(Line.accepted, [("database", name), ("identities", String(missing.count))]))
    }
}
