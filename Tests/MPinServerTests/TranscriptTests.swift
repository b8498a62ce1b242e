import Foundation
import MPinSecrets
import MPinServer
import MPinWire
import XCTest

/// Plays the recorded exchanges of Milagro's client and Milagro's server to our server. The requests have the headers
/// of Milagro's client and its layout of the body. Each answer must have at least the recorded members, with the
/// recorded JSON types.
final class TranscriptTests: XCTestCase {
    func testTheOldClientsFlowGetsTheAnswersThatItWasRecordedWith() throws {
        let old = TranscriptPlayer(server: try InProcess())
        let client = TestClient(backend: old.server.backend)
        _ = try old.play("std-01-clientSettings", "GET", "/rps/clientSettings")

        var wish = try XCTUnwrap(old.recorded("verify-01-register-needs-confirmation", "PUT", "/rps/user").body)
        wish["userId"] = "alice@example.com"
        let registered = try old.play("verify-01-register-needs-confirmation", "PUT", "/rps/user", body: wish)
        let id = try XCTUnwrap(registered.object["mpinId"] as? String)
        let regOTT = try XCTUnwrap(registered.object["regOTT"] as? String)
        let signature = "/rps/signature/\(id)?regOTT=\(regOTT)"
        _ = try old.play("verify-02-confirm-before-activation-401", "GET", signature, as: "/rps/signature/")
        wish["regOTT"] = regOTT
        _ = try old.play("verify-03-restart-registration", "PUT", "/rps/user/" + id, as: "/rps/user/", body: wish)
        let link = try old.server.backend.link(to: "alice@example.com")
        for method in ["GET", "POST"] {
            _ = try old.play("verify-04-activate-by-mail-link", method, link, as: "/mpinActivate")
        }
        let first = try old.play("verify-05-confirm-after-activation", "GET", signature, as: "/rps/signature/")
        let params = try XCTUnwrap(first.object["params"] as? String)
        _ = try old.play(
            "verify-05-confirm-after-activation", "GET", "/clientSecret?" + params, as: "/v3/clientSecret?",
            port: old.server.backend.dta2Port)
        _ = try old.play("std-03-setupDone", "POST", "/rps/setupDone/" + id, as: "/rps/setupDone/")
        _ = try old.play("std-03-setupDone", "GET", "/rps/setupDone/" + id, as: "/rps/setupDone/")

        let user = try client.finishRegistration(
            .init(mpinId: id, regOTT: regOTT, active: true, expireTime: "", nowTime: ""), pin: "1234")
        try permits(old, id)
        try logIn(old, client, user, "9999", "std-07-wrong-pin-then-right")
        try logIn(old, client, user, "1234", "std-05-authenticate-right-pin")
    }

    /// Fetches both permit shares. The permit storage answers 404, so the second share comes from D-TA 2.
    private func permits(_ old: TranscriptPlayer, _ id: String) throws {
        let flow = "std-04-timePermits-storage404-then-dta"
        let answer = try old.play(flow, "GET", "/rps/timePermit/" + id, as: "/rps/timePermit/")
        let storage = try XCTUnwrap(TestClient(backend: old.server.backend).settings().timePermitsStorageURL)
        let hash = try XCTUnwrap(answer.object["storageId"] as? String)
        let date = try XCTUnwrap(answer.object["date"] as? Int)
        XCTAssertEqual(try old.server.backend.call("GET", "\(storage)/app/\(date)/\(hash)").status, 404)
        let signature = try XCTUnwrap(answer.object["signature"] as? String)
        _ = try old.play(
            flow, "GET", "/timePermit?hash_mpin_id=\(hash)&app_id=x&mobile=1&signature=\(signature)",
            as: "/v3/timePermit?", port: old.server.backend.dta2Port)
    }

    private func logIn(
        _ old: TranscriptPlayer, _ client: TestClient, _ user: TestClient.User, _ pin: String, _ flow: String
    ) throws {
        let permit = try client.timePermit(user)
        let commitment = try client.commitment(user, pin: pin, permit: permit)
        var pass1 = try XCTUnwrap(old.recorded(flow, "POST", "/rps/pass1").body)
        XCTAssertEqual(Set(pass1.keys), ["pass", "mpin_id", "U", "UT"])
        pass1["mpin_id"] = user.id
        pass1["U"] = Hex.encode(commitment.u)
        pass1["UT"] = Hex.encode(commitment.ut)
        let challenge = try old.play(flow, "POST", "/rps/pass1", body: pass1)
        let y = try XCTUnwrap(Hex.decode(XCTUnwrap(challenge.object["y"] as? String)))
        let login = TestClient.Login(user: user, x: commitment.x, sec: commitment.sec, y: y)
        var pass2 = try XCTUnwrap(old.recorded(flow, "POST", "/rps/pass2").body)
        XCTAssertEqual(Set(pass2.keys), ["pass", "mpin_id", "V", "WID", "OTP"])
        pass2["mpin_id"] = user.id
        pass2["V"] = try client.proof(login)
        let ott = try old.play(flow, "POST", "/rps/pass2", body: pass2)
        _ = try old.play(flow, "POST", "/mpinAuthenticate", body: ["mpinResponse": ott.object])
    }

    func testAnAccessNumberLoginGetsTheAnswersThatItWasRecordedWith() throws {
        let (old, client, user) = try registered { $0.waitForLoginResult = true }
        let flow = "std-10-access-number-login"
        let number = try old.play(flow, "POST", "/rps/getAccessNumber")
        let wid = try XCTUnwrap(number.object["accessNumber"] as? String)
        let webOTT = try XCTUnwrap(number.object["webOTT"] as? String)
        _ = try old.play(flow, "POST", "/rps/access", body: ["webOTT": webOTT])
        let proof = try prove(old, client, user, "1234", flow, wid: wid)
        let phone = Later { try old.send(flow, "POST", "/rps/authenticate", body: proof) }
        try finish(old, flow, webOTT, phone)
        let wrong = try prove(old, client, user, "1234", "std-14-access-number-wrong-number-412", wid: "0000000")
        _ = try old.send("std-14-access-number-wrong-number-412", "POST", "/rps/authenticate", body: wrong)
        let next = try old.play("std-15-access-number-wrong-pin-401-then-ok", "POST", "/rps/getAccessNumber")
        let mistyped = try prove(
            old, client, user, "9999", "std-15-access-number-wrong-pin-401-then-ok",
            wid: XCTUnwrap(next.object["accessNumber"] as? String))
        _ = try old.send(
            "std-15-access-number-wrong-pin-401-then-ok", "POST", "/rps/authenticate", body: mistyped)
    }

    func testAQRCodeLoginGetsTheAnswersThatItWasRecordedWith() throws {
        let (old, client, user) = try registered {
            $0.waitForLoginResult = true
            $0.mobileUseNative = true
        }
        _ = try old.play("native-01-clientSettings-native", "GET", "/rps/clientSettings")
        let flow = "native-04-qr-login"
        let code = try old.play(flow, "POST", "/rps/getQrUrl")
        let url = try XCTUnwrap(code.object["qrUrl"] as? String)
        let wid = try XCTUnwrap(url.split(separator: "#").last.map(String.init))
        let webOTT = try XCTUnwrap(code.object["webOTT"] as? String)
        for (number, status) in ["new", "wid", "user"].enumerated() {
            if status != "new" {
                var body = try XCTUnwrap(old.recorded(flow, "POST", "/rps/codeStatus", number - 1).body)
                XCTAssertEqual(body["status"] as? String, status)
                body["wid"] = wid
                _ = try old.play(flow, "POST", "/rps/codeStatus", number: number - 1, body: body)
            }
            let seen = try old.play(flow, "POST", "/rps/access", number: number, body: ["webOTT": webOTT])
            XCTAssertEqual(seen.object["status"] as? String, status)
        }
        let proof = try prove(old, client, user, "1234", flow, wid: wid)
        let phone = Later { try old.send(flow, "POST", "/rps/authenticate", body: proof) }
        try finish(old, flow, webOTT, phone)
    }

    func testALoginWithDigitsGetsTheAnswersThatItWasRecordedWith() throws {
        let (old, client, user) = try registered { $0.requestOTP = true }
        let settings = try old.play("otp-01-clientSettings-otp", "GET", "/rps/clientSettings")
        XCTAssertNil(settings.object["accessNumberURL"])
        let flow = "otp-03-otp-authenticate"
        let proof: JSONValue = try JSONDecoder().decode(
            JSONValue.self, from: prove(old, client, user, "1234", flow, wid: "0"))
        guard case .string(let authOTT)? = proof["mpinResponse"]?["authOTT"] else { return XCTFail("no authOTT") }
        let recorded = try XCTUnwrap(old.recorded(flow, "POST", "/authenticate", hop: "rps").body)
        _ = try old.play(
            flow, "POST", "/authenticate",
            body: recorded.merging(["authOTT": authOTT]) { $1 }, hop: "rps")
    }

    /// Finishes a login: the browser learns of it, the RPA redeems the token and reports its verdict as recorded, and
    /// the phone gets its answer.
    private func finish(_ old: TranscriptPlayer, _ flow: String, _ webOTT: String, _ phone: Later<Answer>) throws {
        let end = Date(timeIntervalSinceNow: 30)
        var seen = try old.server.backend.call("POST", "/rps/access", "{\"webOTT\":\"\(webOTT)\"}")
        while seen.object["status"] as? String != "authenticate", Date() < end {
            seen = try old.server.backend.call("POST", "/rps/access", "{\"webOTT\":\"\(webOTT)\"}")
        }
        let authOTT = try XCTUnwrap(seen.object["authOTT"] as? String)
        for path in ["/authenticate", "/loginResult"] {
            var body = try XCTUnwrap(old.recorded(flow, "POST", path, hop: "rps").body)
            body["authOTT"] = authOTT
            _ = try old.play(flow, "POST", path, body: body, hop: "rps")
        }
        let answer = try phone.get()
        XCTAssertEqual((answer.object["logoutData"] as? [String: Any])?.keys.sorted(), ["sessionToken", "userId"])
        let over = try old.server.backend.call("POST", "/rps/access", "{\"webOTT\":\"\(webOTT)\"}")
        XCTAssertEqual(over.object["status"] as? String, "expired")
    }

    /// Sends pass 1 and pass 2 as recorded. Returns the body of the phone's next request.
    private func prove(
        _ old: TranscriptPlayer, _ client: TestClient, _ user: TestClient.User, _ pin: String, _ flow: String,
        wid: String
    ) throws -> Data {
        let commitment = try client.commitment(user, pin: pin, permit: client.timePermit(user))
        var pass1 = try XCTUnwrap(old.recorded(flow, "POST", "/rps/pass1").body)
        pass1["mpin_id"] = user.id
        pass1["U"] = Hex.encode(commitment.u)
        pass1["UT"] = Hex.encode(commitment.ut)
        let challenge = try old.play(flow, "POST", "/rps/pass1", body: pass1)
        let y = try XCTUnwrap(Hex.decode(XCTUnwrap(challenge.object["y"] as? String)))
        var pass2 = try XCTUnwrap(old.recorded(flow, "POST", "/rps/pass2").body)
        pass2["mpin_id"] = user.id
        pass2["V"] = try client.proof(.init(user: user, x: commitment.x, sec: commitment.sec, y: y))
        pass2["WID"] = wid
        let ott = try old.play(flow, "POST", "/rps/pass2", body: pass2).object
        return try JSONSerialization.data(withJSONObject: ["mpinResponse": ott])
    }

    private func registered(
        _ change: (inout RelyingPartyServiceConfig) -> Void
    ) throws -> (TranscriptPlayer, TestClient, TestClient.User) {
        let old = TranscriptPlayer(server: try InProcess(changeRPS: change).keep(in: self))
        let client = TestClient(backend: old.server.backend)
        return (old, client, try client.register("alice@example.com", pin: "1234"))
    }
}
