import MPinStore

/// A logout that clients must be told of (OpenID Connect Back-Channel Logout 1.0). It is stored until all of them know,
/// or there were too many tries, so that it outlives an end of the server.
package struct LogoutNotice: Sendable, Equatable, Codable, Storable {
    /// How many times a client is tried.
    package static let maxTries = 5
    /// The seconds from a try to the next.
    private static let pauses = [5, 30, 120, 600]
    /// The seconds within which a try must end. After that, another server with the same store may begin the next.
    package static let tryingSeconds = 30
    /// The seconds after which a notice that nobody could send is forgotten.
    static let lifetime = 86_400

    /// The notice's name in the store.
    package let key: String
    /// The user who was logged out, and the M-Pin ID of the login, in hex.
    package let userID: String
    package let mpinID: String
    /// The session that has ended. Nil if the user has ended all logins.
    package let sessionID: String?
    /// The ids of the clients that do not know yet.
    package fileprivate(set) var clients: [String]
    /// The tries so far, with the one that is under way.
    package fileprivate(set) var tries = 0
    /// When the next try may begin.
    fileprivate(set) var next: Moment
    /// The random name of whoever makes the present try.
    fileprivate var sender = ""

    init(_ login: UserLogin, key: String, sessionID: String?, clients: [String], at now: Moment) {
        self.key = key
        userID = login.userID
        mpinID = login.mpinID
        self.sessionID = sessionID
        self.clients = clients
        next = now
    }

    /// Whether the present try is the last one.
    package var isLastTry: Bool { tries >= Self.maxTries }

    /// Lets `sender` begin a try. Returns false if it is not time for one.
    fileprivate mutating func begin(by sender: String, at now: Moment) -> Bool {
        // The change of an item may run twice, so this accepts a sender that has already begun.
        guard self.sender != sender else { return true }
        guard next <= now else { return false }
        self.sender = sender
        tries += 1
        next = now.adding(seconds: Self.tryingSeconds)
        return true
    }

    /// Notes the result of a try. Returns false if there is nothing left to do.
    fileprivate mutating func settle(told: Set<String>, at now: Moment) -> Bool {
        clients.removeAll(where: told.contains)
        guard !clients.isEmpty, !isLastTry, Self.pauses.indices.contains(tries - 1) else { return false }
        next = now.adding(seconds: Self.pauses[tries - 1])
        return true
    }
}

/// The logouts that clients must still be told of.
struct LogoutNotices: Sendable {
    private let table: Table<LogoutNotice>

    init(in store: any Store) { table = Table("oidc_logout", in: store) }

    func key(_ key: String) -> ItemKey { table.key(key) }

    func add(_ notice: LogoutNotice, at now: Moment) async throws {
        try await table.update(notice.key, at: now, .durable) { $0 = Self.entry(notice, at: now) }
    }

    static func entry(_ notice: LogoutNotice, at now: Moment) -> Table<LogoutNotice>.Entry {
        .init(notice, expires: now.adding(seconds: LogoutNotice.lifetime))
    }

    /// Returns the notice if its next try may begin, and reserves the try for the caller.
    func begin(_ key: String, at now: Moment) async throws -> LogoutNotice? {
        let sender = try OpaqueToken.random().text
        return try await table.update(key, at: now) { entry in
            guard var notice = entry?.value, notice.begin(by: sender, at: now) else { return nil }
            entry?.value = notice
            return notice
        }
    }

    /// Returns the keys of the notices whose next try may begin.
    func due(at now: Moment) async throws -> [String] {
        try await table.all(at: now).filter { $0.value.next <= now }.map(\.key)
    }

    func settle(_ key: String, told: Set<String>, at now: Moment) async throws {
        try await table.update(key, at: now) { entry in
            guard var notice = entry?.value else { return }
            let goesOn = notice.settle(told: told, at: now)
            if goesOn { entry?.value = notice } else { entry = nil }
        }
    }
}
