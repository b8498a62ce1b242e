import Foundation
import MPinCrypto
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import MPinWire
import XCTest

/// Tests what a safe server must check (TRUST wire section 10), one test for each item that other files do not test as a
/// whole, and the limits of all requests. Item 4 is `TrustRegistrationTests.testASecretURLIsForOneIdentityAndAMinute`, item 5 `TrustSigningTests`, item 6
/// `TrustQuickCodeTests.testTokensAreBoundToTheirScope` and item 9 `TrustRenewalTests`. Item 8 is about the lists of
/// trusted domains of clients.
final class TrustSafetyTests: XCTestCase {
    private let user = "alice@example.com"

    /// Points that are not on the curve are refused, and a public key counts only if it is the registered one.
    func testItem1PointsAndKeysAreChecked() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let good = try client.begin(device, pin: "1234", scope: "jwt").body
        let point = try XCTUnwrap(good["U"] as? String)
        let off = String(point.dropLast()) + (point.hasSuffix("0") ? "1" : "0")
        let infinity = "04" + String(repeating: "0", count: 128)
        for bad in [off, infinity, "00", "", String(point.dropLast(2))] {
            XCTAssertEqual(try client.post("/rps/v2/pass1", good.merging(["U": bad]) { $1 }).context["params"], "U")
            let withUT = try client.post("/rps/v2/pass1", good.merging(["UT": bad]) { $1 })
            XCTAssertEqual(withUT.context["params"], bad.isEmpty ? nil : "UT")
            let pass2 = try client.post("/rps/v2/pass2", ["mpin_id": device.id, "V": bad])
            XCTAssertEqual(pass2.context["params"], "V")
        }
        var foreign = device
        foreign.publicKey = try client.register("bob@example.com").publicKey
        XCTAssertEqual(try client.login(foreign).code, "UNSUCCESSFUL_AUTHENTICATION")
    }

    /// A challenge is good for one proof, for fifteen seconds, and for its M-Pin ID and U.
    func testItem2AChallengeIsGoodOnce() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let (device, other) = (try client.register(user), try client.register("bob@example.com"))
        func verdict(_ body: [String: Any]) throws -> Int {
            try client.post("/rps/v2/authenticate", client.post("/rps/v2/pass2", body).object).status
        }
        let begun = try client.begin(device, pin: "1234", scope: "jwt")
        let pass1 = try client.post("/rps/v2/pass1", begun.body)
        let body = try client.pass2Body(begun, pass1, wid: nil)
        XCTAssertEqual(try verdict(body.merging(["mpin_id": other.id]) { $1 }), 401, "of another M-Pin ID")
        XCTAssertEqual(try verdict(body), 200)
        XCTAssertEqual(try verdict(body), 401, "used")
        let second = try client.begin(device, pin: "1234", scope: "jwt")
        let crossed = try client.pass2Body(begun, client.post("/rps/v2/pass1", second.body), wid: nil)
        XCTAssertEqual(try verdict(crossed), 401, "of another U")
        let late = try client.begin(device, pin: "1234", scope: "jwt")
        let proof = try client.pass2Body(late, client.post("/rps/v2/pass1", late.body), wid: nil)
        server.advance(seconds: 16)
        XCTAssertEqual(try verdict(proof), 401, "too late")
        let ys = try (0..<2).map { _ in try client.post("/rps/v2/pass1", begun.body).object["y"] as? String }
        XCTAssertNotEqual(ys[0], ys[1])
    }

    /// Logins at the same time get no more guesses, and an unknown ID gets the same answers as a wrong PIN.
    func testItem3ParallelLoginsGetNoMoreGuesses() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        /// Returns the status of the first answer that ends a login: pass 1 refuses an identity that other logins have
        /// blocked meanwhile, and pass 2 one with too many logins at a time.
        @Sendable func login(_ pin: String) throws -> Int {
            let begun = try client.begin(device, pin: pin, scope: "jwt")
            let pass1 = try client.post("/rps/v2/pass1", begun.body)
            guard pass1.status == 200 else { return pass1.status }
            let pass2 = try client.post("/rps/v2/pass2", client.pass2Body(begun, pass1, wid: nil))
            guard pass2.status == 200 else { return pass2.status }
            return try client.post("/rps/v2/authenticate", pass2.object).status
        }
        let logins = (0..<8).map { number in Later { try login(String(2000 + number)) } }
        let answers = try logins.map { try $0.get() }
        XCTAssertTrue(answers.allSatisfy { [401, 410, 503].contains($0) }, "\(answers)")
        // Wrong proofs for several challenges cost one attempt together, so fewer than three may be counted by now.
        for _ in 0..<3 { XCTAssertTrue([401, 410].contains(try login("1999"))) }
        let found = try await server.users().find(user: user)
        XCTAssertEqual(found.map(\.wrongPINs), [3])
        XCTAssertEqual(found.map(\.state), ["blocked"])

        let bob = try client.register("bob@example.com")
        let text = String(decoding: Hex.decode(bob.id) ?? [], as: UTF8.self).replacing("bob@", with: "eve@")
        let invented = Hex.encode(Array(text.utf8))
        let begun = try client.begin(bob, pin: "1235", scope: "jwt")
        var codes: [[String?]] = []
        for id in [bob.id, invented] {
            let pass1 = try client.post("/rps/v2/pass1", begun.body.merging(["mpin_id": id]) { $1 })
            let body = try client.pass2Body(begun, pass1, wid: nil).merging(["mpin_id": id]) { $1 }
            let answer = try client.post("/rps/v2/authenticate", client.post("/rps/v2/pass2", body).object)
            codes.append([pass1.object["y"] == nil ? nil : "y", answer.code, answer.object["info"] as? String])
        }
        XCTAssertEqual(codes[0], codes[1])
    }

    /// A phone is told who asks for what before it asks for the PIN, and only the browser's own token shows the login.
    func testItem7ASessionBelongsToItsBrowser() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let opened: TrustSessionResponse = try client.post(
            "/rps/v2/session", ["projectId": "proj-1", "description": "log in at a till"]
        ).json()
        let wid = try XCTUnwrap(opened.qrURL.components(separatedBy: "#").last)
        XCTAssertNotEqual(wid, opened.webOTT)
        let details = try client.post("/rps/v2/codeStatus", ["wid": wid, "status": "wid"]).object
        XCTAssertEqual(
            [details["description"] as? String, details["projectName"] as? String], ["log in at a till", "proj-1"])
        XCTAssertEqual(try client.login(device, scope: "oidc", wid: wid).status, 200)
        for token in [wid, "", String(opened.webOTT.dropLast())] {
            let stranger = try client.post("/rps/v2/access", ["webOTT": token]).object
            XCTAssertEqual(stranger["status"] as? String, "expired", token)
            XCTAssertEqual(stranger["userId"] as? String, "")
        }
        let own = try client.post("/rps/v2/access", ["webOTT": opened.webOTT]).object
        XCTAssertEqual(own["status"] as? String, "authenticated")
    }

    /// Too many requests for one identity or one user are refused, by whatever request of whatever generation.
    func testRequestsForOneIdentityAreLimited() async throws {
        let server = try await InProcess.trust(
            self,
            change: {
                $0.rates.loginIdentity = RateLimit("1/600")
                $0.rates.registerIdentity = RateLimit("1/600")
            })
        let client = TrustClient(backend: server.backend)
        let other = "00" + String(repeating: "7b7d", count: 8)
        let point = "04" + String(repeating: "1", count: 128)
        let pass1: [String: Any] = ["scope": ["jwt"], "mpin_id": other, "U": point, "UT": ""]
        let pass2: [String: Any] = ["mpin_id": other, "V": point, "OTP": false, "WID": "0"]
        XCTAssertNotEqual(try client.post("/rps/v2/pass1", pass1).status, 429)
        let bearer = ["Authorization": "Bearer " + (try await server.serviceToken())]
        let signature: [String: Any] = [
            "mpinId": other, "u": try self.point(), "v": try self.point(),
            "publicKey": String(repeating: "0", count: 256),
            "hash": "00", "dtas": "",
        ]
        let verify: [String: Any] = ["signature": signature, "timestamp": server.now.seconds, "type": ""]
        let logins = [
            try client.post("/rps/v2/pass1", pass1), try client.post("/rps/v2/pass2", pass2),
            try client.post("/rps/pass1", pass1), try client.post("/rps/pass2", pass2),
            try client.post("/dvs/verify", verify, headers: bearer),
        ]
        XCTAssertEqual(logins.map(\.status), [429, 429, 429, 429, 429])
        XCTAssertEqual(logins[0].code, "TOO_MANY_REQUESTS")

        let wish: [String: Any] = [
            "userId": user, "activationToken": "00", "publicKey": "00", "code": "00", "activateCode": "00", "mobile": 0,
        ]
        XCTAssertNotEqual(try client.post("/registration", wish).status, 429)
        let registrations = [
            try client.post("/registration", wish), try client.post("/verification/email", wish),
            try client.post("/verification/confirmation", wish), try client.put("/rps/v2/user", wish),
            try client.put("/rps/user", wish),
        ]
        XCTAssertEqual(registrations.map(\.status), [429, 429, 429, 429, 429])
    }

    /// A login with the scope `reg-code` makes only so many QuickCodes.
    func testQuickCodesOfOneUserAreLimited() async throws {
        let server = try await InProcess.trust(self, change: { $0.rates.registerIdentity = RateLimit("2/6000") })
        let client = TrustClient(backend: server.backend)
        // The mail was a request that counts. Its code and the registration were right, and do not.
        let device = try client.register(user)
        XCTAssertEqual(try client.quickCode(device).status, 200)
        XCTAssertEqual(try client.quickCode(device).code, "TOO_MANY_REQUESTS")
    }

    /// Too many requests from one address are refused, by each path, and so are those of back ends with wrong credentials.
    func testRequestsOfOneAddressAreLimited() async throws {
        let server = try await InProcess.trust(
            self,
            change: {
                $0.rates.registerAddress = RateLimit("1/600")
                $0.rates.loginAddress = RateLimit("1/600")
                $0.rates.accessAddress = RateLimit("1/600")
                $0.rates.pollAddress = RateLimit("1/600")
                $0.rates.tokenAddress = RateLimit("1/600")
            })
        let groups: [[(method: String, path: String)]] = [
            [
                ("POST", "/registration"), ("POST", "/verification/email"), ("POST", "/verification/confirmation"),
                ("POST", "/verification/quickcode"), ("POST", "/verification"), ("PUT", "/rps/v2/user"),
                ("GET", "/rps/v2/signature/7b7d"), ("POST", "/rps/v2/dvsregister"), ("PUT", "/rps/user"),
                ("PUT", "/mfa/proj-1/rps/user"), ("POST", "/mfa/proj-1/verification"),
            ],
            [
                ("POST", "/rps/v2/pass1"), ("POST", "/rps/v2/pass2"), ("POST", "/rps/v2/authenticate"),
                ("POST", "/mfa/proj-1/rps/pass1"), ("POST", "/mfa/proj-1/rps/authenticate"),
            ],
            [
                ("POST", "/rps/v2/session"), ("POST", "/rps/v2/codeStatus"), ("POST", "/pushauth"),
                ("POST", "/dvs/session"), ("POST", "/dvs/session/details"),
            ],
            [("POST", "/rps/v2/access"), ("POST", "/mfa/proj-1/rps/access")],
            [
                ("POST", "/activate/initiate"), ("POST", "/dvs/verify"), ("GET", "/api/v1/projects/proj-1/audit"),
                ("POST", "/api/v1/projects/proj-1/mpinids/7b7d/revocation"), ("POST", "/activate/user"),
            ],
        ]
        let signature = ["mpinId", "u", "v", "publicKey", "hash", "dtas"].map { ($0, "") }
        let body = try JSONSerialization.data(withJSONObject: [
            "userId": user, "signature": Dictionary(uniqueKeysWithValues: signature), "timestamp": 1, "type": "x",
            "hashMPinId": "00", "activateKey": "00",
        ])
        for group in groups {
            for (number, (method, path)) in ([group[0]] + group).enumerated() {
                let answer = try server.backend.call(
                    method, path, method == "GET" ? nil : body, headers: ["X-MIRACL-CID": "proj-1"])
                XCTAssertEqual(answer.status == 429, number > 0, "\(method) \(path): \(answer.status)")
                // Clients of generation 1, whose paths are Milagro's, look at the status only.
                guard number > 0, !path.contains("rps/user"), !path.hasPrefix("/mfa/") else { continue }
                try assertForm(answer, "TOO_MANY_REQUESTS", path)
                XCTAssertNotNil(answer.headers["retry-after"], path)
            }
        }
    }

    /// Errors that no handler of this wire finds have its form, too, because clients look at their code.
    func testErrorsOfOtherPartsHaveTheFormOfThisWire() async throws {
        let server = try await InProcess.trust(self)
        let large = String(repeating: "x", count: 70_000)
        let long = "/rps/v2/signature/" + String(repeating: "7b", count: 5000)
        for (method, path, body, status, code) in [
            ("POST", "/registration", large, 413, "INVALID_REQUEST_PAYLOAD"),
            ("GET", long, nil, 414, "INVALID_REQUEST_PAYLOAD"),
            ("GET", "/rps/v2/pass1", nil, 405, "METHOD_NOT_ALLOWED"),
            ("POST", "/rps/v2/nothing", "{}", 404, "NOT_FOUND"), ("POST", "/dvs/nothing", "{}", 404, "NOT_FOUND"),
            ("POST", "/activate/nothing", "{}", 404, "NOT_FOUND"),
            ("POST", "/api/v1/projects/proj-1/nothing", "{}", 404, "NOT_FOUND"),
            ("GET", "/registration", nil, 405, "METHOD_NOT_ALLOWED"),
            ("GET", "/verification", nil, 405, "METHOD_NOT_ALLOWED"),
            ("GET", "/verification/email", nil, 405, "METHOD_NOT_ALLOWED"),
            ("GET", "/pushauth", nil, 405, "METHOD_NOT_ALLOWED"),
            ("POST", "/.well-known/project-configuration", "{}", 405, "METHOD_NOT_ALLOWED"),
        ] as [(String, String, String?, Int, String)] {
            let answer = try server.backend.call(method, path, body, headers: ["X-MIRACL-CID": "proj-1"])
            XCTAssertEqual(answer.status, status, path)
            try assertForm(answer, code, String(path.prefix(40)))
        }
        XCTAssertNil(try server.backend.call("POST", "/rps/pass1", large).code, "Milagro has a form of its own")
    }

    private func assertForm(_ answer: Answer, _ code: String, _ path: String) throws {
        let found: TrustErrorResponse = try answer.json()
        XCTAssertEqual(found.error, code, path)
        XCTAssertFalse(found.info.isEmpty || found.requestID.isEmpty, path)
    }

    /// The point of a commitment, in hex.
    private func point() throws -> String {
        let point = try output(65) { point throws(MPinError) in
            let hash = SHA256.hash([1])
            try Identity.mapToG1(hash: hash.span, into: &point)
        }
        return Hex.encode(point)
    }
}
