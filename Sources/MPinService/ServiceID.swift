package import MPinSecrets
package import MPinStore

/// The id of a service: 128 random bits in hex. It is made once, in the lasting database, and is a part of every name in
/// the stores that other services may use, too (``ServiceNames``).
///
/// It is bound to the service's key file, so that a copy of the database under other keys is not taken for this service. A
/// copy under the same keys is the same service, until ``renew(in:key:at:)`` gives it another id.
package struct ServiceID: Sendable, Equatable {
    /// 32 hex digits.
    package let text: String
    /// From this moment on names carry the id. Nil while servers of the version before may use the stores, too.
    package let sealed: Moment?

    /// The id belongs to a service with another key file.
    package struct ForeignKey: Error {}

    /// How long before names change the servers learn it. They look each ``watchSeconds``.
    private static let notice = 4
    /// Seconds after which a server looks again whether names are to carry the id.
    package static let watchSeconds = 1

    private enum Setting {
        static let id = ItemKey("setting", "service")
        static let binding = ItemKey("setting", "service_key")
        static let sealed = ItemKey("setting", "sealed")
        /// The id after a renewal that was begun.
        static let next = ItemKey("setting", "service_next")
        /// Every version has made it at the first start.
        static let appID = ItemKey("setting", "app_id")
    }
}

extension ServiceID {
    /// The id of the service with this lasting database. If it has none, makes one; in a database that no server has used
    /// yet, names carry it at once. Several servers may do so together. `key`: 32 bytes. Throws ``ForeignKey`` if the id is
    /// bound to another key.
    package static func find(in store: any Store, key: SecretBytes, at now: Moment) async throws -> ServiceID {
        let new = Hex.encode(try randomBytes(16))
        let (made, ofNew) = (Entry(new), Entry(binding(of: new, key)))
        let keys = [Setting.id, Setting.binding, Setting.sealed, Setting.appID]
        let (id, bound, sealed) = try await store.transaction(keys, at: now, .durable) { items in
            if items[Setting.id] == nil {
                if items[Setting.appID] == nil { items[Setting.sealed] = try Table<String>.item(Entry("0")) }
                items[Setting.id] = try Table<String>.item(made)
                items[Setting.binding] = try Table<String>.item(ofNew)
            }
            return (
                try Self.text(items[Setting.id]), try Self.text(items[Setting.binding]),
                try Self.text(items[Setting.sealed])
            )
        }
        guard let id else { throw ForeignKey() }
        try require(bound, of: id, key)
        return ServiceID(text: id, sealed: moment(sealed))
    }

    /// The id of the service, if it has one. Throws ``ForeignKey`` if it is bound to another key than `key`, 32 bytes.
    package static func read(in store: any Store, key: SecretBytes, at now: Moment) async throws -> ServiceID? {
        guard let id = try await read(in: store, at: now) else { return nil }
        try require(text(await store.read(Setting.binding, at: now)), of: id.text, key)
        return id
    }

    private static func require(_ bound: String?, of id: String, _ key: SecretBytes) throws {
        let right = Array(binding(of: id, key).utf8)
        guard let bound, constantTimeEqual(Array(bound.utf8).span, right.span) else { throw ForeignKey() }
    }

    /// The id of the service, without a look at its key. Nil if no server of this version has used the database.
    package static func read(in store: any Store, at now: Moment) async throws -> ServiceID? {
        guard let id = try text(await store.read(Setting.id, at: now)) else { return nil }
        return ServiceID(text: id, sealed: try await sealed(in: store, at: now))
    }

    /// From when on names carry the id; nil: it is not decided.
    package static func sealed(in store: any Store, at now: Moment) async throws -> Moment? {
        moment(try text(await store.read(Setting.sealed, at: now)))
    }

    /// Decides that names carry the id, because all servers know it. The servers change their names together, four seconds
    /// from now. Returns that moment, or the one that was decided before.
    @discardableResult
    package static func seal(in store: any Store, at now: Moment) async throws -> Moment {
        let begin = now.adding(seconds: notice)
        return try await store.update(Setting.sealed, at: now, .durable) { item in
            if let there = Self.moment(try Self.text(item)) { return there }
            item = try Table<String>.item(Entry(String(begin.microseconds)))
            return begin
        }
    }

    /// Begins to give the service another id, and returns that: the one of a renewal that was interrupted, if there is one.
    /// Until ``renew(in:key:at:)`` no server may use the database.
    package static func beginRenewal(in store: any Store, at now: Moment) async throws -> String {
        let new = Hex.encode(try randomBytes(16))
        return try await store.update(Setting.next, at: now, .durable) { item in
            if let there = try Self.text(item) { return there }
            item = try Table<String>.item(Entry(new))
            return new
        }
    }

    /// Whether a renewal was begun that has not ended.
    package static func isRenewing(in store: any Store, at now: Moment) async throws -> Bool {
        try await store.read(Setting.next, at: now) != nil
    }

    /// Gives the service another id, bound to `key`: that of ``beginRenewal(in:at:)``, if it was called.
    package static func renew(in store: any Store, key: SecretBytes, at now: Moment) async throws -> ServiceID {
        let new = try await beginRenewal(in: store, at: now)
        let (id, bound) = (Entry(new), Entry(binding(of: new, key)))
        try await store.transaction([Setting.id, Setting.binding, Setting.next], at: now, .durable) { items in
            items[Setting.id] = try Table<String>.item(id)
            items[Setting.binding] = try Table<String>.item(bound)
            items[Setting.next] = nil
        }
        return ServiceID(text: new, sealed: try await sealed(in: store, at: now))
    }

    /// Lets a database that was made before there were ids have that of the database that it replaces.
    package static func keep(from old: any Store, in store: any Store, at now: Moment) async throws {
        guard let id = try await old.read(Setting.id, at: now), let bound = try await old.read(Setting.binding, at: now)
        else { return }
        try await store.transaction([Setting.id, Setting.binding], at: now, .durable) { items in
            guard items[Setting.id] == nil else { return }
            items[Setting.id] = id
            items[Setting.binding] = bound
        }
    }

    /// The id of a part that has no lasting database, such as a relying party application alone: all its servers have the
    /// key, 32 bytes. `part`: the name of the part.
    package static func derived(from key: SecretBytes, part: String) -> String {
        Hex.encode(Array(HMACSHA256.tag(Array("libmpin service of \(part)".utf8), key: key).prefix(16)))
    }

    private typealias Entry = Table<String>.Entry

    private static func binding(of id: String, _ key: SecretBytes) -> String {
        Hex.encode(HMACSHA256.tag(Array("libmpin service id \(id)".utf8), key: key))
    }

    private static func text(_ item: StoredItem?) throws -> String? {
        try item.map { try Table<String>.entry($0).value }
    }

    /// What is no number is a decision all the same.
    private static func moment(_ text: String?) -> Moment? { text.map { Moment(microseconds: Int64($0) ?? 0) } }
}
