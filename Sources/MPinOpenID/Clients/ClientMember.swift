/// A member of a client that an operator can set, by an option of `mpind client` or by a key in the file of clients.
/// Option and key have the member's name.
package struct ClientMember: Sendable {
    package enum Kind: Sendable {
        /// One text. An empty text removes the member.
        case text
        /// `true` or `false`.
        case flag
        case number
        /// Several texts, which replace the present ones.
        case list
    }

    package let name: String
    package let kind: Kind
    /// Returns the present value: several texts if the member is a list, otherwise one, or none if it is not set.
    package let texts: @Sendable (Client) -> [String]
    let set: @Sendable (inout Client, [String]) throws(ClientFault) -> Void

    /// Returns the member with this name. Nil if there is none.
    package static func named(_ name: String) -> ClientMember? { all.first { $0.name == name } }

    /// All members, in the order in which `mpind client show` prints them.
    package static let all: [ClientMember] = identity + addresses + rights + access + tokens

    private static let identity = [
        ClientMember(name: "name", kind: .text, texts: { [$0.name] }) { client, texts throws(ClientFault) in
            let name = texts.first ?? ""
            guard isShown(name) else { throw ClientFault("name", "must have 1 to 100 characters that can be seen") }
            client.name = name
        },
        ClientMember(name: "logo", kind: .text, texts: { optional($0.logo) }) { client, texts throws(ClientFault) in
            let logo = try uris("logo", texts).first
            guard logo == nil || logo?.scheme == "https" else { throw ClientFault("logo", "must begin with https://") }
            client.logo = logo?.text
        },
        choice("auth-method", \.authMethod),
        ClientMember(name: "disabled", kind: .flag, texts: { [String($0.isDisabled)] }) {
            client, texts throws(ClientFault) in client.isDisabled = try flag("disabled", texts)
        },
    ]

    private static let addresses = [
        forwardAuth,
        addressList("redirect-uri", \.redirectURIs),
        addressList("post-logout-uri", \.postLogoutURIs),
        ClientMember(
            name: "backchannel-logout-uri", kind: .text, texts: { optional($0.backchannelLogoutURI?.text) }
        ) { client, texts throws(ClientFault) in
            let uri = try uris("backchannel-logout-uri", texts).first
            guard uri?.hasAppScheme != true else { throw ClientFault("backchannel-logout-uri", "must be https") }
            client.backchannelLogoutURI = uri
        },
        ClientMember(name: "origin", kind: .list, texts: { $0.origins.map(\.text) }) {
            client, texts throws(ClientFault) in
            client.origins = try each("origin", texts) { text throws(ClientFault) in
                guard let origin = WebOrigin(text) else {
                    throw ClientFault("origin \(text)", "must be https://HOST, or http on this machine, without a path")
                }
                return origin
            }
        },
    ]

    /// The website that the client protects by forward authentication. Its redirect URI follows from that.
    private static let forwardAuth = ClientMember(
        name: "forward-auth", kind: .text, texts: { optional($0.protectedOrigin?.text) }
    ) { client, texts throws(ClientFault) in
        let text = texts.first ?? ""
        guard let origin = WebOrigin(text.contains("://") ? text : "https://" + text), let uri = origin.callback else {
            throw ClientFault(
                "forward-auth \(text)", "must be HOST, https://HOST, or http on this machine, without a path")
        }
        let old = client.protectedOrigin?.callback
        if client.redirectURIs.allSatisfy({ $0 == old }) { client.redirectURIs = [uri] }
        client.protectedOrigin = origin
    }

    private static let rights = [
        ClientMember(name: "grant", kind: .list, texts: { $0.grants.map(\.rawValue).sorted() }) {
            client, texts throws(ClientFault) in
            client.grants = Set(
                try each("grant", texts) { text throws(ClientFault) in try known("grant", text) as Client.Grant })
        },
        ClientMember(name: "scope", kind: .list, texts: \.scopes) { client, texts throws(ClientFault) in
            client.scopes = try each("scope", texts) { text throws(ClientFault) in
                // A scope has no quotation mark and no backslash (RFC 6749 section 3.3).
                guard isToken(text), !text.contains("\""), !text.contains("\\") else {
                    throw ClientFault("scope", "\(text) is none")
                }
                return text
            }
        },
        audienceList("audience", \.audiences),
        audienceList("resource", \.resources),
        flagMember("first-party", \.isFirstParty),
        flagMember("require-pkce", \.requiresPKCE),
        flagMember("refresh-without-offline-access", \.refreshesWithoutOfflineAccess),
    ]

    /// Who may use the client (``Client/admits(_:)``).
    private static let access = [
        ClientMember(name: "allow-user", kind: .list, texts: \.allowedUsers) { client, texts throws(ClientFault) in
            client.allowedUsers = try each("allow-user", texts) { text throws(ClientFault) in
                guard isUserID(text) else { throw ClientFault("allow-user \(text)", "is no user id") }
                return text
            }
        },
        ClientMember(name: "allow-group", kind: .list, texts: \.allowedGroups) { client, texts throws(ClientFault) in
            client.allowedGroups = try each("allow-group", texts) { text throws(ClientFault) in
                guard ProfileChange.isGroup(text) else {
                    throw ClientFault("allow-group \(text)", "is no group: 1 to 100 ASCII characters, and no comma")
                }
                return text
            }
        },
    ]

    private static let tokens = [
        choice("subject", \.subject),
        ClientMember(name: "sector", kind: .text, texts: { optional($0.sector) }) { client, texts throws(ClientFault) in
            guard let sector = texts.first, !sector.isEmpty else { return client.sector = nil }
            guard isToken(sector) else { throw ClientFault("sector", "\(sector) has blanks, or is too long") }
            client.sector = sector
        },
        choice("amr", \.amr),
        flagMember("claims-in-id-token", \.claimsInIDToken),
        seconds("access-token-seconds", \.lifetimes.accessToken, 60...86_400),
        seconds("id-token-seconds", \.lifetimes.idToken, 60...86_400),
        seconds("refresh-idle-seconds", \.lifetimes.refreshIdle, 60...34_560_000),
        seconds("refresh-max-seconds", \.lifetimes.refreshMax, 60...34_560_000),
    ]
}

extension ClientMember {
    private typealias Path<Value> = any WritableKeyPath<Client, Value> & Sendable

    private static func choice<Value: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, _ path: Path<Value>
    ) -> ClientMember where Value.RawValue == String {
        ClientMember(name: name, kind: .text, texts: { [$0[keyPath: path].rawValue] }) {
            client, texts throws(ClientFault) in client[keyPath: path] = try known(name, texts.first ?? "")
        }
    }

    private static func flagMember(_ name: String, _ path: Path<Bool>) -> ClientMember {
        ClientMember(name: name, kind: .flag, texts: { [String($0[keyPath: path])] }) {
            client, texts throws(ClientFault) in client[keyPath: path] = try flag(name, texts)
        }
    }

    private static func seconds(_ name: String, _ path: Path<Int>, _ range: ClosedRange<Int>) -> ClientMember {
        ClientMember(name: name, kind: .number, texts: { [String($0[keyPath: path])] }) {
            client, texts throws(ClientFault) in
            guard let seconds = texts.first.flatMap({ Int($0) }), range.contains(seconds) else {
                throw ClientFault(name, "must be \(range.lowerBound) to \(range.upperBound)")
            }
            client[keyPath: path] = seconds
        }
    }

    private static func addressList(_ name: String, _ path: Path<[RedirectURI]>) -> ClientMember {
        ClientMember(name: name, kind: .list, texts: { $0[keyPath: path].map(\.text) }) {
            client, texts throws(ClientFault) in client[keyPath: path] = try uris(name, texts)
        }
    }

    private static func audienceList(_ name: String, _ path: Path<[String]>) -> ClientMember {
        ClientMember(name: name, kind: .list, texts: { $0[keyPath: path] }) { client, texts throws(ClientFault) in
            client[keyPath: path] = try each(name, texts) { text throws(ClientFault) in
                guard isToken(text) else { throw ClientFault(name, "\(text) has blanks, or is too long") }
                return text
            }
        }
    }

    private static func flag(_ name: String, _ texts: [String]) throws(ClientFault) -> Bool {
        switch texts.first {
        case "true": return true
        case "false": return false
        default: throw ClientFault(name, "must be true or false")
        }
    }

    private static func known<Value: RawRepresentable & CaseIterable>(
        _ name: String, _ text: String
    ) throws(ClientFault) -> Value where Value.RawValue == String {
        if let value = Value(rawValue: text) { return value }
        throw ClientFault(name, "must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
    }

    private static func uris(_ name: String, _ texts: [String]) throws(ClientFault) -> [RedirectURI] {
        try each(name, texts) { text throws(ClientFault) in
            do { return try RedirectURI(text) } catch { throw ClientFault("\(name) \(text)", "\(error)") }
        }
    }

    /// Reads each text of a list. Throws if there are more than 100, or if two are equal. A single empty text makes the
    /// list empty.
    private static func each<Value: Hashable>(
        _ name: String, _ texts: [String], _ read: (String) throws(ClientFault) -> Value
    ) throws(ClientFault) -> [Value] {
        guard texts != [""] else { return [] }
        guard texts.count <= 100 else { throw ClientFault(name, "more than 100") }
        var values: [Value] = []
        for text in texts {
            let value = try read(text)
            guard !values.contains(value) else { throw ClientFault(name, "\(text) is there twice") }
            values.append(value)
        }
        return values
    }

    private static func optional(_ text: String?) -> [String] { text.map { [$0] } ?? [] }

    /// Returns whether `text` has 1 to 256 characters, all of them visible ASCII.
    private static func isToken(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Returns whether a user can have this id: 1 to 1000 bytes without invisible characters.
    private static func isUserID(_ text: String) -> Bool {
        (1...1000).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
    }

    /// Returns whether `text` has 1 to 100 characters, none of which is invisible, and one that is no blank.
    static func isShown(_ text: String) -> Bool {
        (1...100).contains(text.count)
            && text.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
            && text.contains { !$0.isWhitespace }
    }
}
