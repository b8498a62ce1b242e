import MPinHTTP
import MPinSecrets
import MPinWire

/// The data of an initialised ``SDK``: users, backend, store. Only one thread at a time uses it.
final class Core {
    let random: RandomSource
    let now: Clock
    let log: Log?
    private let retryMilliseconds: UInt32
    let rpsPrefix: String
    let policy: HTTPPolicy
    let transport: any HTTPTransport
    let store: UserStore
    /// The file that the configuration names for the users; empty if the program stores them itself.
    let storagePath: String
    var backend: Backend?
    private var users: [IdentityKey: User] = [:]
    /// Keys of stored users that ``clearUsers()`` has removed from memory. They stay hidden until the app registers or
    /// deletes them.
    private var forgotten: Set<IdentityKey> = []
    private var storeVersion: UInt64 = 0
    private(set) var damagedRecords = 0
    /// The limits of the operation that is under way.
    var limits: CallLimits?

    init(_ config: SDKConfig, _ environment: Environment) throws(SDKError) {
        policy = try Self.policy(config)
        transport = environment.makeTransport(policy)
        store = try UserStore(config, environment)
        storagePath = environment.storage == nil ? config.storagePath : ""
        random = environment.random
        now = environment.now
        log = environment.log
        retryMilliseconds = environment.retryMilliseconds
        rpsPrefix = config.rpsPrefix
        try load()
    }

    /// Erases the secrets of all users, because the program may hold ``User`` objects longer than the core.
    deinit {
        for user in users.values { user.forgetSecrets() }
    }

    func caller(_ limits: CallLimits, _ settings: RequestSettings) -> Caller {
        var policy = policy
        policy.trustedDomains = settings.trustedDomains
        return Caller(
            transport: transport, policy: policy, headers: settings.headers(project: backend?.project?.id),
            limits: limits, reach: backend?.reach, retryMilliseconds: retryMilliseconds, log: log)
    }

    private static func policy(_ config: SDKConfig) throws(SDKError) -> HTTPPolicy {
        var policy = HTTPPolicy(allowInsecure: config.allowInsecure, caFile: config.caFile)
        policy.proxy = config.proxy
        policy.pinnedKeys = config.pinnedKeys
        guard policy.isWellFormed else {
            throw SDKError(
                .invalidArgument, "config.proxy is no http URL, or config.pinned_keys no list of sha256//BASE64")
        }
        // A path that is a pipe is refused, because libcurl would wait for its writer. A missing file is not refused
        // here: the first request reports it.
        if let caFile = config.caFile, PlainFile.mayWait(caFile) {
            throw SDKError(.invalidArgument, "config.ca_file: \(caFile) is not a regular file")
        }
        return policy
    }

    // MARK: Users

    /// Keeps a new user in memory without storing it.
    func add(_ user: User) -> User {
        users[user.key] = user
        return user
    }

    /// Finds the user with this id at the current backend. For customer and application, nil matches any name. If
    /// several users match, those whose registration has started come first; among them, the first in the order of
    /// customer and application is returned. Nil if no user matches.
    ///
    /// If the backend is a MIRACL Trust project, its users are found, otherwise those of the other wires.
    func user(_ id: String, customerID: String?, appID: String?) throws(SDKError) -> User? {
        let backend = try currentBackend()
        return users.filter { key, user in
            backend.has(user.record) && key.userID == id && key.customerID == customerID ?? key.customerID
                && key.appID == appID ?? key.appID
        }.min { left, right in
            (left.value.state == .invalid ? 1 : 0, left.key) < (right.value.state == .invalid ? 1 : 0, right.key)
        }?.value
    }

    /// The users of `backend`, or of all backends if `backend` is nil, whose registration has started. They are ordered
    /// by id, then by backend, customer and application.
    func listUsers(backend: String?) -> [User] {
        let site = backend.map(IdentityKey.site)
        return users.filter { key, user in user.state != .invalid && key.site == site ?? key.site }
            .sorted { $0.key < $1.key }.map(\.value)
    }

    /// The users of the current backend or project, as ``listUsers(backend:)`` orders them.
    func listUsers() throws(SDKError) -> [User] {
        let backend = try currentBackend()
        return listUsers(backend: backend.url).filter { backend.has($0.record) }
    }

    /// The user with exactly this key, over whichever wire it was registered; nil if there is none.
    func user(_ key: IdentityKey) -> User? { users[key] }

    func clearUsers() {
        for user in users.values { user.forgetSecrets() }
        forgotten.formUnion(users.filter { $0.value.state != .invalid }.keys)
        users = [:]
    }

    func delete(_ user: User) throws(SDKError) {
        let key = user.key
        let isKnown = users[key] === user
        let isBegun = user.state != .invalid
        // A user that ``clearUsers()`` has removed from memory is still in the store. Such a user can be deleted
        // through its old ``User`` object, or through a new user with the same key.
        let isStored = forgotten.contains(key) ? isKnown || isBegun : isKnown && isBegun
        if isStored { try save(user) { $0 = nil } }
        if isKnown { users[key] = nil }
        user.erase()
    }

    /// Deletes the users of all backends.
    func deleteUsers() throws(SDKError) {
        try store.removeAll(within: limits)
        for user in users.values { user.erase() }
        users = [:]
        forgotten = []
        damagedRecords = 0
    }

    /// Throws unless the user belongs to this core and to the current backend, and its state allows `input`.
    func check(_ user: User, allows input: UserLifecycle.Input) throws(SDKError) {
        guard users[user.key] === user else { throw SDKError(.flowError, "the user was deleted or is not of this sdk") }
        guard user.key.site == IdentityKey.site(try currentBackend().url) else {
            throw SDKError(.flowError, "the user belongs to another backend than the current one")
        }
        guard user.lifecycle.allows(input) else {
            throw SDKError(.flowError, "not in state \(user.state.name): \(user.state.nextStep)")
        }
    }

    /// Calls ``check(_:allows:)`` and returns the state that follows.
    func next(_ user: User, _ input: UserLifecycle.Input) throws(SDKError) -> UserState {
        try check(user, allows: input)
        var lifecycle = user.lifecycle
        _ = lifecycle.apply(input)
        return lifecycle.state
    }

    // MARK: Store

    /// Changes the stored record of a user, then updates all users in memory from the store. `change` receives nil if
    /// no record is stored, and sets nil to remove it. `change` may give the record another key. If a user that
    /// ``clearUsers()`` has removed from memory is stored under that key, that user's record is replaced.
    func save(_ user: User, _ change: (inout UserRecord?) throws(SDKError) -> Void) throws(SDKError) {
        let former = user.key
        var key = former
        let records = try store.update(former, replacing: forgotten, within: limits) { record throws(SDKError) in
            try change(&record)
            key = record?.key ?? former
            guard key == former || users[key] == nil else { throw UserStore.isKnown }
        }
        if key != former {
            users[former] = nil
            users[key] = user
            forgotten.remove(former)
        }
        forgotten.remove(key)
        adopt(records)
        damagedRecords = 0
    }

    /// Stores the records whose users are not known yet and adds these users. Returns their number.
    func add(_ records: [UserRecord]) throws(SDKError) -> Int {
        if records.isEmpty { return 0 }
        let (all, added) = try store.add(records, within: limits)
        adopt(all)
        damagedRecords = 0
        return added
    }

    /// Loads the store again if another process has changed it.
    func refresh() throws(SDKError) {
        if store.version != storeVersion { try load() }
    }

    private func load() throws(SDKError) {
        // The version is read before the content. If another process writes in between, the versions differ at the next
        // ``refresh()``, which then loads again.
        let version = store.version
        let content = try store.load()
        damagedRecords = content.damaged
        log?(.info, "the store holds \(content.records.count) users")
        if content.damaged > 0 { log?(.warning, "the store holds \(content.damaged) damaged records") }
        adopt(content.records)
        storeVersion = version
    }

    private func adopt(_ records: [UserRecord]) {
        var gone = users.filter { $0.value.state != .invalid }
        for record in records {
            guard let lifecycle = record.lifecycle, !forgotten.contains(record.key) else { continue }
            gone[record.key] = nil
            if let user = users[record.key] {
                user.adopt(record, lifecycle)
            } else {
                users[record.key] = User(record: record, lifecycle: lifecycle)
            }
        }
        for (key, user) in gone {
            user.erase()
            users[key] = nil
        }
    }
}
