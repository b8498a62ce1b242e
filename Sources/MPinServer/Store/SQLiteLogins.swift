import Foundation
import GRDB

extension SQLiteStore {
    package func savePass1(idHash: [UInt8], u: [UInt8], y: [UInt8], expires: Moment, limit: Int) async throws {
        try await write { db in
            try db.execute(
                sql: "INSERT INTO pass1 (id_hash, u, y, expires) VALUES (?, ?, ?, ?)",
                arguments: [Data(idHash), Data(u), Data(y), expires.microseconds])
            try db.execute(
                sql: """
                    DELETE FROM pass1 WHERE id_hash = ?1 AND number NOT IN
                        (SELECT number FROM pass1 WHERE id_hash = ?1 ORDER BY number DESC LIMIT ?2)
                    """,
                arguments: [Data(idHash), limit])
        }
    }

    package func reserveAttempt(idHash: [UInt8], maxAttempts: Int, at now: Moment) async throws -> Reservation {
        try await write { db in
            let id = Data(idHash)
            let rows = try Row.fetchAll(
                db, sql: "SELECT number, u, y FROM pass1 WHERE id_hash = ? AND expires > ? ORDER BY number DESC",
                arguments: [id, now.microseconds])
            guard !rows.isEmpty else { return .noPass1 }
            try db.execute(
                sql: "UPDATE identity SET attempts = attempts + 1 WHERE id_hash = ? AND attempts < ?",
                arguments: [id, maxAttempts])
            guard db.changesCount == 1 else {
                try db.execute(sql: "DELETE FROM pass1 WHERE id_hash = ?", arguments: [id])
                return .blocked
            }
            let attempt = try Int.fetchOne(db, sql: "SELECT attempts FROM identity WHERE id_hash = ?", arguments: [id])
            let records = rows.map { row in
                Pass1Record(number: row["number"], u: Array(row["u"] as Data), y: Array(row["y"] as Data))
            }
            return .granted(attempt: attempt ?? maxAttempts, records)
        }
    }

    package func succeed(_ record: Pass1Record, token: AuthToken) async throws -> Bool {
        try await write { db in
            try db.execute(sql: "DELETE FROM pass1 WHERE number = ?", arguments: [record.number])
            guard db.changesCount == 1 else {
                try Self.refund(db, token.idHash)
                return false
            }
            try db.execute(
                sql: "UPDATE identity SET attempts = 0 WHERE id_hash = ?", arguments: [Data(token.idHash)])
            try Self.insert(db, token)
            return true
        }
    }

    package func fail(_ records: [Pass1Record], token: AuthToken) async throws {
        // The sync also brings the reservation, written just before, to the disk.
        try await write(durable: true) { db in
            for record in records {
                try db.execute(sql: "DELETE FROM pass1 WHERE number = ?", arguments: [record.number])
            }
            try Self.insert(db, token)
        }
    }

    package func refund(idHash: [UInt8]) async throws {
        try await write { db in try Self.refund(db, idHash) }
    }

    package func saveToken(_ token: AuthToken) async throws {
        try await write { db in try Self.insert(db, token) }
    }

    package func takeToken(ottHash: [UInt8], at now: Moment) async throws -> AuthToken? {
        try await write { db in
            let row = try Row.fetchOne(
                db, sql: "DELETE FROM token WHERE ott_hash = ? RETURNING id_hash, status, expires",
                arguments: [Data(ottHash)])
            guard let row else { return nil }
            let token = AuthToken(
                ottHash: ottHash, idHash: Array(row["id_hash"] as Data), status: row["status"],
                expires: Moment(microseconds: row["expires"]))
            return token.expires > now ? token : nil
        }
    }

    private static func refund(_ db: Database, _ idHash: [UInt8]) throws {
        try db.execute(
            sql: "UPDATE identity SET attempts = attempts - 1 WHERE id_hash = ? AND attempts > 0",
            arguments: [Data(idHash)])
    }

    private static func insert(_ db: Database, _ token: AuthToken) throws {
        try db.execute(
            sql: "INSERT INTO token (ott_hash, id_hash, status, expires) VALUES (?, ?, ?, ?)",
            arguments: [Data(token.ottHash), Data(token.idHash), token.status, token.expires.microseconds])
    }
}
