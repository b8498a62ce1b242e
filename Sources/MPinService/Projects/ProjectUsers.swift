import MPinSecrets
import MPinStore

/// The name spaces of projects: users whom a project's own back end has verified (``UserKey``).
extension AuthenticationService {
    /// Refuses a user id whose user would be shown as one of another name space is (``UserKey/shown``): a user of the
    /// server whose id begins with the id of a project and a slash, and a user of a project if the server has a user of
    /// that name already. Who has such a name from before there was the project keeps it.
    func requireOwnName(_ user: UserKey) async throws {
        let now = now
        guard user.project == nil else {
            let isTaken = try await devices.hasDevices(UserKey(user.shown), at: now)
            if isTaken { throw ServiceError.badUserID("is the name of another user with the project's id before it") }
            return
        }
        guard let project = UserKey(shown: user.userID)?.project, try await projects.find(project, at: now) != nil,
            try await !devices.hasDevices(user, at: now)
        else { return }
        throw ServiceError.badUserID("must not begin with the id of a project and a slash")
    }

    /// Whether an identity is revoked to a website, which knows users of the server only: so are all of users of projects.
    package func isRevokedToWebsites(_ id: MPinID) async throws -> Bool {
        if try await identities.find(id, at: now)?.user.project != nil { return true }
        return try await isRevoked(id)
    }
}

/// Moves the users whom back ends have verified into the name spaces of their projects. Versions before had one name space
/// for all users.
///
/// An M-Pin ID tells that a back end has verified its user; then nothing but the index of devices changes. One that comes
/// from another identity, or is of version 1, did not tell. It follows the identity that it came from, if that is known.
/// Otherwise it is guessed to be of the project if a back end has verified that user id there, or may verify the users of
/// version 1; such a guess is reported.
struct UserSeparation {
    let store: any Store
    let identities: Identities
    let devices: Devices
    let projects: Projects
    let observer: ServiceObserver
    let now: Moment

    /// For how many days identities are looked at again at each start: servers of the version before may still register
    /// some.
    private static let days = 30
    private static let (mark, again) = ("users of projects", "users of projects, again")

    /// The users of projects who are the same to the OpenID clients of their project as before, when their user ids had no
    /// name space. The table has ``UserKey/text`` as keys.
    static func kept(in store: any Store) -> Table<Bool> { Table("kept_name", in: store) }

    /// Runs at the first start, and at those of the next days.
    func run() async throws {
        let done = Table<Bool>("packed", in: store)
        let isFirst = try await !done.contains(Self.mark, at: now)
        let isAgain = try await done.contains(Self.again, at: now)
        guard isFirst || isAgain else { return }
        let found = try await find()
        for (key, record) in found.doubtful { try await settle(key, record, found) }
        guard isFirst else { return }
        try await keepNames()
        _ = try await done.create(
            Self.again, true, expires: now.adding(seconds: Self.days * 86_400), at: now)
        _ = try await done.create(Self.mark, true, at: now)
    }

    /// What a pass over all identities has found.
    private struct Found {
        /// The users whom back ends have verified for certain.
        var users: Set<UserKey> = []
        /// The identities that do not tell where they come from.
        var doubtful: [(key: String, record: IdentityRecord)] = []
        /// The keys of identities whose places were taken, by those of their successors.
        var origins: [String: String] = [:]
        /// The projects whose back ends verify the users of version 1.
        var verifying: Set<String> = []
    }

    private func find() async throws -> Found {
        var found = Found()
        found.verifying = Set(try await projects.list(at: now).filter { $0.newUserURL != nil }.map(\.id))
        try await each { key, record in
            if record.isReplaced { found.origins[record.successorKey] = key }
            if record.user.project != nil {
                found.users.insert(record.user)
                try await devices.move(identity: key, from: UserKey(record.user.userID), to: record.user, at: now)
            } else if MPinID(hex: record.mpinID)?.tellsOrigin == false {
                found.doubtful.append((key, record))
            }
        }
        return found
    }

    private func settle(_ key: String, _ record: IdentityRecord, _ found: Found) async throws {
        guard let id = MPinID(hex: record.mpinID), let project = id.projectID else { return }
        let origin = try await origin(of: key, found)
        let isGuess = origin == nil
        guard try await isOfProject(id, origin, record.user, project, found) else { return }
        let (old, new) = (record.user, UserKey(record.user.userID, of: project))
        try await devices.move(identity: key, from: old, to: new, at: now)
        try await identities.move(key, to: new, at: now)
        observer(.separated(id, user: new.text, isGuess: isGuess))
    }

    private func isOfProject(
        _ id: MPinID, _ origin: IdentityRecord?, _ user: UserKey, _ project: String, _ found: Found
    ) async throws -> Bool {
        if let origin { return origin.user.project != nil }
        return found.users.contains(UserKey(user.userID, of: project))
            || id.verification == nil && found.verifying.contains(project)
    }

    /// The identity that the one with this key comes from, and that tells where its user comes from. Nil if it is not
    /// known.
    private func origin(of key: String, _ found: Found) async throws -> IdentityRecord? {
        var (key, seen): (String, Set<String>) = (key, [])
        while seen.insert(key).inserted {
            var before = found.origins[key]
            if before == nil { before = try await Renewals(in: store).replaced(by: key, at: now) }
            guard let before, let record = try await identities.find(key: before, at: now) else { return nil }
            if record.user.project != nil || MPinID(hex: record.mpinID)?.tellsOrigin == true { return record }
            key = before
        }
        return nil
    }

    /// Notes who keeps its name at clients: a user of a project, if the server has no user of that user id, and no other
    /// project that shares a client has one.
    private func keepNames() async throws {
        var owners: [String: Set<String>] = [:]
        try await each { _, record in
            if let project = record.user.project { owners[record.user.userID, default: []].insert(project) }
        }
        guard !owners.isEmpty else { return }
        try await each { _, record in if record.user.project == nil { owners[record.userID] = nil } }
        let clients = Dictionary(
            try await projects.list(at: now).map { ($0.id, Set($0.clients ?? [])) }, uniquingKeysWith: { $1 })
        for (userID, projects) in owners {
            for project in projects {
                let others = projects.subtracting([project]).map { clients[$0] ?? [] }
                guard others.allSatisfy({ $0.isDisjoint(with: clients[project] ?? []) }) else { continue }
                _ = try await Self.kept(in: store).create(UserKey(userID, of: project).text, true, at: now)
            }
        }
    }

    /// Runs `work` for each registered identity. A record that cannot be read is left out.
    private func each(_ work: (String, IdentityRecord) async throws -> Void) async throws {
        var last: String?
        repeat {
            let page = try await store.list("identity", after: last, limit: 500, at: now)
            for (key, item) in page {
                if let record = try? IdentityRecord(stored: item.value) { try await work(key, record) }
            }
            last = page.last?.key
        } while last != nil
    }
}

extension IdentityRecord {
    fileprivate var successorKey: String { Hex.encode(successor) }
}
