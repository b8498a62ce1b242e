import MPinOpenID
import MPinWire
import XCTest

/// Requests to the endpoints for tokens that a client already has.
extension ProviderUnderTest {
    static let exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"
    static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"

    func revoke(_ token: String?, by id: String = "app", secret: String = secret) async throws {
        let (parameters, header) = try credentials([("token", try XCTUnwrap(token))], by: id, secret: secret)
        try await provider.revoke(parameters, header: header)
    }

    func introspect(_ token: String?, by id: String = "app", secret: String = secret) async throws -> JSONValue {
        let (parameters, header) = try credentials([("token", try XCTUnwrap(token))], by: id, secret: secret)
        return try await provider.introspect(parameters, header: header)
    }

    func isActive(_ token: String?, by id: String = "app") async throws -> Bool {
        let answer = try await introspect(token, by: id)
        if answer["active"] == .bool(true) { return true }
        XCTAssertEqual(answer, .object(["active": .bool(false)]))
        return false
    }

    /// Exchanges an access token. `more` are further parameters.
    func exchange(
        _ token: String?, by id: String = "app", _ more: [(String, String)] = []
    ) async throws -> TokenAnswer {
        let members = [
            ("grant_type", Self.exchangeGrant), ("subject_token", try XCTUnwrap(token)),
            ("subject_token_type", Self.accessTokenType),
        ]
        return try await self.token(members.filter { member in !more.contains { $0.0 == member.0 } } + more, by: id)
    }

    /// Returns the parameters and the header with which a client proves its identity: `phone` is public, the others
    /// send a Basic header.
    func credentials(
        _ members: [(String, String)], by id: String, secret: String = secret
    ) throws -> (RequestParameters, String?) {
        let isPublic = id == "phone"
        let members = isPublic ? members + [("client_id", id)] : members
        let parameters = try XCTUnwrap(RequestParameters(RequestParameters.query(members)))
        return (parameters, isPublic ? nil : Self.basic(id, secret))
    }
}
