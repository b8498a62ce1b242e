import MPinOpenID
import MPinStore
import MPinWire
import XCTest

/// Tests that new items are packed, that nothing in them gets lost, and that items which an earlier version stored as
/// JSON are still read.
final class PackedItemTests: XCTestCase {
    /// Replaces all items of a table by JSON, as an earlier version wrote them. Returns their number.
    private func unpack(
        _ table: String, of test: ProviderUnderTest, _ json: ([UInt8]) -> JSONValue?
    ) async throws -> Int {
        let items = try await test.store.list(table, after: nil, limit: 100, at: test.now)
        for (key, item) in items {
            XCTAssertEqual(item.value.first, 1, "\(table) is packed")
            let text = try JSON.bytes(XCTUnwrap(json(item.value)))
            try await test.store.update(ItemKey(table, key), at: test.now, .ordered) { $0?.value = text }
        }
        return items.count
    }

    func testSessionsAndGrantsInJSONAreRead() async throws {
        let test = try await ProviderUnderTest()
        let (cookie, session) = try await test.begin()
        let code = try await test.code(scope: "openid offline_access", in: session)
        let answer = try await test.redeem(code)
        let sessions = try await unpack("oidc_session", of: test, BrowserSession.json)
        let grants = try await unpack("oidc_grant", of: test, Grants.json)
        XCTAssertEqual([sessions, grants], [1, 1])
        let found = try await test.provider.session(cookie)
        XCTAssertEqual(found?.id, session.id)
        XCTAssertEqual(found?.login, session.login)
        let fault = try await test.bearerFault(answer.accessToken)
        XCTAssertNil(fault)
        let next = try await test.refresh(XCTUnwrap(answer.refreshToken))
        XCTAssertNotNil(next.refreshToken)
    }

    /// An operator exports what the provider has of a user, so packed items can be shown as JSON.
    func testAPackedGrantNamesItsUser() async throws {
        let test = try await ProviderUnderTest()
        _ = try await test.redeem(try await test.code())
        let items = try await test.store.list("oidc_grant", after: nil, limit: 2, at: test.now)
        let grant = items.first.flatMap { Grants.json(stored: $0.item.value) }
        XCTAssertEqual(grant?["authorization"]?["login"]?["userID"], .string("alice@example.com"))
        XCTAssertNil(Grants.json(stored: [2]), "a later version")
    }

    /// Each member of a request survives, packed and in JSON.
    func testARequestKeepsAllMembers() throws {
        var client = Client(id: "app", name: "App", created: Moment(microseconds: 1))
        client.authMethod = .none
        client.redirectURIs = [try RedirectURI("http://127.0.0.1/cb?a=b")]
        let acr = #"{"essential":true,"value":"\#(UserLogin.acr)"}"#
        let claims = #"{"userinfo":{"email":null},"id_token":{"sub":{"value":"s"},"acr":\#(acr)}}"#
        let full = [
            ("redirect_uri", "http://127.0.0.1:8080/cb?a=b"), ("state", "é "), ("response_mode", "form_post"),
            ("nonce", "n"), ("prompt", "login consent"), ("max_age", "0"), ("id_token_hint", "x.y.z"),
            ("ui_locales", "de en"), ("claims", claims),
        ]
        for members in [full, [("redirect_uri", "http://127.0.0.1/cb?a=b")]] {
            let all =
                [
                    ("client_id", "app"), ("response_type", "code"), ("scope", "openid email"),
                    ("code_challenge", ProviderUnderTest.challenge), ("code_challenge_method", "S256"),
                ] + members
            let parameters = try XCTUnwrap(RequestParameters(RequestParameters.query(all)))
            guard case .accepted(let request) = AuthorizationRequest.read(parameters, of: client) else {
                return XCTFail("refused")
            }
            let packed = try request.stored()
            XCTAssertEqual(packed.first, 1)
            XCTAssertEqual(try AuthorizationRequest(stored: packed), request)
            XCTAssertEqual(try AuthorizationRequest(stored: JSON.bytes(request)), request)
            for length in 1..<packed.count {
                XCTAssertThrowsError(try AuthorizationRequest(stored: Array(packed.prefix(length))), "\(length) bytes")
            }
        }
    }
}
