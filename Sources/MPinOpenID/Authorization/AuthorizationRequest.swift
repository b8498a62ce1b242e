package import MPinStore

/// An authorization request, by which a client asks to log a user in (RFC 6749 section 4.1.1, OpenID Connect Core
/// section 3.1.2.1). It has been read and checked.
package struct AuthorizationRequest: Sendable, Equatable, Codable, PackedItem {
    package enum Prompt: String, Sendable, Codable, CaseIterable {
        case none
        case login
        case consent
        case selectAccount = "select_account"
    }

    package let address: ReturnAddress
    /// The requested scopes that the client may have. `openid` is always one of them.
    package let scopes: [String]
    package let nonce: String?
    package let prompts: Set<Prompt>
    /// The greatest number of seconds that may have passed since the user entered the PIN. 0 requires a new login. Nil
    /// if the client sets no limit.
    package let maxAge: Int?
    /// The parameter `id_token_hint`: an ID token of the user that the client wants to be logged in. Nil after
    /// `expect(_:)` has stored the token's `sub`.
    package private(set) var idTokenHint: String?
    /// The `sub` of the user that the ID token hint names. Nil if the request has no such hint, and until the hint has
    /// been checked. (The parameter `claims` can name a user, too: see `claims.subject`.)
    private var subject: String?
    /// The user id of the parameter `login_hint` (MIRACL: `prerollid`), which the phone proposes. Nil if there is none, or
    /// if it is longer than 256 bytes: it must never make a request fail.
    package let loginHint: String?
    /// The first language of the parameter `ui_locales` that the pages have. Empty if there is none. (Requests that an
    /// earlier version has stored have all that were named.)
    package let locales: [String]
    package let pkce: PKCE?
    package let claims: RequestedClaims
    /// The device that asks. Nil if the request has come with a browser.
    package private(set) var device: DeviceCodes.Request?

    /// The result of reading a request.
    package enum Reading: Sendable, Equatable {
        case accepted(AuthorizationRequest)
        /// The browser shows an error page, and the client hears nothing.
        case refused(PageFault)
        /// The client gets the error at its redirect URI.
        case returned(AuthorizationFault, to: ReturnAddress)
    }

    /// Reads the parameters of a request. `client` is the registered client with the request's `client_id`, or nil if
    /// there is none. `languages` are those of the login page.
    package static func read(
        _ parameters: RequestParameters, of client: Client?, languages: [String] = []
    ) -> Reading {
        let address: ReturnAddress
        do throws(PageFault) { address = try returnAddress(parameters, client) } catch { return .refused(error) }
        guard let client else { return .refused(.unknownClient) }
        do throws(AuthorizationFault) {
            return .accepted(try AuthorizationRequest(parameters, of: client, to: address, languages))
        } catch { return .returned(error, to: address) }
    }

    static let maxStateBytes = 2048

    private static func returnAddress(
        _ parameters: RequestParameters, _ client: Client?
    ) throws(PageFault) -> ReturnAddress {
        guard parameters["client_id"] != nil else { throw .noClient }
        guard let client, !client.isDisabled else { throw .unknownClient }
        guard let requested = parameters["redirect_uri"] else { throw .noRedirectURI }
        guard let uri = client.redirectURI(requested) else { throw .foreignRedirectURI(requested) }
        let state = parameters["state"]
        guard state.map({ $0.utf8.count <= maxStateBytes }) ?? true else { throw .tooLongState }
        // If `response_mode` is unknown, the error goes back in the query, where every client looks for an answer.
        let mode = parameters["response_mode"].flatMap(ReturnAddress.Mode.init) ?? .query
        return ReturnAddress(clientID: client.id, redirectURI: uri, mode: mode, state: state)
    }
}

extension AuthorizationRequest {
    /// Stores the `sub` from the ID token hint, after the hint was verified.
    mutating func expect(_ subject: String) {
        self.subject = subject
        idTokenHint = nil
    }

    /// Returns whether a user with this `sub`, which takes time to compute, is the one that the client wants, by the ID
    /// token hint and by the parameter `claims`. Any user is, if the request has neither.
    func expects(_ subject: @autoclosure () -> String) -> Bool {
        let wanted = [self.subject, claims.subject].compactMap(\.self)
        guard !wanted.isEmpty else { return true }
        let subject = subject()
        return wanted.allSatisfy { $0 == subject }
    }

    /// Returns the scopes that a client of somebody else needs its user's consent to: the requested ones, and those of
    /// the claims that it asks for by name and may have.
    package func scopesToAllow(_ client: Client) -> [String] {
        scopes + claims.scopes.filter { client.scopes.contains($0) && !scopes.contains($0) }
    }

    /// Whether the login is for the account page of the provider, and not for a client.
    package var isForAccount: Bool { address.clientID == Client.accountID }

    /// The request of the account page. `maxAge`: see ``maxAge``.
    init(ofAccountAt address: ReturnAddress, maxAge: Int?) {
        self.init(to: address, scopes: [], maxAge: maxAge)
    }

    /// The request of a device, which has none of the parameters that a browser brings.
    init(of device: DeviceCodes.Request, to address: ReturnAddress) {
        self.init(to: address, scopes: device.scopes, maxAge: nil)
        self.device = device
    }

    private init(to address: ReturnAddress, scopes: [String], maxAge: Int?) {
        self.address = address
        self.scopes = scopes
        self.maxAge = maxAge
        nonce = nil
        prompts = []
        loginHint = nil
        locales = []
        pkce = nil
        claims = RequestedClaims()
    }

    private init(
        _ parameters: RequestParameters, of client: Client, to address: ReturnAddress, _ languages: [String]
    ) throws(AuthorizationFault) {
        self.address = address
        try Self.requireForm(parameters)
        guard client.grants.contains(.authorizationCode) else {
            throw AuthorizationFault(.unauthorizedClient, "the client may not use the authorization code flow")
        }
        scopes = try Self.scopes(parameters, client)
        nonce = try Self.text("nonce", parameters)
        prompts = try Self.prompts(parameters)
        maxAge = try Self.maxAge(parameters)
        idTokenHint = parameters["id_token_hint"]
        subject = nil
        let hint = parameters["login_hint"] ?? parameters["prerollid"]
        loginHint = hint.flatMap { $0.utf8.count <= 256 ? $0 : nil }
        locales = Self.language(parameters.words("ui_locales") ?? [], languages).map { [$0] } ?? []
        pkce = try Self.pkce(parameters, client)
        claims = try Self.claims(parameters)
    }

    private static func requireForm(_ parameters: RequestParameters) throws(AuthorizationFault) {
        guard !parameters.repeatsAny else { throw AuthorizationFault(.invalidRequest, "a parameter is sent twice") }
        let unsupported: [(String, AuthorizationFault.Code)] = [
            ("request", .requestNotSupported), ("request_uri", .requestURINotSupported),
            ("registration", .registrationNotSupported),
        ]
        for (name, code) in unsupported where parameters[name] != nil {
            throw AuthorizationFault(code, "\(name) is not supported")
        }
        guard let type = parameters["response_type"] else {
            throw AuthorizationFault(.invalidRequest, "response_type is missing")
        }
        guard type == "code" else { throw AuthorizationFault(.unsupportedResponseType, "response_type must be code") }
        if let mode = parameters["response_mode"], ReturnAddress.Mode(rawValue: mode) == nil {
            throw AuthorizationFault(.invalidRequest, "response_mode must be query or form_post")
        }
    }

    /// Returns the requested scopes that the client may have, in the requested order. Others are left out without an
    /// error; the answer of the token endpoint tells the client which scopes it got.
    static func scopes(_ parameters: RequestParameters, _ client: Client) throws(AuthorizationFault) -> [String] {
        let asked = parameters.words("scope") ?? []
        guard asked.allSatisfy(isScope) else {
            throw AuthorizationFault(.invalidScope, "scope has a character that no scope has")
        }
        guard asked.contains("openid") else { throw AuthorizationFault(.invalidScope, "scope must have openid") }
        var allowed: [String] = []
        for scope in asked where !allowed.contains(scope) {
            let isAllowed = scope == "openid" || client.scopes.contains(scope)
            let isUsable = scope != "offline_access" || client.grants.contains(.refreshToken)
            if isAllowed, isUsable { allowed.append(scope) }
        }
        return allowed
    }

    /// Returns whether all characters may be in a scope (RFC 6749 section 3.3): visible ASCII except quotation mark and
    /// backslash.
    private static func isScope(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }
    }

    /// Returns a parameter as it was sent, after checking its length only. Nil if there is none.
    private static func text(_ name: String, _ parameters: RequestParameters) throws(AuthorizationFault) -> String? {
        guard let text = parameters[name] else { return nil }
        guard text.utf8.count <= maxStateBytes else {
            throw AuthorizationFault(.invalidRequest, "\(name) is longer than \(maxStateBytes) bytes")
        }
        return text
    }

    private static func prompts(_ parameters: RequestParameters) throws(AuthorizationFault) -> Set<Prompt> {
        let words = parameters.words("prompt") ?? []
        let prompts = words.compactMap(Prompt.init)
        guard prompts.count == words.count else {
            throw AuthorizationFault(.invalidRequest, "prompt must be none, login, consent or select_account")
        }
        guard !prompts.contains(.none) || prompts.count == 1 else {
            throw AuthorizationFault(.invalidRequest, "prompt none goes with no other")
        }
        return Set(prompts)
    }

    private static func maxAge(_ parameters: RequestParameters) throws(AuthorizationFault) -> Int? {
        guard let text = parameters["max_age"] else { return nil }
        guard text.utf8.count <= 10, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let age = Int(text) else {
            throw AuthorizationFault(.invalidRequest, "max_age must be a number of seconds")
        }
        return age
    }

    private static func pkce(_ parameters: RequestParameters, _ client: Client) throws(AuthorizationFault) -> PKCE? {
        let method = parameters["code_challenge_method"]
        guard let challenge = parameters["code_challenge"] else {
            guard method == nil else { throw AuthorizationFault(.invalidRequest, "code_challenge is missing") }
            guard !client.mustUsePKCE else {
                throw AuthorizationFault(.invalidRequest, "this client must use PKCE: code_challenge is missing")
            }
            return nil
        }
        guard method == "S256" else {
            throw AuthorizationFault(.invalidRequest, "code_challenge_method must be S256")
        }
        guard let pkce = PKCE(challenge: challenge) else {
            throw AuthorizationFault(.invalidRequest, "code_challenge is no SHA-256 in base64url")
        }
        return pkce
    }

    /// Returns the first of `languages` that the tags (BCP 47) name, in the order of the tags.
    private static func language(_ tags: [String], _ languages: [String]) -> String? {
        tags.lazy.map { String($0.prefix { $0 != "-" }).lowercased() }.first(where: languages.contains)
    }

    private static func claims(_ parameters: RequestParameters) throws(AuthorizationFault) -> RequestedClaims {
        guard let text = parameters["claims"] else { return RequestedClaims() }
        guard let claims = RequestedClaims(text) else {
            throw AuthorizationFault(
                .invalidRequest, "claims is no JSON object of at most \(RequestedClaims.most) claims by place")
        }
        guard claims.acr.map({ $0.contains(UserLogin.acr) }) ?? true else {
            throw AuthorizationFault(.unmetRequirements, "no login here has such an acr")
        }
        return claims
    }
}

extension AuthorizationRequest {
    package init(packed members: inout Unpacker) throws {
        address = try members.value()
        scopes = try members.texts()
        nonce = try members.optionalText()
        prompts = Set(try members.texts().compactMap(Prompt.init))
        maxAge = try members.flag() ? members.count() : nil
        idTokenHint = try members.optionalText()
        subject = try members.optionalText()
        loginHint = try members.optionalText()
        locales = try members.texts()
        pkce = try members.optionalValue()
        claims = try members.value()
        device = try members.optionalValue()
    }

    package func pack(into members: inout Packer) throws {
        try members.put(address)
        members.put(scopes)
        members.put(nonce)
        members.put(prompts.map(\.rawValue))
        members.put(maxAge != nil)
        if let maxAge { members.put(maxAge) }
        members.put(idTokenHint)
        members.put(subject)
        members.put(loginHint)
        members.put(locales)
        try members.put(pkce)
        try members.put(claims)
        try members.put(device)
    }
}
