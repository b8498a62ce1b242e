/// Users.
extension SDK {
    /// The user of that id at the current backend, a new one in state INVALID where none is known. Customer, application:
    /// nil for any, empty for none.
    package func makeNewUser(
        _ id: String, deviceName: String? = nil, customerID: String? = nil, appID: String? = nil
    ) throws(SDKError) -> User {
        try perform { core, _ throws(SDKError) in
            if let known = try core.user(id, customerID: customerID, appID: appID) {
                if known.state == .invalid, let deviceName { known.update { $0.record.deviceName = deviceName } }
                return known
            }
            var record = UserRecord(userID: id, backend: try core.currentBackend().url, deviceName: deviceName)
            record.customerID = customerID
            record.appID = appID
            return core.add(User(record: record, lifecycle: UserLifecycle()))
        }
    }

    /// The user of that id at the current backend, the first of several, nil where none is known. Customer, application:
    /// nil for any, empty for none.
    package func user(_ id: String, customerID: String? = nil, appID: String? = nil) throws(SDKError) -> User? {
        try perform { core, _ throws(SDKError) in try core.user(id, customerID: customerID, appID: appID) }
    }

    /// Erases a user here, in memory and in the store. The server is not told.
    package func deleteUser(_ user: User) throws(SDKError) {
        try perform { core, _ throws(SDKError) in try core.delete(user) }
    }

    /// Erases the users of all backends here, in memory and in the store. The servers are not told.
    package func deleteUsers() throws(SDKError) {
        try perform { core, _ throws(SDKError) in try core.deleteUsers() }
    }

    /// Forgets the users in memory; the store keeps them.
    package func clearUsers() throws(SDKError) {
        try perform { core, _ throws(SDKError) in core.clearUsers() }
    }

    /// The users of the current backend, by id. One that was made and never started is not among them.
    package func listUsers() throws(SDKError) -> [User] {
        try perform { core, _ throws(SDKError) in core.listUsers(backend: try core.currentBackend().url) }
    }

    /// The users of a backend, by id.
    package func listUsers(backend: String) throws(SDKError) -> [User] {
        try perform { core, _ throws(SDKError) in core.listUsers(backend: Backend.base(backend)) }
    }

    /// The users of all backends, by id.
    package func listAllUsers() throws(SDKError) -> [User] {
        try perform { core, _ throws(SDKError) in core.listUsers(backend: nil) }
    }

    /// The base URLs that users are registered with, sorted.
    package func listBackends() throws(SDKError) -> [String] {
        try perform { core, _ throws(SDKError) in Set(core.listUsers(backend: nil).map(\.backend)).sorted() }
    }

    /// Whether there is such a ``user(_:customerID:appID:)``.
    package func userExists(_ id: String, customerID: String? = nil, appID: String? = nil) throws(SDKError) -> Bool {
        try user(id, customerID: customerID, appID: appID) != nil
    }

    /// Takes over the users that another client has stored, but for those that are known here. Returns their number.
    package func importStorage(_ source: ImportSource) throws(SDKError) -> Int {
        try perform { core, _ throws(SDKError) in
            let records = try source.records { () throws(SDKError) in try core.currentBackend().url }
            let added = try core.add(records)
            core.log?(.info, "\(added) users imported")
            return added
        }
    }

    /// Records of the store that were damaged when it was last read.
    package func damagedRecords() throws(SDKError) -> Int {
        try perform { core, _ throws(SDKError) in core.damagedRecords }
    }
}
