package import MPinStore

/// The login for the account page, where users see and change what the provider knows about them. It takes the same
/// steps as a login for a client, with the page in the place of the client.
extension OpenIDProvider {
    /// For how many seconds after a PIN the user can make changes that others could use to take the account.
    package static let recentSeconds = 600

    /// Returns the request by which the account page logs its user in. `page`: where the browser goes after the login,
    /// relative to the issuer. `isRecent`: whether the login must be so recent that it allows every change.
    package func accountRequest(returningTo page: String, isRecent: Bool) throws -> AuthorizationRequest {
        let uri = try RedirectURI(base + page)
        let address = ReturnAddress(clientID: Client.accountID, redirectURI: uri, state: nil)
        return AuthorizationRequest(ofAccountAt: address, maxAge: isRecent ? Self.recentSeconds : nil)
    }

    /// Returns whether the user of the session may make changes that others could use to take the account.
    package func isRecent(_ session: BrowserSession) -> Bool {
        now <= session.login.time.adding(seconds: Self.recentSeconds)
    }
}

extension Client {
    /// The id of the account page in its own requests. It has a character that no registered client has in its id, so
    /// nobody else can make such a request.
    static let accountID = "/account"

    /// Returns what stands for the client in a login for the account page. `name` is shown on the login page.
    package static func account(name: String, at now: Moment) -> Client {
        var client = Client(id: accountID, name: name, created: now)
        client.isFirstParty = true
        return client
    }
}
