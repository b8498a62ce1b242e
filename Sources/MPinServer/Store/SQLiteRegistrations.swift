import Foundation
import GRDB

extension SQLiteStore {
    package func save(_ registration: Registration) async throws {
        try await write(durable: true) { db in
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO registration
                        (id_hash, mpin_id, user_id, reg_ott_hash, active, issued, expires) VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    Data(registration.id.hash), registration.id.hex, registration.userID, Data(registration.regOTTHash),
                    registration.isActive, registration.isIssued, registration.expires.microseconds,
                ])
        }
    }

    package func registration(_ id: MPinID, at now: Moment) async throws -> Registration? {
        try await read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT * FROM registration WHERE id_hash = ? AND expires > ?",
                arguments: [Data(id.hash), now.microseconds])
            guard let row else { return nil }
            return Registration(
                id: id, userID: row["user_id"], regOTTHash: Array(row["reg_ott_hash"] as Data),
                isActive: row["active"], isIssued: row["issued"], expires: Moment(microseconds: row["expires"]))
        }
    }

    package func deleteRegistration(_ id: MPinID) async throws {
        try await write { db in
            try db.execute(sql: "DELETE FROM registration WHERE id_hash = ?", arguments: [Data(id.hash)])
        }
    }

    package func activate(_ id: MPinID, at now: Moment) async throws -> Bool {
        try await write(durable: true) { db in
            try db.execute(
                sql: "UPDATE registration SET active = 1 WHERE id_hash = ? AND issued = 0 AND expires > ?",
                arguments: [Data(id.hash), now.microseconds])
            return db.changesCount == 1
        }
    }

    package func complete(_ id: MPinID, at now: Moment, refetchUntil expires: Moment) async throws -> Bool {
        try await write(durable: true) { db in
            // Only the first time sets the end of the time to fetch again: it cannot be drawn out.
            try db.execute(
                sql: """
                    UPDATE registration SET issued = 1, expires = CASE issued WHEN 0 THEN ? ELSE expires END
                    WHERE id_hash = ? AND active = 1 AND expires > ?
                    """,
                arguments: [expires.microseconds, Data(id.hash), now.microseconds])
            guard db.changesCount == 1 else { return false }
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO identity (id_hash, mpin_id, user_id, registered)
                    SELECT id_hash, mpin_id, user_id, ? FROM registration WHERE id_hash = ?
                    """,
                arguments: [now.microseconds, Data(id.hash)])
            return true
        }
    }

    package func identity(hash: [UInt8]) async throws -> RegisteredIdentity? {
        try await read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT mpin_id, user_id, attempts FROM identity WHERE id_hash = ?", arguments: [Data(hash)])
            guard let row, let id = MPinID(hex: row["mpin_id"]) else { return nil }
            return RegisteredIdentity(id: id, userID: row["user_id"], attempts: row["attempts"])
        }
    }
}
