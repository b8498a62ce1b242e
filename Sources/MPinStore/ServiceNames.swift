import Synchronization

/// What the names of a service begin with in stores that other services may use, too: items and locks of the short-lived
/// store, signals and counters. Without it, a login at one service would be a login at each other one.
///
/// While servers of the version before use the same stores, names carry nothing, because these servers would not find
/// them. ``carry(_:)`` changes the names of all stores of the process at once. What is there under the names of before is
/// not found any more, and expires.
package final class ServiceNames: Sendable {
    private let value: Mutex<String?>

    /// `service`: the id of the service, letters and digits.
    package init(_ service: String? = nil) { value = Mutex(service) }

    /// The id that the names carry. Nil while they carry none.
    package var service: String? { value.withLock { $0 } }

    /// Lets all names carry the id from now on.
    package func carry(_ service: String) { value.withLock { $0 = service } }

    /// The name of a table or bucket. Our own names contain no dot, so those of two services are never the same.
    func own(_ name: String) -> String { service.map { "\($0).\(name)" } ?? name }

    func own(_ key: ItemKey) -> ItemKey { service.map { ItemKey("\($0).\(key.table)", key.key) } ?? key }
}

/// Keeps two services, whose names carry no id yet, from using one short-lived store under the same names.
package enum StoreClaim {
    private static let key = ItemKey("service", "claim")
    /// Seconds for which a claim is good, and after which it is made anew.
    private static let (life, renewal) = (600, 60)

    /// Claims the store for the service. False, and nothing is changed, if another service has claimed it in the last ten
    /// minutes.
    package static func hold(_ store: any Store, for service: String, at now: Moment) async throws -> Bool {
        let claim = StoredItem(value: Array(service.utf8), expires: now.adding(seconds: life))
        let isRecent = now.adding(seconds: life - renewal)
        return try await store.update(key, at: now, .ordered) { item in
            guard let found = item else {
                item = claim
                return true
            }
            guard found.value == claim.value else { return false }
            if let expires = found.expires, expires <= isRecent { item = claim }
            return true
        }
    }
}
