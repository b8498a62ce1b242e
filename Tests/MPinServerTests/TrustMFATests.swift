import Foundation
import MPinSecrets
import MPinServer
import MPinService
import MPinWire
import XCTest

/// Tests the wire of MIRACL's MFA clients of 2017 (TRUST wire section 7.2).
final class TrustMFATests: XCTestCase {
    private let user = "alice@example.com"
    private let headers = ["X-MIRACL-CID": "proj-1"]

    private func post(
        _ server: InProcess, _ target: String, _ body: [String: Any], base: String = "", _ headers: [String: String]
    ) throws -> Answer {
        try server.backend.call(
            "POST", base + target, JSONSerialization.data(withJSONObject: body), headers: headers)
    }

    private func session(_ server: InProcess) throws -> (wid: String, webOTT: String) {
        let opened = try TrustClient(backend: server.backend).post("/rps/v2/session", ["projectId": "proj-1"])
        let url = try XCTUnwrap(opened.object["qrURL"] as? String, opened.text)
        return (
            try XCTUnwrap(url.components(separatedBy: "#").last), try XCTUnwrap(opened.object["webOTT"] as? String)
        )
    }

    private func register(_ server: InProcess, _ user: String, pin: String = "1234") throws -> TrustClient.Device {
        let client = TrustClient(backend: server.backend)
        let begun = try client.put("/rps/user", ["userId": user, "mobile": 1, "wid": session(server).wid])
        guard begun.status == 200 else { throw Sockets.Failure(text: "register: \(begun.status) \(begun.text)") }
        try TestClient(backend: server.backend).confirm(user)
        return try finish(server, begun, pin: pin)
    }

    private func finish(_ server: InProcess, _ begun: Answer, pin: String = "1234") throws -> TrustClient.Device {
        let client = TrustClient(backend: server.backend)
        let id = try XCTUnwrap(begun.object["mpinId"] as? String, begun.text)
        let regOTT = begun.object["regOTT"] as? String ?? ""
        let first: SignatureResponse = try server.backend.call(
            "GET", "/rps/signature/\(id)?regOTT=\(regOTT)", headers: headers
        ).json()
        let second: ClientSecretResponse = try server.backend.call(
            "GET", "/clientSecret?" + first.params, port: server.backend.dta2Port
        ).json()
        return try client.device(id, [first.clientSecretShare.secret, second.clientSecret.secret], nil, pin: pin)
    }

    /// Both passes. Returns the answer to the second one.
    private func passes(
        _ server: InProcess, _ device: TrustClient.Device, pin: String = "1234", wid: String = "0", otp: Bool = false,
        scope: [String]? = nil
    ) throws -> Answer {
        let client = TrustClient(backend: server.backend)
        let begun = try client.begin(device, pin: pin, scope: "")
        var body: [String: Any] = [
            "pass": 1, "mpin_id": device.id, "UT": "", "U": try XCTUnwrap(begun.body["U"]),
        ]
        if let scope { body["scope"] = scope }
        var proof = try client.pass2Body(begun, post(server, "/rps/pass1", body, headers), wid: wid)
        proof["pass"] = 2
        proof["OTP"] = otp
        return try post(server, "/rps/pass2", proof, headers)
    }

    private func authenticate(_ server: InProcess, _ pass2: Answer) throws -> Answer {
        let body: [String: Any] = [
            "mpinResponse": ["authOTT": pass2.object["authOTT"] ?? ""], "authzRequest": false,
        ]
        return try post(server, "/rps/authenticate", body, headers)
    }

    /// A header with a project's id, or the path, chooses the wire. Without either it is Milagro's.
    func testTheWireIsChosenByHeaderOrPath() async throws {
        let server = try await InProcess.trust(self)
        let base = "http://127.0.0.1:\(server.backend.port)"
        func register(_ target: String, _ headers: [String: String] = [:]) throws -> String? {
            try server.backend.call("GET", target, headers: headers).object["registerURL"] as? String
        }
        XCTAssertEqual(try register("/rps/clientSettings"), "/rps/user")
        for name in ["X-MIRACL-CID", "X-MIRACL-Client-ID"] {
            XCTAssertEqual(try register("/rps/clientSettings", [name: "proj-1"]), base + "/rps/user")
            let unknown = try server.backend.call("GET", "/rps/clientSettings", headers: [name: "nobody"])
            XCTAssertEqual(unknown.status, 406)
            XCTAssertEqual(unknown.headers["content-type"], "text/plain; charset=utf-8")
        }
        XCTAssertEqual(try register("/mfa/proj-1/rps/clientSettings"), base + "/mfa/proj-1/rps/user")
        XCTAssertEqual(try server.backend.call("GET", "/mfa/nobody/rps/clientSettings").status, 406)
        XCTAssertEqual(try server.backend.call("PUT", "/rps/user", "{}", headers: headers).status, 400)
        let service = try server.backend.call("GET", "/mfa/proj-1/service").object
        XCTAssertEqual(
            ["url", "rps_prefix", "type"].map { service[$0] as? String }, [base + "/mfa/proj-1", "rps", "online"])
    }

    /// A whole registration and login by the base URL alone.
    func testABaseURLOfItsOwn() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let token = try client.activationToken(user)
        let json = try JSONSerialization.data(withJSONObject: ["userId": user, "mobile": 1, "activateCode": token])
        let begun = try server.backend.call("PUT", "/mfa/proj-1/rps/user", json)
        XCTAssertEqual(begun.object["active"] as? Bool, true, begun.text)
        let device = try finish(server, begun)
        let commitment = try client.begin(device, pin: "1234", scope: "")
        let body: [String: Any] = ["mpin_id": device.id, "UT": "", "U": commitment.body["U"] ?? ""]
        let first = try post(server, "/rps/pass1", body, base: "/mfa/proj-1", [:])
        var proof = try client.pass2Body(commitment, first, wid: "0")
        proof["OTP"] = false
        let second = try post(server, "/rps/pass2", proof, base: "/mfa/proj-1", [:])
        let last: [String: Any] = ["mpinResponse": second.object]
        XCTAssertEqual(try post(server, "/rps/authenticate", last, base: "/mfa/proj-1", [:]).status, 200)
    }

    func testTheLandingPageKnowsItsClients() async throws {
        let server = try InProcess(
            changeRPS: { $0.serviceClients = [ProductVersion("app/2.0")].compactMap(\.self) }, clients: "[]",
            isTrust: true
        ).keep(in: self)
        _ = try await server.projects().add("proj-1", ProjectChange())
        for (agent, status) in [("app/2.1", 200), ("app/1.9", 412), ("other/3", 406)] {
            let answer = try server.backend.call(
                "GET", "/service", headers: headers.merging(["User-Agent": agent]) { $1 })
            XCTAssertEqual(answer.status, status, agent)
        }
    }

    func testARestartGivesANewTokenForTheSameID() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let wid = try session(server).wid
        let wish: [String: Any] = ["userId": user, "mobile": 1, "wid": wid]
        let first = try client.put("/rps/user", wish).object
        let id = try XCTUnwrap(first["mpinId"] as? String)
        let text = String(decoding: Hex.decode(id) ?? [], as: UTF8.self)
        let form =
            /\{"issuedAt":\d{10},"userID":"alice@example.com","cID":"proj-1","mobile":1,"salt":"\w{32}","v":1,"by":"em"\}/
        XCTAssertNotNil(text.wholeMatch(of: form), text)
        let old = first["regOTT"] as? String ?? ""
        func signature(_ token: String) throws -> Int {
            try server.backend.call("GET", "/rps/signature/\(id)?regOTT=\(token)", headers: headers).status
        }
        XCTAssertEqual(try signature(old), 401, "the user has not opened the link")
        XCTAssertEqual(try signature("00"), 404)
        XCTAssertEqual(try client.put("/rps/user/" + id, wish.merging(["regOTT": "00"]) { $1 }).status, 404)
        let again = try client.put("/rps/user/" + id, wish.merging(["regOTT": old]) { $1 })
        XCTAssertEqual(again.object["mpinId"] as? String, id, again.text)
        let new = try XCTUnwrap(again.object["regOTT"] as? String)
        XCTAssertNotEqual(new, old)
        XCTAssertEqual([try signature(old), try signature(new)], [404, 401])
        try TestClient(backend: server.backend).confirm(user)
        XCTAssertEqual(try signature(new), 200)
        XCTAssertEqual(try client.put("/rps/user/7b7d", wish.merging(["regOTT": new]) { $1 }).status, 404)
        _ = try await server.projects().add("other", ProjectChange())
        let opened = try client.post("/rps/v2/session", ["projectId": "other"]).object["qrURL"] as? String
        let foreign = try XCTUnwrap(opened?.components(separatedBy: "#").last)
        for bad in [
            wish.merging(["wid": "00"]) { $1 }, wish.merging(["wid": foreign]) { $1 }, ["userId": user],
            wish.merging(["userId": ""]) { $1 },
        ] {
            XCTAssertEqual(try client.put("/rps/user", bad).status, 400)
        }
    }

    /// One identity: the operator lists and revokes it, whichever wire registered it; the third wrong PIN is the last.
    func testPINsAndTheOperator() async throws {
        let server = try await InProcess.trust(self)
        let device = try register(server, user)
        let (wid, webOTT) = try session(server)
        XCTAssertEqual(try authenticate(server, passes(server, device, wid: wid)).object["code"] as? String, "")
        let seen = try post(server, "/rps/v2/access", ["webOTT": webOTT], headers).object
        XCTAssertEqual([seen["status"] as? String, seen["userId"] as? String], ["authenticated", user])
        let found = try await server.users().find(user: user)
        XCTAssertEqual(found.map(\.state), ["active"])
        XCTAssertEqual(try authenticate(server, passes(server, device, wid: "1234")).status, 412)
        for status in [401, 401, 410] {
            let answer = try authenticate(server, passes(server, device, pin: "9999"))
            XCTAssertEqual([answer.status, answer.object["status"] as? Int], [status, status], answer.text)
        }
        XCTAssertEqual(try authenticate(server, passes(server, device)).status, 410)
        _ = try await server.users().change(.unblock, user: user, identity: nil, audit: .off)
        XCTAssertEqual(try authenticate(server, passes(server, device)).status, 200)
        _ = try await server.users().change(.revoke, user: user, identity: nil, audit: .off)
        XCTAssertEqual(try authenticate(server, passes(server, device)).status, 410)
    }

    /// Old clients forget their user on 410, so a block that ends is none.
    func testABlockThatEndsIsAWrongPIN() async throws {
        let server = try await InProcess.trust(self, change: { $0.block = .temporary(seconds: 120) })
        let device = try register(server, user)
        for _ in 0..<2 { _ = try authenticate(server, passes(server, device, pin: "9999")) }
        let blocked = try authenticate(server, passes(server, device, pin: "9999"))
        XCTAssertEqual(blocked.status, 401)
        XCTAssertNotNil(blocked.headers["retry-after"])
        XCTAssertEqual(try authenticate(server, passes(server, device)).status, 401)
        server.advance(seconds: 121)
        XCTAssertEqual(try authenticate(server, passes(server, device)).status, 200)
    }

    /// The digits of a login with the scope `reg-code` register another device of the user, once.
    func testDigitsThatRegisterADevice() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try register(server, user)
        let wrong = try passes(server, device, pin: "9999", otp: true, scope: ["reg-code"])
        XCTAssertEqual(try authenticate(server, wrong).status, 401)
        let forBrowser = try passes(server, device, wid: session(server).wid, otp: true, scope: ["reg-code"])
        XCTAssertNil(forBrowser.object["OTP"], "the page would issue them again")
        let right = try passes(server, device, otp: true, scope: ["reg-code"])
        let answer = try authenticate(server, right)
        XCTAssertEqual(answer.object["ttlSeconds"] as? Int, 300, answer.text)
        let code = try XCTUnwrap(right.object["OTP"] as? String)
        for (code, status) in [(wrong.object["OTP"] as? String ?? "", 403), (code, 200), (code, 403)] {
            let begun = try client.put("/rps/user", ["userId": user, "mobile": 1, "activateCode": code])
            XCTAssertEqual(begun.status, status, begun.text)
            if status == 200 {
                XCTAssertEqual(try authenticate(server, passes(server, finish(server, begun))).status, 200)
            }
        }
    }
}
