/// The members of a client that an operator sets, with their new texts. The command line and the file of clients both
/// make such a change, so that the same checks hold for both.
package struct ClientChange: Sendable {
    private var members: [(member: ClientMember, texts: [String])] = []

    package init() {}

    package var isEmpty: Bool { members.isEmpty }

    /// The names of the members that are set, for the audit log.
    package var names: [String] { members.map(\.member.name) }

    package mutating func set(_ member: ClientMember, _ texts: [String]) { members.append((member, texts)) }

    /// Makes the change. Throws if a text is refused, or if the resulting client is not a valid one.
    package func apply(to client: inout Client) throws(ClientFault) {
        for (member, texts) in members { try member.set(&client, texts) }
        client.settle()
        try client.check()
    }
}

extension Client {
    /// Returns whether `text` can be a client id: 1 to 64 characters of `A-Z a-z 0-9 . _ ~ -`.
    package static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "._~-".utf8.contains(byte)
                }
            }
    }

    /// Sets what follows from other members: a protected host is the operator's own and needs no secret, because this
    /// server redeems its codes; a public client has no secrets; and a pairwise client without a sector gets one.
    fileprivate mutating func settle() {
        if protectedOrigin != nil { (authMethod, isFirstParty) = (.none, true) }
        if isPublic { secrets = [] }
        if subject == .pairwise, sector == nil { sector = sectorOfURIs }
    }

    /// Throws if a required member is missing, or if members contradict each other.
    fileprivate func check() throws(ClientFault) {
        guard Self.isID(id) else { throw ClientFault("id", "must be 1 to 64 of A-Z a-z 0-9 . _ ~ -") }
        try checkUse()
        if let origin = protectedOrigin, redirectURIs.contains(where: { $0 != origin.callback }) {
            throw ClientFault("redirect-uri", "follows from forward-auth: leave it out")
        }
        guard scopes.contains("openid") else { throw ClientFault("scope", "needs openid") }
        guard subject != .pairwise || sector != nil else {
            throw ClientFault("sector", "needed, as the redirect URIs have several hosts")
        }
        guard lifetimes.refreshIdle <= lifetimes.refreshMax else {
            throw ClientFault("refresh-idle-seconds", "must not be more than refresh-max-seconds")
        }
        try checkRefresh()
    }

    /// Throws if the client can do nothing: users log in to it, or it is a service that asks about tokens, or both.
    private func checkUse() throws(ClientFault) {
        guard !grants.isDisjoint(with: [.authorizationCode, .deviceCode]) || !resources.isEmpty else {
            throw ClientFault(
                "grant", "needs authorization_code or \(Client.Grant.deviceCode.rawValue), unless there is a resource")
        }
        guard !redirectURIs.isEmpty || !grants.contains(.authorizationCode) else {
            throw ClientFault("redirect-uri", "at least one is needed")
        }
        // Everybody knows the id of a public client, so a public client that is a resource would let everybody ask.
        guard resources.isEmpty || !isPublic else {
            throw ClientFault("resource", "only for a client with a secret")
        }
    }

    /// Throws if the client could ask for refresh tokens but not redeem them. Only the operator's own clients can get
    /// them without the scope `offline_access`.
    private func checkRefresh() throws(ClientFault) {
        let isOffline = scopes.contains("offline_access")
        guard !refreshesWithoutOfflineAccess || isFirstParty else {
            throw ClientFault("refresh-without-offline-access", "only for a client with first-party true")
        }
        guard grants.contains(.refreshToken) || !(isOffline || refreshesWithoutOfflineAccess) else {
            throw ClientFault("grant", "offline_access and refresh-without-offline-access need refresh_token")
        }
        guard !grants.contains(.refreshToken) || isOffline || refreshesWithoutOfflineAccess else {
            throw ClientFault("scope", "the grant refresh_token needs offline_access")
        }
    }
}
