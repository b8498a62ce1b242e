import MPinStore

/// Stores a client as JSON. If an older version wrote it, members that were added later are missing; they then have
/// their defaults.
extension Client: Codable, Storable {
    private enum CodingKeys: String, CodingKey {
        case id, name, logo, authMethod, secrets, redirectURIs, postLogoutURIs, backchannelLogoutURI, grants, scopes
        case audiences, resources, origins, subject, sector, lifetimes, requiresPKCE, isFirstParty, isDisabled, amr
        case claimsInIDToken, refreshesWithoutOfflineAccess, protectedOrigin, allowedUsers, allowedGroups, created
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys, into value: inout Value) throws {
            if let found = try members.decodeIfPresent(Value.self, forKey: key) { value = found }
        }
        self.init(
            id: try members.decode(String.self, forKey: .id), name: try members.decode(String.self, forKey: .name),
            created: try members.decode(Moment.self, forKey: .created))
        logo = try members.decodeIfPresent(String.self, forKey: .logo)
        try read(.authMethod, into: &authMethod)
        try read(.secrets, into: &secrets)
        try read(.redirectURIs, into: &redirectURIs)
        try read(.postLogoutURIs, into: &postLogoutURIs)
        backchannelLogoutURI = try members.decodeIfPresent(RedirectURI.self, forKey: .backchannelLogoutURI)
        try read(.grants, into: &grants)
        try read(.scopes, into: &scopes)
        try read(.audiences, into: &audiences)
        try read(.resources, into: &resources)
        try read(.origins, into: &origins)
        try read(.subject, into: &subject)
        sector = try members.decodeIfPresent(String.self, forKey: .sector)
        try read(.lifetimes, into: &lifetimes)
        try read(.requiresPKCE, into: &requiresPKCE)
        try read(.isFirstParty, into: &isFirstParty)
        try read(.isDisabled, into: &isDisabled)
        try read(.amr, into: &amr)
        try read(.claimsInIDToken, into: &claimsInIDToken)
        try read(.refreshesWithoutOfflineAccess, into: &refreshesWithoutOfflineAccess)
        protectedOrigin = try members.decodeIfPresent(WebOrigin.self, forKey: .protectedOrigin)
        try read(.allowedUsers, into: &allowedUsers)
        try read(.allowedGroups, into: &allowedGroups)
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(name, forKey: .name)
        try members.encodeIfPresent(logo, forKey: .logo)
        try members.encode(authMethod, forKey: .authMethod)
        try members.encode(secrets, forKey: .secrets)
        try members.encode(redirectURIs, forKey: .redirectURIs)
        try members.encode(postLogoutURIs, forKey: .postLogoutURIs)
        try members.encodeIfPresent(backchannelLogoutURI, forKey: .backchannelLogoutURI)
        try members.encode(grants.sorted { $0.rawValue < $1.rawValue }, forKey: .grants)
        try members.encode(scopes, forKey: .scopes)
        try members.encode(audiences, forKey: .audiences)
        try members.encode(resources, forKey: .resources)
        try members.encode(origins, forKey: .origins)
        try members.encode(subject, forKey: .subject)
        try members.encodeIfPresent(sector, forKey: .sector)
        try members.encode(lifetimes, forKey: .lifetimes)
        try members.encode(requiresPKCE, forKey: .requiresPKCE)
        try members.encode(isFirstParty, forKey: .isFirstParty)
        try members.encode(isDisabled, forKey: .isDisabled)
        try members.encode(amr, forKey: .amr)
        try members.encode(claimsInIDToken, forKey: .claimsInIDToken)
        try members.encode(refreshesWithoutOfflineAccess, forKey: .refreshesWithoutOfflineAccess)
        try members.encodeIfPresent(protectedOrigin, forKey: .protectedOrigin)
        try members.encode(allowedUsers, forKey: .allowedUsers)
        try members.encode(allowedGroups, forKey: .allowedGroups)
        try members.encode(created, forKey: .created)
    }
}
