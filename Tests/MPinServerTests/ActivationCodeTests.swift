import Foundation
import MPinServer
import MPinWire
import XCTest

/// Tests one-time codes that confirm a registration instead of a mail.
final class ActivationCodeTests: XCTestCase {
    private let user = "alice@example.com"

    private func server() throws -> InProcess { try InProcess().keep(in: self) }

    private func register(
        _ server: InProcess, _ code: String, _ user: String = "alice@example.com", from source: UInt16 = 1
    ) throws -> Answer {
        let body = "{\"userId\":\(user.quoted),\"mobile\":1,\"activateCode\":\(code.quoted)}"
        return try server.backend.from(source).call("PUT", "/rps/user", body)
    }

    private func mails(_ server: InProcess) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: server.backend.mailFolder).filter { $0.hasSuffix(".eml") }
            .count
    }

    private func issue(_ server: InProcess, seconds: Int = 60) async throws -> String {
        let path = server.backend.stateFolder + "/rps.sqlite"
        return try await UserAdministration(database: ServiceDatabase(path)) { server.now }
            .issueCode(user: user, seconds: seconds, audit: .off)
    }

    func testARightCodeRegistersOnceAndWithoutAMail() async throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let code = try await issue(server)
        XCTAssertNotNil(code.wholeMatch(of: /[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}/), code)
        XCTAssertEqual(try register(server, code, "bob@example.com").status, 403, "it is of another user")
        let typed = code.lowercased().replacing("-", with: " ").replacing("0", with: "o").replacing("1", with: "l")
        let registration: RegisterResponse = try register(server, typed).json()
        XCTAssertTrue(registration.active)
        XCTAssertEqual(try mails(server), 0)
        let alice = try client.finishRegistration(registration, pin: "1234")
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        XCTAssertEqual(try register(server, code).status, 403, "used")
        let text = try String(
            decoding: Data(contentsOf: URL(fileURLWithPath: server.backend.stateFolder + "/rps.sqlite")), as: UTF8.self)
        XCTAssertFalse(text.contains(code) || text.contains(code.replacing("-", with: "")))
    }

    func testFiveWrongTriesVoidACode() async throws {
        let server = try server()
        var code = try await issue(server)
        for source in 2...5 as ClosedRange<UInt16> {
            XCTAssertEqual(try register(server, "0000-0000-0000", from: source).status, 403)
        }
        XCTAssertEqual(try register(server, code).object["active"] as? Bool, true, "the fifth try is right")
        code = try await issue(server)
        for source in 2...6 as ClosedRange<UInt16> {
            XCTAssertEqual(try register(server, "0000-0000-0000", from: source).status, 403)
        }
        XCTAssertEqual(try register(server, code).status, 403)
        XCTAssertEqual(try mails(server), 0)
    }

    /// The operator and the user may each spell the address in their own way.
    func testACodeIsGoodForTheUserHoweverItIsSpelled() async throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let code = try await issue(server)
        let registration: RegisterResponse = try register(server, code).json()
        _ = try client.finishRegistration(registration, pin: "1234")
        let users = try await UserAdministration(database: ServiceDatabase(server.backend.stateFolder + "/rps.sqlite"))
        { server.now }
        let second = try await users.issueCode(user: "ALICE@example.com.", seconds: 60, audit: .off)
        XCTAssertEqual(try register(server, second, "Alice@Example.com").object["active"] as? Bool, true)
    }

    func testACodeEndsAndANewOneTakesItsPlace() async throws {
        let server = try server()
        let first = try await issue(server)
        server.advance(seconds: 61)
        XCTAssertEqual(try register(server, first).status, 403)
        let second = try await issue(server)
        let third = try await issue(server)
        XCTAssertEqual(try register(server, second).status, 403)
        XCTAssertEqual(try register(server, third).object["active"] as? Bool, true)
        // An empty code counts as no code.
        XCTAssertEqual(try register(server, "").object["active"] as? Bool, false)
        XCTAssertEqual(try mails(server), 1)
    }

    func testACodeConfirmsARegistrationThatWaits() async throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let waiting = try client.startRegistration(user)
        let code = try await issue(server)
        let body = "{\"userId\":\(user.quoted),\"regOTT\":\"\(waiting.regOTT)\",\"activateCode\":\(code.quoted)}"
        let answer = try server.backend.call("PUT", "/rps/user/" + waiting.mpinId, body)
        XCTAssertEqual(answer.object["active"] as? Bool, true, answer.text)
        XCTAssertEqual(try client.signature(waiting).status, 200)
    }

    /// Tests that the digits of a login with the scope `reg-code` register another device of the same user, but not of
    /// another user.
    func testADeviceRegistersAnother() throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let alice = try client.register(user, pin: "1234")
        let permit = try client.timePermit(alice)
        func digits(_ scope: String, pin: String) throws -> (String, Int) {
            let (x, sec, u, ut) = try client.commitment(alice, pin: pin, permit: permit)
            let body = """
                {"pass":1,"mpin_id":"\(alice.id)","U":"\(hex(u))","UT":"\(hex(ut))"\(scope)}
                """
            let y: Pass1Response = try server.backend.call("POST", "/rps/pass1", body).json()
            let login = TestClient.Login(user: alice, x: x, sec: sec, y: try XCTUnwrap(bytes(y.y)))
            let pass2 = try client.pass2(login, otp: true)
            let status = try client.authenticate(pass2).status
            return (try XCTUnwrap(pass2.object["OTP"] as? String), status)
        }
        let scope = ",\"scope\":[\"reg-code\"]"
        let (plain, first) = try digits("", pin: "1234")
        XCTAssertEqual([first, try register(server, plain).status], [200, 403])
        let (wrong, second) = try digits(scope, pin: "9999")
        XCTAssertEqual([second, try register(server, wrong).status], [401, 403])
        let (right, third) = try digits(scope, pin: "1234")
        XCTAssertEqual(third, 200)
        let registration: RegisterResponse = try register(server, right).json()
        XCTAssertTrue(registration.active)
        let other = try client.finishRegistration(registration, pin: "5678")
        XCTAssertEqual(try client.login(other, pin: "5678").status, 200)
        let (late, fourth) = try digits(scope, pin: "1234")
        server.advance(seconds: 61)
        XCTAssertEqual([fourth, try register(server, late).status], [200, 403])
    }

    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    private func bytes(_ hex: String) -> [UInt8]? {
        stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
    }
}
