/// POST mpinAuthServerURL/pass1 (wire section 6.6).
package struct Pass1Request: Codable, Sendable {
    package var pass = 1
    /// The M-Pin ID in hex.
    package var mpin_id: String
    /// The commitment U, a G1 point: 65 bytes in hex.
    package var U: String
    /// The commitment UT with the time permit, a G1 point: 65 bytes in hex. Empty if time permits are not used.
    package var UT: String
    /// The purpose of the login: `reg-code` at our servers and MIRACL's, `dvs-reg` or `dvs-auth` at MIRACL's only; nil
    /// for a login without such a purpose.
    package var scope: [String]?
    /// The public key of an identity with a key pair, a G2 point: 128 bytes in hex. Nil without a key pair.
    package var publicKey: String?
    /// The names of the D-TAs that made the secret of an identity with a key pair, in base64. Nil without a key pair.
    package var dtas: String?

    package init(
        mpin_id: String, U: String, UT: String, scope: [String]? = nil, publicKey: String? = nil, dtas: String? = nil
    ) {
        self.mpin_id = mpin_id
        self.U = U
        self.UT = UT
        self.scope = scope
        self.publicKey = publicKey
        self.dtas = dtas
    }

    private enum CodingKeys: String, CodingKey { case pass, mpin_id, U, UT, scope, publicKey, dtas }

    /// Ignores the member `pass`, which is 1 (wire section 6.6).
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mpin_id = try container.decode(String.self, forKey: .mpin_id)
        U = try container.decode(String.self, forKey: .U)
        UT = try container.decode(String.self, forKey: .UT)
        scope = try container.decodeIfPresent([String].self, forKey: .scope)
        publicKey = try container.decodeIfPresent(String.self, forKey: .publicKey)
        dtas = try container.decodeIfPresent(String.self, forKey: .dtas)
    }
}

extension Pass1Request: PlainMessage {
    package init?(plain members: PlainMembers) {
        guard members.consist(ofTexts: ["mpin_id", "U", "UT"], others: ["pass"]), let id = members.text("mpin_id"),
            let u = members.text("U"), let ut = members.text("UT")
        else { return nil }
        self.init(mpin_id: id, U: u, UT: ut)
    }
}

/// The answer to ``Pass1Request``.
package struct Pass1Response: Codable, Sendable {
    package var version: String?
    package var pass: Int?
    /// The server's challenge: a scalar, 32 bytes in hex.
    package var y: String
    package var message: String?

    package init(y: String) {
        version = wireVersion
        pass = 1
        self.y = y
        message = "OK"
    }

    private enum CodingKeys: String, CodingKey { case version, pass, y, message }

    /// Reads the member `y` and ignores the others.
    package init(from decoder: any Decoder) throws {
        y = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .y)
    }
}

/// POST mpinAuthServerURL/pass2 (wire section 6.7).
package struct Pass2Request: Codable, Sendable {
    package var pass = 2
    package var mpin_id: String
    /// The proof V, a G1 point: 65 bytes in hex.
    package var V: String
    /// `"0"` for a login on the same device, otherwise an access number or the id of a QR code.
    package var WID: String
    /// Whether a one-time password is requested. Old clients send a boolean, a number or a text.
    package var OTP: LenientBool

    package init(mpin_id: String, V: String, WID: String = "0", OTP: Bool = false) {
        self.mpin_id = mpin_id
        self.V = V
        self.WID = WID
        self.OTP = LenientBool(OTP)
    }

    private enum CodingKeys: String, CodingKey { case pass, mpin_id, V, WID, OTP }

    /// Ignores the member `pass`, which is 2 (wire section 6.7).
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mpin_id = try container.decode(String.self, forKey: .mpin_id)
        V = try container.decode(String.self, forKey: .V)
        WID = try container.decode(String.self, forKey: .WID)
        OTP = try container.decode(LenientBool.self, forKey: .OTP)
    }
}

extension Pass2Request: PlainMessage {
    package init?(plain members: PlainMembers) {
        guard members.consist(ofTexts: ["mpin_id", "V", "WID"], others: ["OTP", "pass"]),
            let id = members.text("mpin_id"), let v = members.text("V"), let wid = members.text("WID")
        else { return nil }
        switch members["OTP"] {
        case .bool(let flag): self.init(mpin_id: id, V: v, WID: wid, OTP: flag)
        case .int(let number) where number == 0 || number == 1:
            self.init(mpin_id: id, V: v, WID: wid, OTP: number == 1)
        default: return nil
        }
    }
}

/// The answer to ``Pass2Request``. It has the same form for a right and a wrong PIN. The client passes the answer on
/// unchanged, so it decodes a ``JSONValue`` and not this type.
package struct Pass2Response: Codable, Sendable {
    package var version: String
    package var pass: Int
    /// One-time token, which the authenticate request exchanges for the result: 16 bytes in hex.
    package var authOTT: String
    /// The one-time password, six digits; nil if none was requested.
    package var OTP: String?

    package init(authOTT: String, OTP: String? = nil) {
        version = wireVersion
        pass = 2
        self.authOTT = authOTT
        self.OTP = OTP
    }
}

/// POST authenticateURL (wire section 8.3) or mobileAuthenticateURL (section 6.8). Contains the whole answer of pass 2.
package struct AuthenticateRequest: Codable, Sendable {
    package var mpinResponse: JSONValue
    /// Whether an authorization code is requested (MIRACL MFA).
    package var authzRequest: Bool?
    /// `dvs` requests the permission to register a signing key (MIRACL MFA).
    package var scope: String?

    package init(mpinResponse: JSONValue, authzRequest: Bool? = nil, scope: String? = nil) {
        self.mpinResponse = mpinResponse
        self.authzRequest = authzRequest
        self.scope = scope
    }
}

extension AuthenticateRequest: PlainMessage {
    package init?(plain members: PlainMembers) {
        guard members.consist(others: ["mpinResponse"]), let response = members["mpinResponse"] else { return nil }
        self.init(mpinResponse: response)
    }
}

/// Private POST /authenticate, from the RPA to the RPS (wire section 7).
package struct RPAAuthenticateRequest: Codable, Sendable {
    package var authOTT: String
    package var logoutURL: String?
    package var logoutData: JSONValue?
    /// False if the request does not come from a page of the RPA itself. Then no session can begin, and a login for a
    /// browser is refused. Old RPAs do not send this member, and old RPSs ignore it.
    package var ownPage: Bool?

    package init(
        authOTT: String, logoutURL: String? = nil, logoutData: JSONValue? = nil, ownPage: Bool? = nil
    ) {
        self.authOTT = authOTT
        self.logoutURL = logoutURL
        self.logoutData = logoutData
        self.ownPage = ownPage
    }
}

/// The answer to ``RPAAuthenticateRequest``; the HTTP status equals `status`.
package struct RPAAuthenticateResponse: Codable, Sendable {
    package var status: Int
    package var message: String
    /// The user id in the M-Pin ID; empty if `authOTT` is unknown.
    package var userId: String
    package var mpinId: String
    package var OTP: String?
    /// After a wrong PIN: how many more wrong PINs are possible before the identity is blocked. Nil if the operator
    /// keeps this number secret.
    package var attemptsLeft: Int?
    /// Whether the login is for a browser that the phone has found by an access number, which somebody else may have
    /// typed. Nil: it is not, or the RPS is Milagro's or an older one, which does not tell.
    package var byNumber: Bool?

    package init(
        status: Int, message: String, userId: String = "", mpinId: String = "", OTP: String? = nil,
        attemptsLeft: Int? = nil, byNumber: Bool? = nil
    ) {
        self.byNumber = byNumber
        self.status = status
        self.message = message
        self.userId = userId
        self.mpinId = mpinId
        self.OTP = OTP
        self.attemptsLeft = attemptsLeft
    }
}
