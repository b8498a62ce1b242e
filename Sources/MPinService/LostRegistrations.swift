import Foundation
package import MPinStore
import MPinWire

/// The registrations that a restore of the database may have lost. Their users are told to register again, and not that
/// the PIN is wrong.
///
/// An M-Pin ID contains the time when it was issued. This server knows no ID that was issued after the newest one in
/// the backup and before the restore, and never will. So giving this answer to all IDs with such a time, even to
/// invented ones, does not reveal which IDs exist.
package struct LostRegistrations: Sendable {
    /// A period of time in microseconds since 1970.
    private struct Times: Codable, Storable {
        var after: Int64
        var until: Int64
    }

    private static let setting = "times"
    private let times: [Times]
    /// Keys of the registrations that were pending in the backup and may have been finished afterwards.
    private let pending: Set<String>

    /// Reads the notes that restores have left in the store.
    package init(in store: any Store, at now: Moment) async throws {
        times = try await Self.table(store).read(Self.setting, at: now) ?? []
        var found: Set<String> = []
        try await Self.each(Table<Bool>("lost_registration", in: store), at: now) { key, _ in found.insert(key) }
        pending = found
    }

    package func contains(_ id: MPinID) -> Bool {
        guard !times.isEmpty else { return false }
        let issued = id.issued?.microseconds
        let isInLostTime = issued.map { issued in times.contains { $0.after < issued && issued <= $0.until } } ?? false
        return pending.contains(id.key) || isInLostTime
    }

    /// Writes into a backup, before it replaces the database, which registrations the restore may lose: those of the
    /// period since the newest ID in the backup, and those that are pending in the backup.
    package static func note(in store: any Store, at now: Moment) async throws {
        let pending = Table<Bool>("lost_registration", in: store)
        var newest = Int64(0)
        try await each(Table<IdentityRecord>("identity", in: store), at: now) { _, record in
            newest = max(newest, MPinID(hex: record.mpinID)?.issued?.microseconds ?? 0)
        }
        try await each(Table<Registration>("registration", in: store), at: now) { _, registration in
            newest = max(newest, registration.id.issued?.microseconds ?? 0)
            try await pending.update(registration.id.key, at: now) { $0 = .init(true) }
        }
        // The period begins at the next full second, because the exact time of the newest registration is part of a
        // user's M-Pin ID, which is private.
        let times = Times(after: (newest / 1_000_000 + 1) * 1_000_000, until: now.microseconds)
        try await table(store).update(setting, at: now, .durable) { entry in
            entry = .init((entry?.value ?? []) + [times])
        }
    }

    private static func table(_ store: any Store) -> Table<[Times]> { Table("lost_registrations", in: store) }

    private static func each<Value>(
        _ table: Table<Value>, at now: Moment, _ work: (String, Value) async throws -> Void
    ) async throws {
        var last: String?
        while true {
            let page = try await table.list(after: last, limit: 500, at: now)
            for (key, value) in page { try await work(key, value) }
            guard let end = page.last else { return }
            last = end.key
        }
    }
}

extension MPinID {
    /// When the ID was issued, as its JSON text says. The time proves nothing, because anybody can invent an ID.
    var issued: Moment? {
        guard let content = try? JSON.decode(JSONValue.self, from: bytes.span) else { return nil }
        // An ID of version 5 has whole seconds only. It counts as issued at their end, so that no restore takes an ID
        // that it has lost for an older one.
        if case .int(let seconds)? = content["iat"], (0...253_402_300_799).contains(seconds) {
            return Moment(microseconds: Int64(seconds) * 1_000_000 + 999_999)
        }
        guard case .string(let text)? = content["issued"],
            let start = Moment(String(text.prefix(19)).replacing(" ", with: "T") + "Z")
        else { return nil }
        let fraction = text.dropFirst(19)
        guard !fraction.isEmpty else { return start }
        guard fraction.utf8.count == 7, fraction.first == ".", let microseconds = Int64(fraction.dropFirst()),
            microseconds >= 0
        else { return nil }
        return Moment(microseconds: start.microseconds + microseconds)
    }
}
