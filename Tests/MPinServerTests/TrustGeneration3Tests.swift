import Foundation
import MPinSecrets
import MPinServer
import MPinService
import MPinWire
import XCTest

/// Tests what only the clients of MIRACL Trust before generation 4 ask (TRUST wire section 7.1).
final class TrustGeneration3Tests: XCTestCase {
    private let user = "alice@example.com"

    func testARegistrationHasTwoSteps() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let wrong = try client.startUser(user, "00")
        XCTAssertEqual([wrong.status, wrong.code == "INVALID_ACTIVATION_TOKEN" ? 1 : 0], [403, 1], wrong.text)
        let begun = try client.startUser(user, client.activationToken(user))
        XCTAssertEqual(
            Set(begun.object.keys),
            [
                "mpinId", "regOTT", "projectId", "active", "appId", "customerId", "expireTime", "nowTime", "pinLength",
                "verificationType",
            ])
        let keys = try TrustClient.KeyPair()
        XCTAssertEqual(try client.firstShare(begun, regOTT: "00", publicKey: keys.publicKey).status, 404)
        let bad = try client.firstShare(begun, publicKey: [UInt8](repeating: 0, count: 128))
        XCTAssertEqual([bad.code, bad.context["params"]], ["INVALID_REQUEST_PARAMETERS", "publicKey"])
        let first = try client.firstShare(begun, publicKey: keys.publicKey)
        XCTAssertEqual(Set(first.object.keys), ["dvsClientSecretShare", "cs2url", "curve", "dtas"])
        XCTAssertEqual(try client.firstShare(begun, publicKey: keys.publicKey).status, 200, "answers get lost")
        let other = try client.firstShare(begun, publicKey: TrustClient.KeyPair().publicKey)
        XCTAssertEqual(other.status, 404, "the registration has a key")
        XCTAssertEqual(try client.firstShare(begun).status, 404)
        let id = try XCTUnwrap(begun.object["mpinId"] as? String)
        let device = try client.finish(id, first, keys)
        XCTAssertNotNil(try client.login(device).object["jwt"])
        XCTAssertEqual(try client.firstShare(begun, publicKey: keys.publicKey).status, 404, "a PIN was right")
    }

    func testARegistrationEnds() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let begun = try client.startUser(user, client.activationToken(user))
        server.advance(seconds: 3601)
        XCTAssertEqual(try client.firstShare(begun).status, 404)
    }

    /// The M-Pin ID stays. The old key is good until the new one was used, and no longer.
    func testARotationRenewsTheSecretUnderTheSameID() async throws {
        let server = try await InProcess.trust(self, change: { $0.limits.service.keyWatchSeconds = 1 })
        let client = TrustClient(backend: server.backend)
        let old = try client.registerEarlier(user)
        let end = server.now.adding(seconds: 86_400)
        for name in ["dta1", "dta2"] { try server.backend.rotate(name, until: end) }
        let deadline = Date(timeIntervalSinceNow: 60)
        var answer = try client.login(old)
        while answer.renewalToken == nil, Date() < deadline { answer = try client.login(old) }
        let lost = try TrustClient.KeyPair()
        XCTAssertEqual(try client.renewal(XCTUnwrap(answer.renewalToken), lost.publicKey).status, 200)
        XCTAssertEqual(try client.login(old, pin: "1235").code, "UNSUCCESSFUL_AUTHENTICATION")
        let token = try XCTUnwrap(client.login(old).renewalToken, "the client may have lost the answer")
        let zeros = try client.renewal(token, [UInt8](repeating: 0, count: 128))
        XCTAssertEqual(zeros.context["params"], "publicKey", "which takes no token")
        let new = try client.renew(old, token, TrustClient.KeyPair())
        XCTAssertEqual(try client.renewal(token, lost.publicKey).code, "INVALID_ACTIVATION_TOKEN", "used")
        XCTAssertEqual(new.id, old.id)
        XCTAssertNotEqual([new.publicKey], [old.publicKey])
        XCTAssertNotEqual(new.answer.dtas, old.answer.dtas)
        XCTAssertEqual(try client.login(new, pin: "1235").code, "UNSUCCESSFUL_AUTHENTICATION")
        XCTAssertNotNil(try client.login(new).object["jwt"])
        XCTAssertEqual(try client.login(old).code, "UNSUCCESSFUL_AUTHENTICATION", "its key is no longer registered")
        XCTAssertNotNil(try client.login(new).object["jwt"])
        let found = try await server.users().find(user: user)
        XCTAssertEqual(found.map(\.state), ["active"])
    }

    /// Wrong PINs with the old and with the new key count together (TRUST wire section 10, item 3).
    func testARenewalGivesNoMoreTries() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let old = try client.registerEarlier(user)
        _ = try await server.users().change(.renew, user: user, identity: nil, audit: .off)
        let new = try client.renew(old, XCTUnwrap(client.login(old).renewalToken), TrustClient.KeyPair())
        XCTAssertEqual(try client.login(old, pin: "0001").status, 401)
        XCTAssertEqual(try client.login(new, pin: "0002").status, 401)
        XCTAssertEqual(try client.login(new, pin: "0003").code, "REVOKED_MPINID")
        XCTAssertEqual(try client.login(new).code, "REVOKED_MPINID")
    }

    /// A token for a renewal is one of a login, good for two minutes, and not for a revoked identity.
    func testATokenForARenewalIsOfALogin() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.registerEarlier(user)
        let key = try TrustClient.KeyPair().publicKey
        server.advance(seconds: 300)
        let mailed = try client.activationToken(user)
        XCTAssertEqual(try client.renewal(mailed, key).code, "INVALID_ACTIVATION_TOKEN")
        XCTAssertEqual(try client.startUser(user, mailed).status, 200, "it was not used up")
        _ = try await server.users().change(.renew, user: user, identity: device.key, audit: .off)
        let late = try XCTUnwrap(client.login(device).renewalToken)
        server.advance(seconds: 121)
        XCTAssertEqual(try client.renewal(late, key).code, "INVALID_ACTIVATION_TOKEN")
        let token = try XCTUnwrap(client.login(device).renewalToken)
        _ = try await server.users().change(.block, user: user, identity: device.key, audit: .off)
        XCTAssertEqual(try client.renewal(token, key).code, "INVALID_ACTIVATION_TOKEN")
    }

    /// Before client-js 7 a device had a further identity for signatures, with a PIN of its own.
    func testAnIdentityForSignatures() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.registerEarlier(user, isPlain: true)
        XCTAssertEqual(try client.login(device, pin: "1235", scope: "dvs-reg").status, 401)
        let token = try XCTUnwrap(client.login(device, scope: "dvs-reg").renewalToken)
        let keys = try TrustClient.KeyPair()
        let phone = try client.enrol(user, token, keys.publicKey)
        XCTAssertEqual(phone.code, "INVALID_ACTIVATION_TOKEN", "the token registers no device for logins")
        XCTAssertEqual(try client.startUser(user, token).code, "INVALID_ACTIVATION_TOKEN")
        let first = try client.renewal(token, keys.publicKey)
        let signer = try client.finish(XCTUnwrap(first.object["mpinId"] as? String), first, keys, pin: "5678")
        XCTAssertNotEqual(signer.id, device.id)
        XCTAssertTrue(String(decoding: Hex.decode(signer.id) ?? [], as: UTF8.self).contains(#""scope":["dvs"]"#))
        XCTAssertEqual(try client.login(signer, pin: "5678", scope: "dvs-auth").status, 200)
        for scope in ["jwt", "oidc", "reg-code", "authcode", "dvs-reg"] {
            let refused = try client.post("/rps/v2/pass1", client.begin(signer, pin: "5678", scope: scope).body)
            XCTAssertEqual(refused.context["params"], "scope", scope)
        }
        XCTAssertNotNil(try client.login(device, scope: "dvs-auth").renewalToken, "it has no key pair")
        let late = try XCTUnwrap(client.login(device, scope: "dvs-reg").renewalToken)
        _ = try await server.users().change(.block, user: user, identity: device.key, audit: .off)
        XCTAssertEqual(try client.renewal(late, keys.publicKey).code, "INVALID_ACTIVATION_TOKEN")
    }

    /// An identity without a key pair: only a client that can renew its secret is told to. The identities of the Milagro
    /// wire need a time permit, so none logs in here.
    func testIdentitiesWithoutAKeyPair() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.registerEarlier(user, isPlain: true)
        var last = try client.prove(device)
        last["wam"] = nil
        XCTAssertNotNil(try client.post("/rps/v2/authenticate", last).object["jwt"])
        XCTAssertNotNil(try client.login(device).renewalToken)
        var stranger = device
        stranger.publicKey = try TrustClient.KeyPair().publicKey
        XCTAssertEqual(try client.login(stranger).code, "UNSUCCESSFUL_AUTHENTICATION")
        let keyed = try client.registerEarlier("bob@example.com")
        var without = keyed
        without.publicKey = []
        XCTAssertEqual(try client.login(without).code, "UNSUCCESSFUL_AUTHENTICATION")
        let milagro = try TestClient(backend: server.backend).register("carol@example.com", pin: "1234")
        let body: [String: Any] = [
            "scope": ["jwt"], "mpin_id": milagro.id, "U": Hex.encode(milagro.token), "publicKey": "",
        ]
        XCTAssertEqual(try client.post("/rps/v2/pass1", body).context["params"], "publicKey")
        _ = try await server.users().change(.revoke, user: user, identity: nil, audit: .off)
        XCTAssertEqual([try client.login(device).status, try client.login(without).status], [410, 401])
    }

    /// The clients before client-js 8 ask for the mail at the path of the back ends, and those before client-js 7 name no
    /// project but their OpenID client.
    func testTheMailOfOldClients() async throws {
        let clients = #"- {id: app, redirect-uri: ["https://app.example/cb"], auth-method: none}"#
        let server = try await InProcess.trust(self, clients: clients, { $0.clients = ["app"] })
        let client = TrustClient(backend: server.backend)
        let old: [String: Any] = ["userId": user, "projectId": "proj-1", "deviceName": "Browser"]
        XCTAssertEqual(try client.call("POST", "/verification", old, authorization: nil).status, 200)
        XCTAssertEqual(try client.confirm(user, client.code(user)).status, 200)
        let oldest: [String: Any] = ["userId": "bob@example.com", "clientId": "app", "accessId": ""]
        XCTAssertEqual(try client.call("POST", "/verification", oldest, authorization: nil).status, 200)
        let code = try client.code("bob@example.com")
        let confirmed = try client.call(
            "POST", "/verification/confirmation", ["userId": "bob@example.com", "code": code], authorization: nil)
        XCTAssertEqual(confirmed.object["projectId"] as? String, "proj-1", confirmed.text)
        for body in [old.merging(["delivery": "no"]) { $1 }, ["userId": user, "clientId": "none"]] {
            XCTAssertGreaterThanOrEqual(
                try client.call("POST", "/verification", body, authorization: nil).status, 400)
        }
    }

    func testTheOldestClientsAskForTheURLs() async throws {
        let server = try await InProcess.trust(self)
        let answer = try TrustClient(backend: server.backend).get("/rps/v2/clientSettings").object
        let base = "http://127.0.0.1:\(server.backend.port)"
        XCTAssertEqual(answer["registerURL"] as? String, base + "/rps/v2/user")
        XCTAssertEqual(answer["mpinAuthServerURL"] as? String, base + "/rps/v2")
        XCTAssertEqual((answer["seedValue"] as? String)?.count, 200)
    }
}
