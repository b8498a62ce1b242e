import Foundation
import MPinSecrets
import MPinServer
import MPinService
import MPinWire
import XCTest

/// Tests the renewal of secrets that the user does not see (TRUST wire sections 4.11 and 10, item 9).
final class TrustRenewalTests: XCTestCase {
    private let user = "alice@example.com"

    private func wantRenewal(_ server: InProcess) async throws {
        _ = try await server.users().change(.renew, user: user, identity: nil, audit: .off)
    }

    private func states(_ server: InProcess) async throws -> Set<String> {
        Set(try await server.users().find(user: user).map(\.state))
    }

    func testARotationRenewsTheSecretAndTheOldIdentityEndsWithTheFirstLoginOfTheNewOne() async throws {
        let server = try await InProcess.trust(self, change: { $0.limits.service.keyWatchSeconds = 1 })
        let client = TrustClient(backend: server.backend)
        let old = try client.register(user)
        let end = server.now.adding(seconds: 86_400)
        for name in ["dta1", "dta2"] { try server.backend.rotate(name, until: end) }
        let deadline = Date(timeIntervalSinceNow: 60)
        var answer = try client.login(old)
        while answer.renewalToken == nil, Date() < deadline { answer = try client.login(old) }
        XCTAssertEqual(Set(answer.object.keys), ["status", "message", "dvsRegister"], "the login has no effect")
        let renewal = try XCTUnwrap(answer.object["dvsRegister"] as? [String: String])
        XCTAssertEqual(renewal["curve"], "BN254CX")
        let token = try XCTUnwrap(answer.renewalToken)
        XCTAssertEqual(try client.login(old, pin: "1235").code, "UNSUCCESSFUL_AUTHENTICATION")
        let key = try TrustClient.KeyPair().publicKey
        XCTAssertEqual(try client.enrol("bob@example.com", token, key).code, "INVALID_ACTIVATION_TOKEN")
        let new = try client.register(user, token: token)
        XCTAssertEqual(try client.enrol(user, token, key).code, "INVALID_ACTIVATION_TOKEN", "used")
        XCTAssertNotEqual([new.id, new.answer.dtas], [old.id, old.answer.dtas])
        XCTAssertTrue(String(decoding: Hex.decode(new.id) ?? [], as: UTF8.self).contains(#""vt":"dvs""#))
        XCTAssertNotNil(try client.login(old).renewalToken, "the client may have lost the answer")
        let before = try await states(server)
        XCTAssertEqual(before, ["active"])
        XCTAssertNotNil(try client.login(new).object["jwt"])
        let begun = try client.begin(old, pin: "1234", scope: "jwt")
        XCTAssertEqual(try client.post("/rps/v2/pass1", begun.body).code, "EXPIRED_MPINID")
        let after = try await states(server)
        XCTAssertEqual(after, ["active", "renewed"])
        XCTAssertNotNil(try client.login(new).object["jwt"])
        let log = try String(contentsOfFile: server.backend.stateFolder + "/audit/audit.jsonl", encoding: .utf8)
        XCTAssertTrue(log.contains(#""event":"renewed","identity":"\#(old.key)""#))
    }

    /// A login for a browser takes effect with the renewed identity only.
    func testTheOperatorHasADeviceRenewed() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let old = try client.register(user)
        try await wantRenewal(server)
        let opened: TrustSessionResponse = try client.post("/rps/v2/session", ["projectId": "proj-1"]).json()
        let wid = try XCTUnwrap(opened.qrURL.components(separatedBy: "#").last)
        func status() throws -> String? {
            try client.post("/rps/v2/access", ["webOTT": opened.webOTT]).object["status"] as? String
        }
        let begun = try client.login(old, scope: "oidc", wid: wid)
        let new = try client.register(user, token: XCTUnwrap(begun.renewalToken, begun.text))
        XCTAssertEqual(try status(), "new")
        XCTAssertEqual(try client.login(new, scope: "oidc", wid: wid).object.keys.sorted(), ["message", "status"])
        XCTAssertEqual(try status(), "authenticated")
    }

    func testATokenIsGoodForTwoMinutesAndNotForARevokedIdentity() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        try await wantRenewal(server)
        let key = try TrustClient.KeyPair().publicKey
        let late = try XCTUnwrap(client.login(device).renewalToken)
        server.advance(seconds: 121)
        XCTAssertEqual(try client.enrol(user, late, key).code, "INVALID_ACTIVATION_TOKEN")
        let token = try XCTUnwrap(client.login(device).renewalToken)
        _ = try await server.users().change(.block, user: user, identity: nil, audit: .off)
        XCTAssertEqual(try client.enrol(user, token, key).code, "INVALID_ACTIVATION_TOKEN")
    }

    /// What the user has begun with the old identity lasts, because the user does not see the renewal. It ends with the
    /// new identity.
    func testSessionsOutliveARenewal() async throws {
        let clients = """
            - {id: rp, redirect-uri: ["http://127.0.0.1:9/login"], first-party: true, auth-method: none}
            """
        let server = try await InProcess.trust(self, clients: clients)
        let client = TrustClient(backend: server.backend)
        let old = try client.register(user)
        let query =
            "client_id=rp&redirect_uri=http://127.0.0.1:9/login&response_type=code&scope=openid&state=st"
            + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
        let opened = try client.post("/authorize?" + query, [:]).object
        XCTAssertEqual(try client.login(old, scope: "oidc", wid: opened["accessId"] as? String).status, 200)
        let url = try client.post("/rps/v2/access", ["webOTT": opened["webOTT"] ?? ""]).object["redirectURL"]
        let parts = try XCTUnwrap(URLComponents(string: url as? String ?? ""))
        let code = try XCTUnwrap(parts.queryItems?.first { $0.name == "code" }?.value)
        let form =
            "grant_type=authorization_code&client_id=rp&redirect_uri=http%3A%2F%2F127.0.0.1%3A9%2Flogin&code=\(code)"
            + "&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        let tokens = try server.backend.call(
            "POST", "/oidc/token", form, headers: ["Content-Type": "application/x-www-form-urlencoded"])
        let access = try XCTUnwrap(tokens.object["access_token"] as? String, tokens.text)
        func userInfo() throws -> Int {
            try server.backend.call("GET", "/oidc/userinfo", headers: ["Authorization": "Bearer " + access]).status
        }
        try await wantRenewal(server)
        let new = try client.register(user, token: XCTUnwrap(client.login(old).renewalToken))
        XCTAssertEqual(try client.login(new).status, 200)
        XCTAssertEqual(try userInfo(), 200)
        _ = try await server.users().change(.block, user: user, identity: new.key, audit: .off)
        XCTAssertEqual(try userInfo(), 401)
    }
}
