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

    /// A member of the backend's settings as text, such as `setDeviceName`; empty where there is none.
    public func setting(_ name: String) async throws(MPinError) -> String {
        try await perform { sdk throws(SDKError) in try sdk.clientParam(name) }
    }

    /// Adds a domain to the trusted ones, which are compared by whole labels; then https is demanded.
    public func trustDomain(_ domain: String) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.addTrustedDomain(domain) }
    }

    /// The user of that id at the current backend; a new one, in state invalid, where none is known.
    ///
    /// At a server of several customers the same id at another customer, or another of its applications, is another user:
    /// nil means any, an empty text the one that the server will name.
    public func makeUser(
        _ id: String, deviceName: String? = nil, customerID: String? = nil, appID: String? = nil
    ) async throws(MPinError) -> User {
        try await perform { sdk throws(SDKError) in
            User(core: try sdk.makeNewUser(id, deviceName: deviceName, customerID: customerID, appID: appID))
        }
    }

    /// The user of that id at the current backend, of any customer and application unless they are named; nil where none
    /// is known.
    public func user(
        _ id: String, customerID: String? = nil, appID: String? = nil
    ) async throws(MPinError) -> User? {
        try await perform { sdk throws(SDKError) in
            try sdk.user(id, customerID: customerID, appID: appID).map(User.init(core:))
        }
    }

    /// The users of all backends, by id, then by backend, customer and application.
    public func users() async throws(MPinError) -> [User] {
        try await perform { sdk throws(SDKError) in try sdk.listAllUsers().map(User.init(core:)) }
    }

    /// Erases the users of all backends with their tokens here. The servers are not told.
    public func deleteUsers() async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.deleteUsers() }
    }

    /// Erases a user with its token here. The server is not told.
    public func delete(_ user: User) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.deleteUser(user.core) }
    }
}
