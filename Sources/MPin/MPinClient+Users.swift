import MPinSDK

/// Backend and users.
extension MPinClient {
    /// Asks a backend for its settings and keeps nothing. `prefix` nil: the configured one.
    public func testBackend(_ url: String, prefix: String? = nil) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.testBackend(url, prefix: prefix) }
    }

    /// Uses a backend from now on; on failure the former one stays.
    public func setBackend(_ url: String, prefix: String? = nil) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.setBackend(url, prefix: prefix) }
    }

    /// The service that a web page offers.
    public func service(at url: String) async throws(MPinError) -> Service {
        try await perform { sdk throws(SDKError) in Service(try sdk.serviceDetails(url)) }
    }

    /// Adds a domain to the trusted ones, which are compared by whole labels; then https is demanded.
    public func trustDomain(_ domain: String) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.addTrustedDomain(domain) }
    }

    /// The user of that id at the current backend; a new one, in state invalid, where none is known.
    public func makeUser(_ id: String, deviceName: String? = nil) async throws(MPinError) -> User {
        try await perform { sdk throws(SDKError) in User(core: try sdk.makeNewUser(id, deviceName: deviceName)) }
    }

    /// The user of that id at the current backend; nil where none is known.
    public func user(_ id: String) async throws(MPinError) -> User? {
        try await perform { sdk throws(SDKError) in try sdk.user(id).map(User.init(core:)) }
    }

    /// The users of all backends, by id.
    public func users() async throws(MPinError) -> [User] {
        try await perform { sdk throws(SDKError) in try sdk.listAllUsers().map(User.init(core:)) }
    }

    /// Erases a user with its token here. The server is not told.
    public func delete(_ user: User) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.deleteUser(user.core) }
    }
}
