/// Users.
extension SDK {
    /// The user of that id at the current backend, a new one in state INVALID where none is known. Customer, application:
    /// nil for any, empty for none.
    package func makeNewUser(
        _ id: String, deviceName: String? = nil, customerID: String? = nil, appID: String? = nil
    ) throws(SDKError) -> User {
        try perform { session, _ throws(SDKError) in
            try session.makeNewUser(id, deviceName: deviceName, customerID: customerID, appID: appID)
        }
    }

    /// The user of that id at the current backend, the first of several, nil where none is known. Customer, application:
    /// nil for any, empty for none.
    package func user(_ id: String, customerID: String? = nil, appID: String? = nil) throws(SDKError) -> User? {
        try perform { session, _ throws(SDKError) in try session.user(id, customerID: customerID, appID: appID) }
    }

    /// Erases a user here, in memory and in the store. The server is not told.
    package func deleteUser(_ user: User) throws(SDKError) {
        try perform { session, _ throws(SDKError) in try session.delete(user) }
    }

    /// Erases the users of all backends here, in memory and in the store. The servers are not told.
    package func deleteUsers() throws(SDKError) {
        try perform { session, _ throws(SDKError) in try session.deleteUsers() }
    }

    /// Forgets the users in memory; the store keeps them.
    package func clearUsers() throws(SDKError) {
        try perform { session, _ throws(SDKError) in session.clearUsers() }
    }

    /// The users of the current backend, by id. One that was made and never started is not among them.
    package func listUsers() throws(SDKError) -> [User] {
        try perform { session, _ throws(SDKError) in session.listUsers(backend: try session.currentBackend().url) }
    }

    /// The users of a backend, by id.
    package func listUsers(backend: String) throws(SDKError) -> [User] {
        try perform { session, _ throws(SDKError) in session.listUsers(backend: Backend.base(backend)) }
    }

    /// The users of all backends, by id.
    package func listAllUsers() throws(SDKError) -> [User] {
        try perform { session, _ throws(SDKError) in session.listUsers(backend: nil) }
    }

    /// The base URLs that users are registered with, sorted.
    package func listBackends() throws(SDKError) -> [String] {
        try perform { session, _ throws(SDKError) in Set(session.listUsers(backend: nil).map(\.backend)).sorted() }
    }

    /// Whether there is such a ``user(_:customerID:appID:)``.
    package func userExists(_ id: String, customerID: String? = nil, appID: String? = nil) throws(SDKError) -> Bool {
        try user(id, customerID: customerID, appID: appID) != nil
    }
}
