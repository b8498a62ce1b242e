import Foundation
import LoopbackServer
import MPinOpenID
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import MPinWire
import XCTest

/// Tests signatures: /dvs/verify and its certificates, and sessions that a phone signs (TRUST wire sections 1.9, 4.13, 4.14
/// and 6.2).
final class TrustSigningTests: XCTestCase {
    private let user = "alice@example.com"
    private let hash = SHA256.hash(Array("a contract".utf8))

    private struct Scene {
        let server: InProcess
        let client: TrustClient
        let device: TrustClient.Device
        let token: String

        var now: Int64 { server.now.seconds }

        func verify(_ signature: [String: Any], at time: Int64? = nil, authorization: String? = nil) throws -> Answer {
            try client.call(
                "POST", "/dvs/verify",
                ["signature": signature, "timestamp": time ?? now, "type": "verification"],
                authorization: authorization ?? "Bearer \(token)")
        }
    }

    private func scene(
        clients: String = "[]", change: (inout AllInOne) -> Void = { _ in },
        _ members: (inout ProjectChange) -> Void = { _ in }
    ) async throws -> Scene {
        let server = try await InProcess.trust(self, clients: clients, change: change, members)
        let client = TrustClient(backend: server.backend)
        return Scene(
            server: server, client: client, device: try client.register(user),
            token: try await server.serviceToken())
    }

    private func parts(_ certificate: String) throws -> [[String: Any]] {
        try certificate.split(separator: ".").prefix(2).map { part in
            try XCTUnwrap(JSONSerialization.jsonObject(with: Data(XCTUnwrap(Base64URL.decode(part)))) as? [String: Any])
        }
    }

    private func keys(_ scene: Scene, _ path: String) throws -> [String] {
        let keys = try scene.client.get(path).object["keys"] as? [[String: Any]] ?? []
        return keys.compactMap { $0["kid"] as? String }
    }

    /// TRUST wire section 10, item 5: the key of the certificates signs no token.
    func testARightSignatureIsCertifiedByAKeyOfItsOwn() async throws {
        let scene = try await scene()
        let time = scene.now
        let answer = try scene.verify(scene.client.sign(scene.device, hash, at: time), at: time)
        XCTAssertEqual(answer.status, 200, answer.text)
        let parts = try parts(XCTUnwrap(answer.object["certificate"] as? String))
        let kid = try XCTUnwrap(parts.first?["kid"] as? String)
        XCTAssertEqual(parts.first?["alg"] as? String, "RS256")
        XCTAssertEqual(try keys(scene, "/dvs/jwks"), [kid])
        XCTAssertFalse(try keys(scene, "/.well-known/jwks").contains(kid))
        let claims = try XCTUnwrap(parts.last)
        XCTAssertEqual(Set(claims.keys), ["cAt", "exp", "hash"])
        XCTAssertEqual(claims["hash"] as? String, Hex.encode(hash))
        let made = try XCTUnwrap(claims["cAt"] as? Int)
        XCTAssertEqual(claims["exp"] as? Int, made + 10)
        XCTAssertGreaterThanOrEqual(made, Int(time))
    }

    /// The signature of a certificate is among those whose processor time is measured. Wrong signatures get none.
    func testTheSignaturesOfCertificatesAreMeasured() async throws {
        let port = freePorts(1)[0]
        let listen = try ListenAddress(host: "127.0.0.1", port: port)
        let scene = try await scene(change: { $0.adminListen = listen })
        func counts() throws -> [Int] {
            let metrics = try scene.server.backend.call("GET", "/metrics", port: port).text.split(separator: "\n")
            return ["RS256", "ES256"].map { algorithm in
                let start = "mpin_signature_cpu_seconds_count{algorithm=\"\(algorithm)\"} "
                let line = metrics.first { $0.hasPrefix(start) }
                return line.flatMap { Int($0.dropFirst(start.count)) } ?? 0
            }
        }
        let before = try counts()
        let time = scene.now
        let right = try scene.client.sign(scene.device, hash, at: time)
        for _ in 0..<2 { XCTAssertEqual(try scene.verify(right, at: time).status, 200) }
        let wrong = try scene.client.sign(scene.device, hash, at: time, pin: "1235")
        XCTAssertEqual(try scene.verify(wrong, at: time).status, 401)
        let after = try counts()
        XCTAssertEqual([after[0] - before[0], after[1] - before[1]], [2, 0])
    }

    /// Section 10, items 1, 3 and 5. A right signature does not forget the wrong ones: anybody can send it again.
    func testWrongSignaturesCountAsWrongPINs() async throws {
        let scene = try await scene()
        let time = scene.now
        let right = try scene.client.sign(scene.device, hash, at: time)
        let wrongPIN = try scene.client.sign(scene.device, hash, at: time, pin: "1235")
        XCTAssertEqual(try scene.verify(wrongPIN, at: time).status, 401)
        XCTAssertEqual(try scene.verify(right, at: time).status, 200)
        let tampered = right.merging(["hash": Hex.encode(SHA256.hash(hash))]) { $1 }
        XCTAssertEqual(try scene.verify(tampered, at: time).status, 401)
        let wrong = try await scene.server.users().find(user: user).map(\.wrongPINs)
        XCTAssertEqual(wrong, [2])
        let key = Hex.encode(try TrustClient.KeyPair().publicKey)
        let last = try scene.verify(right.merging(["publicKey": key]) { $1 }, at: time)
        XCTAssertEqual([last.status, 410], [410, last.status], "the third one blocks: \(last.text)")
        XCTAssertEqual(try scene.verify(right, at: time).code, "REVOKED_MPINID", "blocked")
        _ = try await scene.server.users().change(.unblock, user: user, identity: nil, audit: .off)
        XCTAssertEqual(try scene.verify(right, at: time).status, 200)
        _ = try await scene.server.users().change(.revoke, user: user, identity: nil, audit: .off)
        XCTAssertEqual(try scene.verify(right, at: time).status, 410)
        let invented = Hex.encode(Array(#"{"userID":"x","salt":"y","cID":"proj-1"}"#.utf8))
        let unknown = try scene.verify(right.merging(["mpinId": invented]) { $1 }, at: time)
        XCTAssertEqual([unknown.status, 401], [401, unknown.status], "an unknown ID is a wrong PIN")
    }

    /// Section 10, item 5. A time outside of the window is refused before anything is judged, and costs no attempt.
    func testTheTimeMustBeNow() async throws {
        let scene = try await scene()
        for (age, status) in [(590, 200), (-50, 200), (620, 401), (-80, 401)] {
            let time = scene.now - Int64(age)
            let signature = try scene.client.sign(scene.device, hash, at: time)
            XCTAssertEqual(try scene.verify(signature, at: time).status, status, "\(age)")
        }
        let signature = try scene.client.sign(scene.device, hash, at: scene.now)
        for time in [0, -1, Int64(1) << 32, scene.now * 1000, .max] {
            let answer = try scene.verify(signature, at: time)
            XCTAssertEqual([answer.code, answer.context["params"]], ["INVALID_REQUEST_PARAMETERS", "timestamp"])
        }
        let wrong = try await scene.server.users().find(user: user).map(\.wrongPINs)
        XCTAssertEqual(wrong, [0])
    }

    /// What is signed are opaque bytes. The first iOS sample signs the text of the hash in hex.
    func testAnyBytesCanBeSigned() async throws {
        let scene = try await scene()
        for bytes in [[0], Array(Hex.encode(hash).utf8), [UInt8](repeating: 7, count: 256)] {
            let answer = try scene.verify(scene.client.sign(scene.device, bytes, at: scene.now))
            XCTAssertEqual(answer.status, 200, answer.text)
        }
        let right = try scene.client.sign(scene.device, hash, at: scene.now)
        let bad: [(String, Any)] = [
            ("hash", ""), ("hash", "0g"), ("hash", String(repeating: "00", count: 257)), ("u", "04"), ("v", "00"),
            ("publicKey", ""), ("mpinId", "x"),
        ]
        for (name, value) in bad {
            let answer = try scene.verify(right.merging([name: value]) { $1 })
            XCTAssertEqual([answer.code, answer.context["params"]], ["INVALID_REQUEST_PARAMETERS", name])
        }
        XCTAssertEqual(try scene.verify([:]).code, "INVALID_REQUEST_BODY")
    }

    func testOnlyTheProjectsBackEndHasSignaturesVerified() async throws {
        let secret = "a secret for tests, longer than it must be"
        let long = String(repeating: "s", count: 80)
        let clients = """
            - id: long
              secret-sha256: \(Hex.encode(SHA256.hash(Array(long.utf8))))
              redirect-uri: [https://long.example/cb]
            - id: shop
              secret-sha256: \(Hex.encode(SHA256.hash(Array(secret.utf8))))
              redirect-uri: [https://shop.example/cb]
            - id: closed
              secret-sha256: \(Hex.encode(SHA256.hash(Array(secret.utf8))))
              redirect-uri: [https://closed.example/cb]
              disabled: true
            """
        let scene = try await scene(clients: clients, { $0.clients = ["shop", "closed", "long"] })
        let time = scene.now
        let signature = try scene.client.sign(scene.device, hash, at: time)
        func status(_ authorization: String) throws -> Int {
            try scene.verify(signature, at: time, authorization: authorization).status
        }
        let (token, hex) = (scene.token, Hex.encode(hash))
        for right in [
            TrustClient.basic("backend", token), TrustClient.hmac("backend", token, hex),
            TrustClient.basic("shop", secret), TrustClient.basic("long", long), "bearer \(token)",
        ] {
            XCTAssertEqual(try status(right), 200, right)
        }
        let other = try await scene.server.projects().add("other", ProjectChange())
        XCTAssertEqual(other.project.id, "other")
        let foreign = try await scene.server.serviceToken(project: "other")
        for wrong in [
            "Bearer x", "Bearer " + token + "x", "Bearer", "", TrustClient.basic("other", token),
            TrustClient.basic("shop", token), TrustClient.basic("backend", secret),
            TrustClient.hmac("backend", token, hex + "00"), TrustClient.hmac("backend", "x", hex),
            TrustClient.hmac("shop", secret, hex), TrustClient.hmac("long", long, hex),
            TrustClient.basic("closed", secret), "Bearer \(foreign)",
            "MAAS-HMAC-SHA256 x", "Basic :",
        ] {
            XCTAssertEqual(try status(wrong), 401, wrong)
        }
        try await scene.server.projects().removeToken("backend", project: "proj-1")
        XCTAssertEqual(try status("Bearer \(token)"), 401, "removed")
        var change = ProjectChange()
        change.clients = [""]
        _ = try await scene.server.projects().set("proj-1", change)
        XCTAssertEqual(try status(TrustClient.basic("shop", secret)), 401, "named no longer")
        let short = try await scene.server.serviceToken()
        scene.server.advance(seconds: 86_401)
        let late = try scene.client.sign(scene.device, hash, at: scene.now)
        XCTAssertEqual(try scene.verify(late, authorization: "Bearer \(short)").status, 401, "expired")
    }

    /// Whoever reads the database can make no HMAC with what is there, by service tokens and by long secrets of clients.
    func testWhatTheStoreHasIsNoKeyOfAnHMAC() async throws {
        let scene = try await scene()
        let (path, secret) = (scene.server.backend.stateFolder + "/rps.sqlite", String(repeating: "s", count: 80))
        let clients = try await ClientAdministration(database: ServiceDatabase(path), file: nil, audit: .off)
        var change = ClientChange()
        change.set(try XCTUnwrap(ClientMember.named("redirect-uri")), ["https://shop.example/cb"])
        _ = try await clients.add("shop", change, secret: secret)
        var named = ProjectChange()
        named.clients = ["shop"]
        _ = try await scene.server.projects().set("proj-1", named)
        let (time, hex) = (scene.now, Hex.encode(hash))
        let signature = try scene.client.sign(scene.device, hash, at: time)
        func status(_ authorization: String) throws -> Int {
            try scene.verify(signature, at: time, authorization: authorization).status
        }
        for (id, secret) in [("backend", scene.token), ("shop", secret)] {
            XCTAssertEqual(try status(TrustClient.hmac(id, secret, hex)), 200, id)
            XCTAssertEqual(try status(TrustClient.basic(id, secret)), 200, id)
        }
        let store = try SQLiteStore(path: path)
        for (id, table) in [("backend", "project_token"), ("shop", "clients")] {
            let rows = try await store.list(table, after: nil, limit: 10, at: .now()).map(\.item.value)
            let keys = rows.flatMap { String(decoding: $0, as: UTF8.self).matches(of: /[0-9a-f]{40,}/) }
                .flatMap { found -> [[UInt8]] in
                    let bytes = Hex.decode(String(found.output)) ?? []
                    return [bytes, Array(bytes.prefix(32)), Array(bytes.suffix(32)), Array(found.output.utf8)]
                }
            XCTAssertGreaterThanOrEqual(keys.count, 8, "a digest and a box: \(table)")
            for key in keys {
                let tag = HMACSHA256.tag(Array(hex.utf8), key: SecretBytes(copying: key.span))
                XCTAssertEqual(try status(TrustClient.hmac(id, tag: tag)), 401, "\(table): \(Hex.encode(key))")
            }
        }
    }

    /// The example of the vendor's first SDK. Its secret is shorter than a block of SHA-256, so the hash that we store of
    /// a secret is not its key.
    func testTheVendorsHMACIsRead() throws {
        let header =
            "MAAS-HMAC-SHA256 TW9ja0NsaWVudElkOmU1M2U4ZTY2NGM0NWJlMzQyZWZjZmExNDZlNTM4ODc3ZGYyYWQ2NDViNGExYTA1OWIxNmY5"
            + "NTBkMzhhZGUzYzU="
        let document = "1789c9eeee7dcbf9a5e9b47374e244f85263dc45922a249d37f7ba9fd4efb850"
        let credentials = try XCTUnwrap(ProjectCredentials(header, document: document))
        XCTAssertEqual(credentials.id, "MockClientId")
        XCTAssertTrue(credentials.proves(key: SecretBytes(utf8: "MockClientSecret")))
        XCTAssertFalse(credentials.proves(key: SecretBytes(utf8: "MockClientSecreT")))
        let seal = HashSeal(from: try .random(count: 32, from: systemRandom))
        XCTAssertFalse(credentials.proves(SecretHash(of: "MockClientSecret"), seal, owner: "x"))
        XCTAssertNil(ProjectCredentials(header))
        let long = String(repeating: "s", count: 65)
        let own = try XCTUnwrap(ProjectCredentials(TrustClient.hmac("a", long, document), document: document))
        XCTAssertTrue(own.proves(SecretHash(of: long), seal, owner: "x"))
        XCTAssertTrue(own.proves(try SecretHash(of: long).sealed(by: seal, owner: "x"), seal, owner: "x"))
    }

    private func session(_ scene: Scene, _ more: [String: Any] = [:]) throws -> (wid: String, webOTT: String) {
        let body: [String: Any] = ["projectId": "proj-1", "description": "a contract", "hash": Hex.encode(hash)]
        let opened: TrustSessionResponse = try scene.client.post("/rps/v2/session", body.merging(more) { $1 }).json()
        return (try XCTUnwrap(opened.qrURL.components(separatedBy: "#").last), opened.webOTT)
    }

    private func report(_ scene: Scene, _ wid: String, _ signature: [String: Any], at time: Int64) throws -> Answer {
        let text = try JSONSerialization.data(withJSONObject: signature.merging(["timestamp": time]) { $1 })
        return try scene.client.post(
            "/rps/v2/codeStatus", ["wid": wid, "status": "signed", "signature": text.base64EncodedString()])
    }

    private func poll(_ scene: Scene, _ webOTT: String) throws -> [String: Any] {
        try scene.client.post("/rps/v2/access", ["webOTT": webOTT]).object
    }

    /// Section 10, item 7: the phone is told what it signs before it asks for the PIN.
    func testAPhoneSignsASession() async throws {
        let scene = try await scene()
        let (wid, webOTT) = try session(scene)
        let details = try scene.client.post("/rps/v2/codeStatus", ["wid": wid, "status": "wid"]).object
        XCTAssertEqual(
            ["description", "hash", "projectId", "projectName"].map { details[$0] as? String },
            ["a contract", Hex.encode(hash), "proj-1", "proj-1"])
        let time = scene.now
        let right = try scene.client.sign(scene.device, hash, at: time)
        let other = try scene.client.sign(scene.device, SHA256.hash(hash), at: time)
        XCTAssertEqual(try report(scene, wid, other, at: time).code, "UNSUCCESSFUL_AUTHENTICATION", "another document")
        let wrong = try scene.client.sign(scene.device, hash, at: time, pin: "1235")
        XCTAssertEqual(try report(scene, wid, wrong, at: time).code, "UNSUCCESSFUL_AUTHENTICATION")
        XCTAssertEqual(
            try scene.client.login(scene.device, scope: "oidc", wid: wid).code, "INVALID_AUTHENTICATION_SESSION",
            "a login is no signature")
        XCTAssertEqual(try poll(scene, webOTT)["status"] as? String, "wid")
        XCTAssertEqual(try report(scene, wid, right, at: time).status, 200)
        for _ in 0..<2 {
            let answer = try poll(scene, webOTT)
            XCTAssertEqual([answer["status"] as? String, answer["userId"] as? String], ["signed", user])
            let text = try XCTUnwrap(Data(base64Encoded: answer["signature"] as? String ?? ""))
            let made = try XCTUnwrap(JSONSerialization.jsonObject(with: text) as? [String: Any])
            XCTAssertEqual(made["timestamp"] as? Int64, time)
            XCTAssertEqual(try scene.verify(made, at: time).status, 200)
        }
        for status in ["abort", "wid", "user"] {
            let late = try scene.client.post("/rps/v2/codeStatus", ["wid": wid, "status": status])
            XCTAssertEqual(late.code, "INVALID_AUTHENTICATION_SESSION", status)
        }
        XCTAssertEqual(try report(scene, wid, right, at: time).code, "INVALID_AUTHENTICATION_SESSION", "signed before")
    }

    func testASigningSessionIsForItsUserAndTime() async throws {
        let scene = try await scene()
        let time = scene.now
        let right = try scene.client.sign(scene.device, hash, at: time)
        let forBob = try session(scene, ["userId": "bob@example.com"])
        XCTAssertEqual(try report(scene, forBob.wid, right, at: time).code, "UNSUCCESSFUL_AUTHENTICATION")
        let login = try session(scene, ["hash": ""])
        XCTAssertEqual(try report(scene, login.wid, right, at: time).code, "INVALID_AUTHENTICATION_SESSION")
        for text in ["", "x", Data("{}".utf8).base64EncodedString()] {
            let body = ["wid": forBob.wid, "status": "signed", "signature": text]
            XCTAssertEqual(try scene.client.post("/rps/v2/codeStatus", body).context["params"], "signature")
        }
        for bad in ["xx", String(repeating: "00", count: 257)] {
            let refused = try scene.client.post("/rps/v2/session", ["projectId": "proj-1", "hash": bad])
            XCTAssertEqual(refused.context["params"], "hash")
        }
        let own = try session(scene)
        scene.server.advance(seconds: 400)
        let late = try scene.client.sign(scene.device, hash, at: scene.now)
        XCTAssertEqual(try report(scene, own.wid, late, at: scene.now).code, "INVALID_AUTHENTICATION_SESSION")
    }

    /// The sessions of the first native clients (section 4.14).
    func testTheFirstClientsHaveSessionsOfTheirOwn() async throws {
        let scene = try await scene()
        func call(_ method: String, _ path: String, _ body: [String: Any]) throws -> Answer {
            try scene.client.call(method, path, body, authorization: nil)
        }
        let wish = ["projectID": "proj-1", "userID": user, "hash": Hex.encode(hash), "description": "a contract"]
        let opened = try call("POST", "/dvs/session", wish).object
        let id = try XCTUnwrap(opened["id"] as? String)
        XCTAssertTrue((opened["qrURL"] as? String ?? "").hasSuffix("#" + id))
        func details() throws -> [String: Any] { try call("POST", "/dvs/session/details", ["id": id]).object }
        let shown = try details()
        XCTAssertEqual(
            ["userID", "hash", "description", "status", "projectID", "projectName"].map { shown[$0] as? String },
            [user, Hex.encode(hash), "a contract", "active", "proj-1", "proj-1"])
        XCTAssertEqual(Double(shown["expireTime"] as? Int64 ?? 0), Double(scene.now + 300), accuracy: 5)
        let time = scene.now
        let signature = try scene.client.sign(scene.device, hash, at: time)
        let update: [String: Any] = ["id": id, "signature": signature, "timestamp": time]
        XCTAssertEqual(try call("PUT", "/dvs/session", update).object["status"] as? String, "signed")
        XCTAssertEqual(try details()["status"] as? String, "signed")
        let again = try call("PUT", "/dvs/session", update)
        XCTAssertEqual([again.code, again.context["params"]], ["INVALID_REQUEST_PARAMETERS", "id"])
        let polled = try poll(scene, XCTUnwrap(opened["webOTT"] as? String))
        XCTAssertEqual(polled["status"] as? String, "signed")
        let second = try XCTUnwrap(call("POST", "/dvs/session", wish).object["id"] as? String)
        XCTAssertEqual(try call("DELETE", "/dvs/session", ["id": second]).status, 200)
        let unknown: [(String, String)] = [
            ("POST", "/dvs/session/details"), ("DELETE", "/dvs/session"),
        ]
        for (method, path) in unknown {
            let answer = try call(method, path, ["id": String(repeating: "0", count: 32)])
            XCTAssertEqual([answer.code, answer.context["params"]], ["INVALID_REQUEST_PARAMETERS", "id"], method)
        }
        XCTAssertEqual(try call("POST", "/dvs/session", ["projectID": "proj-1", "hash": ""]).context["params"], "hash")
    }
}
