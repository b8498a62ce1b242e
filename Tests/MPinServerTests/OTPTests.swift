import Foundation
import MPinServer
import XCTest

/// Tests one-time digits, from pass 2 to the RPA (wire sections 6.7 and 7).
final class OTPTests: XCTestCase {
    func testTheRPAHearsTheDigitsThatTheClientShows() throws {
        let (server, client, alice) = try registered()
        let permit = try client.timePermit(alice)
        let pass2 = try client.pass2(client.pass1(alice, pin: "1234", permit: permit), otp: true)
        XCTAssertEqual(Set(pass2.object.keys), ["version", "pass", "authOTT", "OTP"])
        let digits = try XCTUnwrap(pass2.object["OTP"] as? String)
        XCTAssertNotNil(digits.wholeMatch(of: /[0-9]{6}/))
        let authOTT = try XCTUnwrap(pass2.object["authOTT"] as? String)
        let answer = try server.backend.callPrivate("POST", "/authenticate", "{\"authOTT\":\"\(authOTT)\"}")
        XCTAssertEqual(answer.object["OTP"] as? String, digits)
        let without = try client.pass2(client.pass1(alice, pin: "1234", permit: permit))
        XCTAssertEqual(Set(without.object.keys), ["version", "pass", "authOTT"])
        let other = try XCTUnwrap(without.object["authOTT"] as? String)
        let plain = try server.backend.callPrivate("POST", "/authenticate", "{\"authOTT\":\"\(other)\"}")
        XCTAssertEqual(plain.status, 200)
        XCTAssertNil(plain.object["OTP"])
    }

    /// Wire section 17, defect 9: in Milagro's server, a login with a wrong PIN got the right digits.
    func testTheDigitsOfAWrongPINAreUseless() throws {
        let (server, client, alice) = try registered()
        let permit = try client.timePermit(alice)
        let pass2 = try client.pass2(client.pass1(alice, pin: "0000", permit: permit), otp: true)
        XCTAssertEqual(Set(pass2.object.keys), ["version", "pass", "authOTT", "OTP"], "as for a right one")
        let authOTT = try XCTUnwrap(pass2.object["authOTT"] as? String)
        let answer = try server.backend.callPrivate("POST", "/authenticate", "{\"authOTT\":\"\(authOTT)\"}")
        XCTAssertEqual(answer.status, 401)
        XCTAssertNil(answer.object["OTP"])
    }

    /// Wire section 6.7: the C++ client asks for digits with a boolean, other clients with 0, 1 or text.
    func testTheRequestForDigitsMayBeABooleanANumberOrText() throws {
        let (server, client, alice) = try registered()
        let permit = try client.timePermit(alice)
        for (wish, isAsked) in [("1", true), ("\"1\"", true), ("true", true), ("0", false), ("\"0\"", false)] {
            let body = try client.pass2Body(client.pass1(alice, pin: "1234", permit: permit))
                .replacing("\"OTP\":false", with: "\"OTP\":\(wish)")
            let answer = try server.backend.call("POST", "/rps/pass2", body)
            XCTAssertEqual(answer.status, 200)
            XCTAssertEqual(answer.object["OTP"] != nil, isAsked, wish)
        }
    }

    private func registered() throws -> (InProcess, TestClient, TestClient.User) {
        let server = try InProcess(changeRPS: { $0.requestOTP = true }).keep(in: self)
        let client = TestClient(backend: server.backend)
        return (server, client, try client.register("alice@example.com", pin: "1234"))
    }
}
