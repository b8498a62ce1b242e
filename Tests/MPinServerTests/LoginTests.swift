import BN254CX
import Foundation
import MPinSecrets
import MPinServer
import XCTest

/// Tests logins: single use, blocking, expiry, dates (wire sections 6.6, 6.7, 7 and 8.3).
final class LoginTests: XCTestCase {
    /// Wire section 17, defect 5: in Milagro's server, a recorded pass 2 could be used again for 15 s.
    func testPass2IsGoodOnce() throws {
        let (server, client, user) = try registered()
        let permit = try client.timePermit(user)
        let login = try client.pass1(user, pin: "1234", permit: permit)
        let body = try client.pass2Body(login)
        let first = try server.backend.call("POST", "/rps/pass2", body)
        XCTAssertEqual(first.status, 200)
        XCTAssertEqual(try server.backend.call("POST", "/rps/pass2", body).status, 403)
        XCTAssertEqual(try client.authenticate(first).status, 200)
        XCTAssertEqual(try server.backend.call("POST", "/rps/pass2", body).status, 403)
    }

    /// Wire section 17, defect 10: in Milagro's server, the same authOTT could be used repeatedly.
    func testTheOneTimeTokenIsGoodOnceAndForAMinute() throws {
        let (server, client, user) = try registered()
        let permit = try client.timePermit(user)
        let pass2 = try client.pass2(client.pass1(user, pin: "1234", permit: permit))
        XCTAssertEqual(try client.authenticate(pass2).status, 200)
        XCTAssertEqual(try client.authenticate(pass2).status, 408)
        let late = try client.pass2(client.pass1(user, pin: "1234", permit: permit))
        server.advance(seconds: 61)
        XCTAssertEqual(try client.authenticate(late).status, 408)
    }

    /// A challenge must consist of two random numbers of 64 bits that are new each time, for known and for unknown
    /// identities.
    func testChallengesAreShortAndDiffer() throws {
        let (_, client, user) = try registered()
        let permit = try client.timePermit(user), stranger = TestClient.User(id: user.id + "00", token: user.token)
        var limbs = [UInt](repeating: 0, count: 4 + ScalarSplit.scratch), halves: Set<UInt128> = []
        for asking in [user, stranger, user, stranger] {
            let y = try client.pass1(asking, pin: "1234", permit: permit).y
            limbs.withUnsafeMutableBufferPointer { buffer in
                guard let base = buffer.baseAddress else { return }
                let scalar = Scalar(base)
                XCTAssertTrue(scalar.load(y.span))
                let (a, b) = ScalarSplit.split(scalar, base + 4)
                for half in [a, b] {
                    XCTAssertLessThan(half.magnitude, 1 << 64)
                    XCTAssertEqual(half.minus, 0)
                    XCTAssertTrue(halves.insert(half.magnitude).inserted)
                }
            }
        }
    }

    /// With the option --tell-attempts-left, the answer to a wrong PIN contains the number of attempts left; without
    /// the option, no answer contains it. Known and invented identities must get the same answers.
    func testAWrongPINIsToldHowManyTriesAreLeftWhereTheOperatorAllowsIt() throws {
        for isTold in [false, true] {
            let server = try InProcess(changeRPS: { $0.tellAttemptsLeft = isTold }).keep(in: self)
            let client = TestClient(backend: server.backend)
            let alice = try client.register("alice@example.com", pin: "1234")
            for user in [alice, try TestClient.User.invented(token: alice.token)] {
                var left: [Int?] = []
                for pin in ["9999", "9999", "9999", "1234"] {
                    let answer = try client.login(user, pin: pin, permit: client.timePermit(user))
                    XCTAssertEqual(answer.status, left.count < 2 ? 401 : 410)
                    left.append(answer.object["attemptsLeft"] as? Int)
                }
                XCTAssertEqual(left, isTold ? [2, 1, nil, nil] : [nil, nil, nil, nil])
            }
        }
    }

    func testAnUpperCaseTokenAndIDAreTheSame() throws {
        let (server, client, user) = try registered()
        let shouting = TestClient.User(id: user.id.uppercased(), token: user.token)
        let pass2 = try client.pass2(client.pass1(shouting, pin: "1234", permit: client.timePermit(shouting)))
        let ott = try XCTUnwrap(pass2.object["authOTT"] as? String).uppercased()
        let answer = try server.backend.call("POST", "/mpinAuthenticate", "{\"mpinResponse\":{\"authOTT\":\"\(ott)\"}}")
        XCTAssertEqual(answer.status, 200)
    }

    func testPass1LivesFifteenSeconds() throws {
        let (server, client, user) = try registered()
        let permit = try client.timePermit(user)
        let intime = try client.pass1(user, pin: "1234", permit: permit)
        server.advance(seconds: 14)
        XCTAssertEqual(try client.pass2(intime).status, 200)
        let late = try client.pass1(user, pin: "1234", permit: permit)
        server.advance(seconds: 16)
        XCTAssertEqual(try client.pass2(late).status, 403)
    }

    func testRightWrongAndBlockedLookTheSameAtPass2() throws {
        let (_, client, user) = try registered { $0.maxAttempts = 1 }
        let permit = try client.timePermit(user)
        let answers = try ["1234", "9999", "1234"].map { pin in
            try client.pass2(client.pass1(user, pin: pin, permit: permit))
        }
        for answer in answers {
            XCTAssertEqual(answer.status, 200)
            XCTAssertEqual(answer.object.keys.sorted(), ["authOTT", "pass", "version"])
            XCTAssertEqual(answer.body.count, answers[0].body.count)
        }
        XCTAssertEqual(try answers.map { try client.authenticate($0).status }, [200, 410, 410])
    }

    func testThreeWrongPINsBlockAndTheRightOneInBetweenStartsAnew() throws {
        let (_, client, user) = try registered()
        let pins = ["9999", "9999", "1234", "9999", "9999", "9999", "1234", "1234"]
        let statuses = try pins.map { try client.login(user, pin: $0).status }
        XCTAssertEqual(statuses, [401, 401, 200, 401, 401, 410, 410, 410])
        let again = try client.register("alice@example.com", pin: "5678")
        XCTAssertEqual(try client.login(again, pin: "5678").status, 200, "a new identity starts at zero")
        XCTAssertEqual(try client.login(user, pin: "1234").status, 410)
    }

    /// Wire section 17, defect 6: in Milagro's server, a stranger's pass 1 replaced the challenge of a running login.
    func testAStrangersPass1DoesNotBreakARunningLogin() throws {
        let (_, client, user) = try registered()
        let permit = try client.timePermit(user)
        let login = try client.pass1(user, pin: "1234", permit: permit)
        let stranger = TestClient.User(id: user.id, token: user.token)
        for _ in 0..<3 { _ = try client.pass1(stranger, pin: "0000", permit: permit) }
        XCTAssertEqual(try client.authenticate(client.pass2(login)).status, 200)
    }

    /// An identity can have four challenges at the same time. A fifth replaces the oldest, so a login with the oldest
    /// fails.
    func testAFifthPass1TakesThePlaceOfTheOldest() throws {
        let (_, client, user) = try registered()
        let permit = try client.timePermit(user)
        let logins = try (0..<5).map { _ in try client.pass1(user, pin: "1234", permit: permit) }
        XCTAssertEqual(try client.authenticate(client.pass2(logins[0])).status, 401)
    }

    /// Wire section 17, defect 13: in Milagro's server, a user who logged in again within 15 s sometimes got 500.
    func testRapidLoginsOfOneUserAllSucceed() throws {
        let (_, client, user) = try registered()
        let permit = try client.timePermit(user)
        for _ in 0..<60 { XCTAssertEqual(try client.login(user, pin: "1234", permit: permit).status, 200) }
    }

    /// Wire section 17, defect 1, and section 15: an invented M-Pin ID cannot log in.
    func testAnInventedIDGetsNoLogin() throws {
        let (server, client, user) = try registered()
        let invented = try TestClient.User.invented(token: user.token)
        let permit = try client.timePermit(user)
        XCTAssertEqual(try client.login(invented, pin: "1234", permit: permit).status, 401)
        // An invented ID cannot use the challenge of another user's login either.
        let login = try client.pass1(user, pin: "1234", permit: permit)
        let body = try client.pass2Body(login).replacing(user.id, with: invented.id)
        XCTAssertEqual(try server.backend.call("POST", "/rps/pass2", body).status, 403)
        XCTAssertEqual(try client.authenticate(client.pass2(login)).object["userId"] as? String, "alice@example.com")
    }

    func testAnothersTokenDoesNotOpenAnIdentity() throws {
        let (_, client, alice) = try registered()
        let eve = try client.register("eve@example.com", pin: "1234")
        let forged = TestClient.User(id: alice.id, token: eve.token)
        XCTAssertEqual(try client.login(forged, pin: "1234", permit: client.timePermit(alice)).status, 401)
    }

    func testThePermitOfYesterdayIsGoodInTheFirstHourOfADayOnly() throws {
        let (server, client, user) = try registered()
        let toMidnight = Int(86_400 - server.now.seconds % 86_400)
        server.advance(seconds: toMidnight - 30)
        let permit = try client.timePermit(user)
        server.advance(seconds: 60)
        XCTAssertEqual(try client.login(user, pin: "1234", permit: permit).status, 200, "half a minute past midnight")
        server.advance(seconds: 3600)
        XCTAssertEqual(try client.login(user, pin: "1234", permit: permit).status, 401, "past one o'clock")
        XCTAssertEqual(try client.login(user, pin: "1234").status, 200)
    }

    func testALoginWithoutPermitIsRefusedWherePermitsAreUsed() throws {
        let (_, client, user) = try registered()
        XCTAssertThrowsError(try client.pass1(user, pin: "1234", permit: nil))
    }

    func testWithoutTimePermitsTheServerSaysSoAndVerifiesWithU() throws {
        let (_, client, user) = try registered { $0.usePermits = false }
        XCTAssertEqual(try client.settings().usePermits, false)
        let statuses = try ["9999", "1234"].map { pin in
            try client.authenticate(client.pass2(client.pass1(user, pin: pin, permit: nil))).status
        }
        XCTAssertEqual(statuses, [401, 200])
    }

    func testNoSecretOfAUserAndNoOneTimeTokenLiesInTheFile() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        try client.confirm("alice@example.com")
        let secret = try client.clientSecret(registration)
        let user = try client.finishRegistration(registration, pin: "1234")
        let pass2 = try client.pass2(client.pass1(user, pin: "1234", permit: client.timePermit(user)))
        let ott = try XCTUnwrap(pass2.object["authOTT"] as? String)
        let secrets =
            [registration.regOTT, ott].flatMap { [Data($0.utf8), Data(Hex.decode($0) ?? [])] }
            + [
                Data(secret), Data(user.token), Data(secret.dropFirst().prefix(32)),
                Data(user.token.dropFirst().prefix(32)),
            ]
        for file in ["rps.sqlite", "rps.sqlite-wal"] {
            let content = try Data(contentsOf: URL(fileURLWithPath: server.backend.stateFolder + "/" + file))
            for secret in secrets { XCTAssertNil(content.range(of: secret), file) }
        }
    }

    func testThePrivateAuthenticateReportsUserAndID() throws {
        let (server, client, user) = try registered()
        let pass2 = try client.pass2(client.pass1(user, pin: "1234", permit: client.timePermit(user)))
        let ott = try XCTUnwrap(pass2.object["authOTT"] as? String)
        let body = "{\"authOTT\":\"\(ott)\",\"logoutData\":{\"sessionToken\":\"x\"},\"logoutURL\":\"/logout\"}"
        let answer = try server.backend.callPrivate("POST", "/authenticate", body)
        XCTAssertEqual(answer.object["status"] as? Int, 200)
        XCTAssertEqual(answer.object["message"] as? String, "Authentication successful")
        XCTAssertEqual(answer.object["userId"] as? String, "alice@example.com")
        XCTAssertEqual(answer.object["mpinId"] as? String, user.id)
        let unknown = try server.backend.callPrivate("POST", "/authenticate", body)
        XCTAssertEqual(unknown.status, 408)
        XCTAssertEqual(unknown.object["status"] as? Int, 408)
        XCTAssertEqual(unknown.object["userId"] as? String, "")
        XCTAssertEqual(unknown.object["mpinId"] as? String, "")
        XCTAssertEqual(try server.backend.callPrivate("GET", "/status").object["message"] as? String, "active")
    }
}

extension LoginTests {
    private func registered(
        _ change: (inout AllInOne) -> Void = { _ in }
    ) throws -> (InProcess, TestClient, TestClient.User) {
        let server = try InProcess(change: change).keep(in: self)
        let client = TestClient(backend: server.backend)
        return (server, client, try client.register("alice@example.com", pin: "1234"))
    }
}
