import Hummingbird
import MPinOpenID
import MPinSecrets
import MPinService
import MPinWire

/// What a phone gets with the answer to its login, and posts to end the session of the browser that it has logged in
/// (wire section 8.5).
struct PhoneLogout: Sendable {
    /// A random name that the phone sends later to end the session. The session stores it, and is found by it. The
    /// session's own id cannot serve instead: when the server answers the phone's login, it is not known yet which
    /// session will begin or go on.
    private let name: OpaqueToken
    /// The signature shows that this server has made the name, so that invented names do not fill the store.
    private let signature: String

    /// Makes a new one. `key` signs it.
    init(key: SecretBytes) throws {
        name = try .random()
        signature = Self.message(name).signature(key: key)
    }

    /// Nil if this server has not made the token.
    init?(_ token: String, key: SecretBytes) {
        let halves = token.split(separator: ".", omittingEmptySubsequences: false)
        guard halves.count == 2, let name = OpaqueToken(halves[0]),
            Self.message(name).isSigned(String(halves[1]), key: key)
        else { return nil }
        self.name = name
        signature = String(halves[1])
    }

    private static func message(_ name: OpaqueToken) -> SignedMessage { .logout(session: name.key) }

    /// The key under which the provider finds the session.
    var sessionKey: String { name.key }

    /// The data that the phone posts as they are.
    var data: JSONValue { .object(["sessionToken": .string("\(name.text).\(signature)")]) }
}

extension OpenIDFace {
    /// The path that a phone posts ``PhoneLogout/data`` to. It is one of the RPS's paths, because a phone knows only the
    /// address of the RPA, which forwards those.
    var phoneLogoutPath: String { RPSOperation.logout.path(prefix: config.prefix) }

    /// Answers POST to ``phoneLogoutPath``: ends the session of the browser, and tells its clients.
    func logoutByPhone(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(PhoneLogoutRequest.self, limits)
        guard let logout = PhoneLogout(body.sessionToken, key: logoutKey) else {
            throw APIError(.badRequest, "No such session")
        }
        if let notice = try await provider.endSession(phoneKey: logout.sessionKey) {
            await backChannel.tell([notice], context.logger)
        }
        return .json(["message": "logged out"])
    }
}

private struct PhoneLogoutRequest: Decodable {
    let sessionToken: String
}
