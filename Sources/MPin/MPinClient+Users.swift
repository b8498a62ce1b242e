public import MPinSDK

/// Backend and users.
extension MPinClient {
    /// Requests the settings of a backend to test it, and does not store them. If `prefix` is nil, the configured one
    /// is used.
    public func testBackend(_ url: String, prefix: String? = nil) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.testBackend(url, prefix: prefix) }
    }

    /// Uses a backend from now on. After an error, the previous one stays in use.
    public func setBackend(_ url: String, prefix: String? = nil) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.setBackend(url, prefix: prefix) }
    }

    /// Asks a web page which service it offers.
    public func service(at url: String) async throws(MPinError) -> Service {
        try await perform { sdk throws(SDKError) in try sdk.serviceDetails(url) }
    }

    /// One of the backend's settings as text, such as `setDeviceName`; empty if there is none.
    public func setting(_ name: String) async throws(MPinError) -> String {
        try await perform { sdk throws(SDKError) in try sdk.clientParam(name) }
    }

    /// Adds a domain to the trusted ones. Requests then go only to trusted domains and their subdomains, and only by
    /// https.
    public func trustDomain(_ domain: String) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.addTrustedDomain(domain) }
    }

    /// The user with that id at the current backend. An unknown user is made, in state invalid.
    ///
    /// A server may have several customers with several applications; the same id at another customer or application is
    /// another user. For `customerID` and `appID`, nil means any, and an empty text means the one that the server will
    /// name.
    public func makeUser(
        _ id: String, deviceName: String? = nil, customerID: String? = nil, appID: String? = nil
    ) async throws(MPinError) -> User {
        try await perform { sdk throws(SDKError) in
            User(core: try sdk.makeNewUser(id, deviceName: deviceName, customerID: customerID, appID: appID))
        }
    }

    /// The user with that id at the current backend, or nil. A customer or application that is nil means any.
    public func user(
        _ id: String, customerID: String? = nil, appID: String? = nil
    ) async throws(MPinError) -> User? {
        try await perform { sdk throws(SDKError) in
            try sdk.user(id, customerID: customerID, appID: appID).map(User.init(core:))
        }
    }

    /// The users of all backends, sorted by id, then by backend, customer and application.
    public func users() async throws(MPinError) -> [User] {
        try await perform { sdk throws(SDKError) in try sdk.listAllUsers().map(User.init(core:)) }
    }

    /// Erases all users of all backends, with their tokens, from this device. The servers are not told.
    public func deleteUsers() async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.deleteUsers() }
    }

    /// Erases a user and its token from this device. The server is not told.
    public func delete(_ user: User) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.deleteUser(user.core) }
    }
}
