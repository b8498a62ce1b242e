import MPinHTTP
import MPinSecrets
import MPinWire

/// What an initialised ``SDK`` knows: users, backend, store. Used by one thread at a time.
final class Core {
    let random: RandomSource
    let now: Clock
    let log: Log?
    private let retryMilliseconds: UInt32
    let rpsPrefix: String
    private let policy: HTTPPolicy
    private let transport: any HTTPTransport
    private let store: UserStore
    var backend: Backend?
    private var users: [IdentityKey: User] = [:]
    /// Keys of stored users that the app has told to forget, until it registers them anew or deletes them.
    private var forgotten: Set<IdentityKey> = []
    private var storeVersion: UInt64 = 0
    private(set) var damagedRecords = 0
    /// Those of the operation that is under way.
    var limits: CallLimits?

    init(_ config: SDKConfig, _ environment: Environment) throws(SDKError) {
        policy = try Self.policy(config)
        transport = environment.makeTransport(policy)
        store = try UserStore(config, environment)
        random = environment.random
        now = environment.now
        log = environment.log
        retryMilliseconds = environment.retryMilliseconds
        rpsPrefix = config.rpsPrefix
        try load()
    }

    /// Users that the program still holds keep no secret.
    deinit {
        for user in users.values { user.forgetSecrets() }
    }

    func caller(_ limits: CallLimits, _ settings: RequestSettings) -> Caller {
        var policy = policy
        policy.trustedDomains = settings.trustedDomains
        return Caller(
            transport: transport, policy: policy, headers: settings.headers, limits: limits, reach: backend?.reach,
            retryMilliseconds: retryMilliseconds, log: log)
    }

    private static func policy(_ config: SDKConfig) throws(SDKError) -> HTTPPolicy {
        var policy = HTTPPolicy(allowInsecure: config.allowInsecure, caFile: config.caFile)
        policy.proxy = config.proxy
        policy.pinnedKeys = config.pinnedKeys
        guard policy.isWellFormed else {
            throw SDKError(
                .invalidArgument, "config.proxy is no http URL, or config.pinned_keys no list of sha256//BASE64")
        }
        // libcurl would wait for the writer of a pipe. What is not there is for the first request to tell.
        if let caFile = config.caFile, PlainFile.mayWait(caFile) {
            throw SDKError(.invalidArgument, "config.ca_file: \(caFile) is not a regular file")
        }
        return policy
    }

    // MARK: Users

    /// Keeps a user that was made and is not stored.
    func add(_ user: User) -> User {
        users[user.key] = user
        return user
    }

    /// The first by customer and application, of which nil means any. One that was only made hides no other.
    func user(_ id: String, customerID: String?, appID: String?) throws(SDKError) -> User? {
        let site = IdentityKey.site(try currentBackend().url)
        return users.filter { key, _ in
            key.userID == id && key.site == site && key.customerID == customerID ?? key.customerID
                && key.appID == appID ?? key.appID
        }.min { left, right in
            (left.value.state == .invalid ? 1 : 0, left.key) < (right.value.state == .invalid ? 1 : 0, right.key)
        }?.value
    }

    /// By id, then by backend, customer and application; nil: of all backends.
    func listUsers(backend: String?) -> [User] {
        let site = backend.map(IdentityKey.site)
        return users.filter { key, user in user.state != .invalid && key.site == site ?? key.site }
            .sorted { $0.key < $1.key }.map(\.value)
    }

    func clearUsers() {
        for user in users.values { user.forgetSecrets() }
        forgotten.formUnion(users.filter { $0.value.state != .invalid }.keys)
        users = [:]
    }

    func delete(_ user: User) throws(SDKError) {
        let key = user.key
        let isKnown = users[key] === user
        let isBegun = user.state != .invalid
        // A forgotten user is still stored, for its handle and for one that was made anew.
        let isStored = forgotten.contains(key) ? isKnown || isBegun : isKnown && isBegun
        if isStored { try save(user) { $0 = nil } }
        if isKnown { users[key] = nil }
        user.erase()
    }

    /// All of them, of all backends.
    func deleteUsers() throws(SDKError) {
        try store.removeAll(within: limits)
        for user in users.values { user.erase() }
        users = [:]
        forgotten = []
        damagedRecords = 0
    }

    /// The user is one of these, its backend is the current one, and `input` may happen to it.
    func check(_ user: User, allows input: UserLifecycle.Input) throws(SDKError) {
        guard users[user.key] === user else { throw SDKError(.flowError, "the user was deleted or is not of this sdk") }
        guard user.key.site == IdentityKey.site(try currentBackend().url) else {
            throw SDKError(.flowError, "the user belongs to another backend than the current one")
        }
        guard user.lifecycle.allows(input) else {
            throw SDKError(.flowError, "not in state \(user.state.name): \(user.state.wayOn)")
        }
    }

    /// ``check(_:allows:)``, and the state that follows.
    func next(_ user: User, _ input: UserLifecycle.Input) throws(SDKError) -> UserState {
        try check(user, allows: input)
        var lifecycle = user.lifecycle
        _ = lifecycle.apply(input)
        return lifecycle.state
    }

    // MARK: Store

    /// Changes the stored record of a user, nil for none, and then every user in memory to what is stored. A user that
    /// turns out to be a forgotten one takes its place.
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

    /// Stores the records whose users are not known yet, and takes them over. Returns their number.
    func add(_ records: [UserRecord]) throws(SDKError) -> Int {
        if records.isEmpty { return 0 }
        let (all, added) = try store.add(records, within: limits)
        adopt(all)
        damagedRecords = 0
        return added
    }

    /// Takes over what other processes have stored meanwhile.
    func refresh() throws(SDKError) {
        if store.version != storeVersion { try load() }
    }

    private func load() throws(SDKError) {
        // Before the reading: what is stored in between is read again.
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
