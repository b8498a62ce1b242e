public import MPinSDK

/// Backend and users.
extension MPinClient {
    /// Checks that a backend answers with usable settings. The current backend stays in use. If `prefix` is nil, the
    /// configured prefix is used.
    public func testBackend(_ url: String, prefix: String? = nil) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.testBackend(url, prefix: prefix) }
    }

    /// Uses a backend from now on. After an error, the previous backend stays in use.
    public func setBackend(_ url: String, prefix: String? = nil) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.setBackend(url, prefix: prefix) }
    }

    /// Asks a web page which service it offers.
    public func service(at url: String) async throws(MPinError) -> Service {
        try await perform { sdk throws(SDKError) in try sdk.serviceDetails(url) }
    }

    /// The setting `name` of the backend as text, for example `setDeviceName`. Empty if there is no such setting.
    public func setting(_ name: String) async throws(MPinError) -> String {
        try await perform { sdk throws(SDKError) in try sdk.clientParam(name) }
    }

    /// Adds a domain to the list of trusted domains. Requests then go only to these domains and their subdomains, and
    /// only by https.
    public func trustDomain(_ domain: String) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.addTrustedDomain(domain) }
    }

    /// Returns the user with the id `id` at the current backend. If there is none, makes a user in state invalid.
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

    /// Finds the user with the id `id` at the current backend. Nil if there is none. For `customerID` and `appID`, nil
    /// means any.
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

    /// The users of the current backend or project, sorted by id.
    public func currentUsers() async throws(MPinError) -> [User] {
        try await perform { sdk throws(SDKError) in try sdk.listUsers().map(User.init(core:)) }
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
