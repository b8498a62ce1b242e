/// Who may use a client: all users, or those whom the operator has named.
extension Client {
    fileprivate var isRestricted: Bool { !allowedUsers.isEmpty || !allowedGroups.isEmpty }

    /// Returns whether the user of this profile may use the client: the operator has named the user or one of the user's
    /// groups, or nobody at all.
    func admits(_ profile: Profile) -> Bool {
        !isRestricted || allowedUsers.contains(profile.user.shown)
            || profile.groups.contains { allowedGroups.contains($0) }
    }
}

extension OpenIDProvider {
    /// Returns whether a user may use the client, by the groups that the user is in now. It reads the profile only if
    /// that matters.
    func admits(_ login: UserLogin, to client: Client) async throws -> Bool {
        guard try await isKnown(login, at: client) else { return false }
        guard client.isRestricted else { return true }
        return client.admits(try await profiles.profile(of: login.userID, at: now))
    }

    /// Returns whether the client takes users of this name space: all clients take those of the server, and one that a
    /// project names takes those of the project.
    func isKnown(_ login: UserLogin, at client: Client) async throws -> Bool {
        guard let project = login.user.project else { return true }
        return try await owners(client.id).contains(project)
    }

    /// Returns whether the client may still have tokens for a user who has logged in to it.
    func isPermitted(_ login: UserLogin, at client: Client) async throws -> Bool {
        guard try await permission(login) else { return false }
        return try await admits(login, to: client)
    }

    /// Reports that a user who may not use the client has logged in to it.
    package func reportNoAccess(_ login: UserLogin, to client: Client) {
        observer(.noAccess(clientID: client.id, login))
    }
}
