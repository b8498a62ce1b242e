import Foundation
import MPinOpenID
import MPinSecrets
import MPinServer
import MPinService
import MPinWire
import XCTest

/// Tests logins of clients of MIRACL Trust: tokens, wrong PINs, blocks, and browsers that wait for a phone.
final class TrustLoginTests: XCTestCase {
    private let user = "alice@example.com"

    private func claims(_ answer: Answer) throws -> (header: [String: Any], claims: [String: Any]) {
        let token = try XCTUnwrap(answer.object["jwt"] as? String, answer.text)
        let parts = try token.split(separator: ".").prefix(2).map { part in
            let bytes = try XCTUnwrap(Base64URL.decode(part))
            return try XCTUnwrap(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        }
        return (parts[0], parts[1])
    }

    func testALoginGivesATokenForTheProjectAndAMinute() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let (header, claims) = try claims(client.login(device))
        let keys = try client.get("/.well-known/jwks").object["keys"] as? [[String: Any]] ?? []
        let key = try XCTUnwrap(keys.first { $0["kid"] as? String == header["kid"] as? String })
        XCTAssertEqual([header["alg"] as? String, key["alg"] as? String], ["RS256", "RS256"])
        XCTAssertEqual(
            ["aud", "sub", "scope", "iss"].map { claims[$0] as? String },
            ["proj-1", user, "jwt", "http://127.0.0.1:\(server.backend.port)"])
        let (begun, end) = (try XCTUnwrap(claims["iat"] as? Int), try XCTUnwrap(claims["exp"] as? Int))
        XCTAssertEqual(end - begun, 60)
        XCTAssertEqual(Double(begun), Double(server.now.seconds), accuracy: 5)
        let signing = try client.login(device, scope: "dvs-auth")
        XCTAssertEqual(signing.status, 200)
        XCTAssertNil(signing.object["jwt"])
    }

    /// A client of the provider would take the token for an ID token if its id were that of the project.
    func testNoTokenIsSignedForAProjectWithTheIDOfAClient() async throws {
        let clients = #"- {id: app, redirect-uri: ["https://app.example/cb"], auth-method: none}"#
        let server = try await InProcess.trust(self, project: "app", clients: clients)
        let client = TrustClient(backend: server.backend, project: "app")
        let device = try client.register(user)
        let answer = try client.login(device)
        XCTAssertEqual(answer.status, 503)
        XCTAssertNil(answer.object["jwt"])
    }

    /// TRUST wire section 10, items 1 and 2: another public key than the registered one is a wrong PIN; proofs and
    /// one-time tokens are good once; a proof without pass 1 gets a token of no effect.
    func testEachStepCountsOnce() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        var foreign = device
        foreign.publicKey = try client.register("bob@example.com").publicKey
        XCTAssertEqual(try client.login(foreign).code, "UNSUCCESSFUL_AUTHENTICATION")

        let begun = try client.begin(device, pin: "1234", scope: "jwt")
        let body = try client.pass2Body(begun, client.post("/rps/v2/pass1", begun.body), wid: nil)
        let token = try client.post("/rps/v2/pass2", body).object
        let again = try client.post("/rps/v2/pass2", body)
        XCTAssertEqual(again.status, 200, "the verdict comes with the next request only")
        XCTAssertEqual(try client.post("/rps/v2/authenticate", again.object).code, "UNSUCCESSFUL_AUTHENTICATION")
        XCTAssertEqual(try client.post("/rps/v2/authenticate", token).status, 200)
        XCTAssertEqual(try client.post("/rps/v2/authenticate", token).code, "UNSUCCESSFUL_AUTHENTICATION")
        let late = try client.prove(device)
        let opened: TrustSessionResponse = try client.post("/rps/v2/session", ["projectId": "proj-1"]).json()
        let wid = try XCTUnwrap(opened.qrURL.components(separatedBy: "#").last)
        let lateForPage = try client.prove(device, scope: "oidc", wid: wid)
        server.advance(seconds: 61)
        for late in [late, lateForPage] {
            XCTAssertEqual(try client.post("/rps/v2/authenticate", late).code, "UNSUCCESSFUL_AUTHENTICATION")
        }
        XCTAssertEqual(try client.login(device, scope: "oidc", wid: wid).status, 200, "the page still waits")
    }

    func testBadPassesGetErrorsOfTheWire() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let good = try client.begin(client.register(user), pin: "1234", scope: "jwt").body
        let changes: [(String, Any, String)] = [
            ("scope", ["unstated"], "scope"), ("scope", [String](), "scope"), ("publicKey", "00", "publicKey"),
            ("U", "04", "U"), ("UT", "04", "UT"), ("mpin_id", "x", "mpin_id"),
        ]
        for (name, value, parameter) in changes {
            let answer = try client.post("/rps/v2/pass1", good.merging([name: value]) { $1 })
            XCTAssertEqual(
                [answer.code, answer.context["params"]], ["INVALID_REQUEST_PARAMETERS", parameter], "\(name) \(value)")
        }
        let bad = try client.post("/rps/v2/pass2", ["mpin_id": good["mpin_id"] ?? "", "V": "00"])
        XCTAssertEqual([bad.code, bad.context["params"]], ["INVALID_REQUEST_PARAMETERS", "V"])
        let empty = try client.post("/rps/v2/authenticate", [:])
        XCTAssertEqual([empty.code, empty.context["params"]], ["INVALID_REQUEST_BODY", "authOTT"])
    }

    /// The tokens of one wire have no effect on the other.
    func testATokenIsOfItsWireAndScope() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        for scope in ["jwt", "dvs-auth", "oidc"] {
            let proof = try client.prove(device, scope: scope)
            let token = try XCTUnwrap(proof["authOTT"] as? String)
            let answer = try client.post("/mpinAuthenticate", ["mpinResponse": ["authOTT": token]])
            XCTAssertEqual(answer.status, 408, scope)
        }
        let milagro = TestClient(backend: server.backend)
        let bob = try milagro.register("bob@example.com", pin: "1234")
        let pass2 = try milagro.pass2(milagro.pass1(bob, pin: "1234", permit: milagro.timePermit(bob)))
        XCTAssertEqual(try client.post("/rps/v2/authenticate", pass2.object).code, "UNSUCCESSFUL_AUTHENTICATION")
        XCTAssertEqual(try milagro.authenticate(pass2).status, 200)
    }

    func testThreeWrongPINsBlockForGoodAndTheOperatorUnblocks() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        XCTAssertEqual(try client.login(device, pin: "1235").status, 401)
        XCTAssertEqual(try client.login(device).status, 200, "a right PIN forgets the wrong ones")
        let codes = try (0..<3).map { _ in try client.login(device, pin: "1235").code }
        let wrong = "UNSUCCESSFUL_AUTHENTICATION"
        XCTAssertEqual(codes, [wrong, wrong, "REVOKED_MPINID"])
        let begun = try client.begin(device, pin: "1234", scope: "jwt")
        XCTAssertEqual(try client.post("/rps/v2/pass1", begun.body).code, "EXPIRED_MPINID")
        let foreign = begun.body.merging(["publicKey": Hex.encode(try TrustClient.KeyPair().publicKey)]) { $1 }
        XCTAssertEqual(try client.post("/rps/v2/pass1", foreign).status, 200, "only the owner is told")
        let states = try await server.users().find(user: user).map(\.state)
        XCTAssertEqual(states, ["blocked"])
        _ = try await server.users().change(.unblock, user: user, identity: nil, audit: .off)
        XCTAssertEqual(try client.login(device).status, 200)
        let proof = try client.prove(device)
        _ = try await server.users().change(.revoke, user: user, identity: nil, audit: .off)
        XCTAssertEqual(try client.post("/rps/v2/authenticate", proof).code, "REVOKED_MPINID")
        XCTAssertEqual(try client.post("/rps/v2/pass1", begun.body).code, "EXPIRED_MPINID")
    }

    /// An identity whose master secret has ended must register again. Its device is told so in its first request, because
    /// clients forget their user on no other one.
    func testASecretThatHasEndedIsToldAtOnce() async throws {
        let server = try await InProcess.trust(self, change: { $0.limits.service.keyWatchSeconds = 1 })
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let end = server.now.adding(seconds: 3600)
        for name in ["dta1", "dta2"] { try server.backend.rotate(name, until: end) }
        server.advance(seconds: 3601)
        let begun = try client.begin(device, pin: "1234", scope: "jwt").body
        let deadline = Date(timeIntervalSinceNow: 60)
        var answer = try client.post("/rps/v2/pass1", begun)
        while answer.status == 200, Date() < deadline { answer = try client.post("/rps/v2/pass1", begun) }
        XCTAssertEqual(answer.code, "EXPIRED_MPINID", answer.text)
        let foreign = begun.merging(["publicKey": Hex.encode(try TrustClient.KeyPair().publicKey)]) { $1 }
        XCTAssertEqual(try client.post("/rps/v2/pass1", foreign).status, 200, "only the owner is told")
        XCTAssertEqual(try client.login(client.register(user)).status, 200)
    }

    func testATemporaryBlockTellsItsEnd() async throws {
        let server = try await InProcess.trust(self, change: { $0.block = .temporary(seconds: 120) })
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        var last: Answer?
        for _ in 0..<3 { last = try client.login(device, pin: "1235") }
        XCTAssertEqual(last?.code, "UNSUCCESSFUL_AUTHENTICATION")
        let end = try XCTUnwrap(last?.context["blockedUntil"].flatMap { Int64($0) }, last?.text ?? "")
        XCTAssertEqual(Double(end), Double(server.now.seconds + 120), accuracy: 5)
        let right = try client.login(device)
        XCTAssertEqual([right.code, right.context["blockedUntil"]], ["UNSUCCESSFUL_AUTHENTICATION", "\(end)"])
        server.advance(seconds: 121)
        XCTAssertEqual(try client.login(device).status, 200)
    }

    /// A user whom the relying party refuses gets no token, as on the other wire no permit.
    func testAUserOnTheListOfRevokedUsersIsRefused() async throws {
        let file = NSTemporaryDirectory() + "revoked-" + UUID().uuidString
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let server = try await InProcess.trust(self, change: { $0.revokedUsersFile = file })
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        XCTAssertEqual(try client.login(device).status, 200)
        try user.write(toFile: file, atomically: true, encoding: .utf8)
        XCTAssertEqual(try client.login(device).code, "REVOKED_MPINID")
    }

    func testAPhoneLogsASessionIn() async throws {
        let server = try await InProcess.trust(self, { $0.linkURL = "https://app.example/x" })
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let opened: TrustSessionResponse = try client.post(
            "/rps/v2/session", ["projectId": "proj-1", "userId": user, "description": "pay 5"]
        ).json()
        XCTAssertEqual(opened.accessURL, "http://127.0.0.1:\(server.backend.port)/rps/v2/access")
        XCTAssertTrue(opened.qrURL.hasPrefix("https://app.example/x#"), opened.qrURL)
        let wid = try XCTUnwrap(opened.qrURL.components(separatedBy: "#").last)
        func poll() throws -> [String?] {
            let answer = try client.post("/rps/v2/access", ["webOTT": opened.webOTT]).object
            return [answer["status"] as? String, answer["userId"] as? String]
        }
        XCTAssertEqual(try poll(), ["new", user])
        let details = try client.post("/rps/v2/codeStatus", ["wid": wid, "status": "wid"]).object
        XCTAssertEqual(
            ["description", "prerollId", "projectId", "hash"].map { details[$0] as? String },
            ["pay 5", user, "proj-1", ""])
        XCTAssertEqual(try poll(), ["wid", user])
        let told = try client.post("/rps/v2/codeStatus", ["wid": wid, "status": "user", "userId": user]).object
        XCTAssertEqual([told["status"] as? String, told["message"] as? String], ["OK", ""])
        XCTAssertEqual(try poll(), ["user", user])
        XCTAssertEqual(try client.login(device, pin: "1235", scope: "oidc", wid: wid).status, 401)
        XCTAssertEqual(try poll(), ["user", user])
        XCTAssertEqual(try client.login(device, scope: "oidc", wid: wid).status, 200)
        for _ in 0..<2 { XCTAssertEqual(try poll(), ["authenticated", user]) }
        XCTAssertEqual(try client.login(device, scope: "oidc", wid: wid).code, "INVALID_AUTHENTICATION_SESSION")
    }

    func testASessionIsForItsUserAndProject() async throws {
        let server = try await InProcess.trust(self)
        _ = try await server.projects().add("other", ProjectChange())
        let client = TrustClient(backend: server.backend)
        let alice = try client.register(user)
        let bob = try client.register("bob@example.com")
        let stranger = try TrustClient(backend: server.backend, project: "other").register("eve@example.com")
        func session(_ user: String?) throws -> (wid: String, webOTT: String) {
            let body = ["projectId": "proj-1"].merging(user.map { ["userId": $0] } ?? [:]) { $1 }
            let opened: TrustSessionResponse = try client.post("/rps/v2/session", body).json()
            return (try XCTUnwrap(opened.qrURL.components(separatedBy: "#").last), opened.webOTT)
        }
        let own = try session(user)
        let ended = "INVALID_AUTHENTICATION_SESSION"
        XCTAssertEqual(try client.login(bob, scope: "oidc", wid: own.wid).code, ended)
        XCTAssertEqual(try client.login(alice, scope: "oidc", wid: own.wid).status, 200)
        let open = try session(nil)
        XCTAssertEqual(try client.login(stranger, scope: "oidc", wid: open.wid).code, ended)
        XCTAssertEqual(try client.login(bob, scope: "oidc", wid: open.wid).status, 200)
        XCTAssertEqual(try client.login(alice, scope: "oidc", wid: String(repeating: "0", count: 32)).code, ended)
        XCTAssertEqual(try client.login(alice, scope: "oidc").code, ended, "no session is named")
        XCTAssertEqual(
            try client.post("/rps/v2/access", ["webOTT": String(repeating: "0", count: 32)]).object["status"]
                as? String,
            "expired")
        // A phone of the other wire knows no projects, and its login does not count.
        let milagro = TestClient(backend: server.backend)
        let carol = try milagro.register("carol@example.com", pin: "1234")
        let third = try session(nil)
        let proof = try milagro.prove(carol, wid: third.wid)
        let phone = Later { try milagro.authenticateMobile(proof).status }
        var status = "new"
        while status == "new" {
            status = try client.post("/rps/v2/access", ["webOTT": third.webOTT]).object["status"] as? String ?? "none"
        }
        XCTAssertEqual(status, "abort")
        _ = try phone.get()
    }

    func testAPhoneAbortsASession() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let opened: TrustSessionResponse = try client.post("/rps/v2/session", ["projectId": "proj-1"]).json()
        let wid = try XCTUnwrap(opened.qrURL.components(separatedBy: "#").last)
        for status in ["authenticated", "new", ""] {
            let refused = try client.post("/rps/v2/codeStatus", ["wid": wid, "status": status])
            XCTAssertEqual(refused.context["params"], "status", status)
        }
        XCTAssertEqual(try client.post("/rps/v2/codeStatus", ["wid": wid, "status": "abort"]).status, 200)
        XCTAssertEqual(
            try client.post("/rps/v2/access", ["webOTT": opened.webOTT]).object["status"] as? String, "abort")
        let unknown = try client.post(
            "/rps/v2/codeStatus", ["wid": String(repeating: "0", count: 32), "status": "wid"])
        XCTAssertEqual(unknown.code, "INVALID_AUTHENTICATION_SESSION")
    }

    /// With `--trust=false` there is none of these paths.
    func testTheWireCanBeOff() throws {
        let server = try InProcess().keep(in: self)
        for path in ["/verification/email", "/registration", "/rps/v2/pass1", "/rps/v2/session", "/pushauth"] {
            XCTAssertEqual(try server.backend.call("POST", path, "{}").status, 404, path)
        }
    }
}
