/// Finding, listing, deleting and importing users.
extension SDK {
    /// Returns the user with the id `id` at the current backend, or makes a new user in state INVALID. For customer and
    /// application, nil means any and an empty text means none.
    package func makeNewUser(
        _ id: String, deviceName: String? = nil, customerID: String? = nil, appID: String? = nil
    ) throws(SDKError) -> User {
        try perform { core, _ throws(SDKError) in
            if let known = try core.user(id, customerID: customerID, appID: appID) {
                if known.state == .invalid, let deviceName { known.update { $0.record.deviceName = deviceName } }
                return known
            }
            guard try core.currentBackend().project == nil else {
                throw SDKError(.flowError, "a registration makes the users of a MIRACL Trust project")
            }
            var record = UserRecord(userID: id, backend: try core.currentBackend().url, deviceName: deviceName)
            record.customerID = customerID
            record.appID = appID
            return core.add(User(record: record, lifecycle: UserLifecycle()))
        }
    }

    /// Returns the first user with the id `id` at the current backend. Nil if none is known. For customer and
    /// application, nil means any and an empty text means none.
    package func user(_ id: String, customerID: String? = nil, appID: String? = nil) throws(SDKError) -> User? {
        try perform { core, _ throws(SDKError) in try core.user(id, customerID: customerID, appID: appID) }
    }

    /// Erases a user in memory and in the store. Sends nothing to the server.
    package func deleteUser(_ user: User) throws(SDKError) {
        try perform { core, _ throws(SDKError) in try core.delete(user) }
    }

    /// Erases the users of all backends in memory and in the store. Sends nothing to the servers.
    package func deleteUsers() throws(SDKError) {
        try perform { core, _ throws(SDKError) in try core.deleteUsers() }
    }

    /// Removes all users from memory; they stay in the store.
    package func clearUsers() throws(SDKError) {
        try perform { core, _ throws(SDKError) in core.clearUsers() }
    }

    /// The users of the current backend, ordered by id, without those whose registration never started.
    package func listUsers() throws(SDKError) -> [User] {
        try perform { core, _ throws(SDKError) in try core.listUsers() }
    }

    /// The users of a backend, ordered by id, without those whose registration never started.
    package func listUsers(backend: String) throws(SDKError) -> [User] {
        try perform { core, _ throws(SDKError) in core.listUsers(backend: Backend.base(backend)) }
    }

    /// The users of all backends, ordered by id, without those whose registration never started.
    package func listAllUsers() throws(SDKError) -> [User] {
        try perform { core, _ throws(SDKError) in core.listUsers(backend: nil) }
    }

    /// The base URLs of the users' backends, sorted.
    package func listBackends() throws(SDKError) -> [String] {
        try perform { core, _ throws(SDKError) in Set(core.listUsers(backend: nil).map(\.backend)).sorted() }
    }

    /// Whether ``user(_:customerID:appID:)`` finds a user.
    package func userExists(_ id: String, customerID: String? = nil, appID: String? = nil) throws(SDKError) -> Bool {
        try user(id, customerID: customerID, appID: appID) != nil
    }

    /// Adds the users that another client has stored, except those that are known already. Returns the number of added
    /// users.
    package func importStorage(_ source: ImportSource) throws(SDKError) -> Int {
        try perform { core, _ throws(SDKError) in
            let records = try source.records(project: core.backend?.project?.id) { () throws(SDKError) in
                try core.currentBackend().url
            }
            let added = try core.add(records)
            core.log?(.info, "\(added) users imported")
            return added
        }
    }

    /// The number of damaged records that the last reading of the store found.
    package func damagedRecords() throws(SDKError) -> Int {
        try perform { core, _ throws(SDKError) in core.damagedRecords }
    }
}
