import HTTPTypes
import Hummingbird
import MPinService

/// The operations of `mpind user`.
extension AdminRoute {
    static let users = [
        AdminRoute(.get, "/users", "user list", .usersRead, takes: .query("prefix", "after", "limit")) { request in
            let users = request.resources.users
            let found = try await users.search(
                prefix: request.request.query("prefix") ?? "", after: request.request.query("after"),
                limit: request.limit())
            request.resources.audit.record(.command("user list"))
            var documents: [UserDocument] = []
            for user in found.users { documents.append(UserDocument(user, try await users.suspension(of: user.id))) }
            return .json(UserList(users: documents, next: found.next))
        },
        AdminRoute(.get, "/users/{user}", "user show", .usersRead) { request in
            let (user, users) = (try request.name("user"), request.resources.users)
            request.resources.audit.record(.command("user show", user: user))
            return try UserDocument.response(
                await users.find(user: user), await users.suspension(of: user), of: user)
        },
        change("block", .block), change("unblock", .unblock), change("revoke", .revoke), change("renew", .renew),
        // The export has M-Pin IDs, with which others can use up the attempts of a user. So reading is not enough.
        AdminRoute(.get, "/users/{user}/export", "user export", .usersWrite) { request in
            let user = try request.name("user")
            request.resources.audit.record(.command("user export", user: user))
            return try response(await request.resources.users.export(user: user))
        },
        AdminRoute(.delete, "/users/{user}", "user delete", .usersWrite) { request in
            let resources = request.resources
            return try response(await resources.users.delete(user: request.name("user"), audit: resources.audit))
        },
    ]

    private static func response(_ export: UserAdministration.Export?) throws(APIError) -> Response {
        guard let export else { throw APIError(.notFound, "No such user") }
        return .json(export)
    }

    private static func change(_ word: String, _ change: UserAdministration.Change) -> AdminRoute {
        AdminRoute(.post, "/users/{user}/" + word, "user " + word, .usersWrite, takes: .body(["identity"])) { request in
            let (user, choice) = (try request.name("user"), try request.optionalBody(DeviceChoice.self))
            let entries = try await request.resources.users.change(
                change, user: user, identity: choice?.identity, audit: request.resources.audit)
            guard !entries.isEmpty else { throw APIError(.notFound, "No such user or device") }
            return try UserDocument.response(entries, await request.resources.users.suspension(of: user), of: user)
        }
    }
}

/// The body that restricts a change to one device of the user.
private struct DeviceChoice: Decodable {
    let identity: String?
}

private struct UserList: Encodable {
    let users: [UserDocument]
    /// The user id to begin the next page after. Nil if this is the last page.
    let next: String?
}

/// A user with the devices on which the user is registered.
private struct UserDocument: Encodable {
    struct Device: Encodable {
        let identity: String
        let state: String
        let registered: String
        let keyID: String
        let wrongPINs: Int

        init(_ entry: UserAdministration.Entry) {
            identity = entry.identity
            state = entry.state
            registered = entry.registered
            keyID = entry.keyID
            wrongPINs = entry.wrongPINs
        }
    }

    let user: String
    let devices: [Device]
    /// Nil if the user is not suspended.
    let suspended: UserAdministration.SuspensionEntry?

    init(_ user: UserAdministration.User, _ suspension: UserAdministration.SuspensionEntry?) {
        self.user = user.id
        devices = user.devices.map(Device.init)
        suspended = suspension
    }

    /// A user who is suspended need not be registered.
    static func response(
        _ entries: [UserAdministration.Entry], _ suspension: UserAdministration.SuspensionEntry?, of user: String
    ) throws(APIError) -> Response {
        guard let id = entries.first?.user ?? suspension?.user else {
            throw APIError(.notFound, "No such user or device")
        }
        return .json(UserDocument(.init(id: id, devices: entries), suspension))
    }
}
