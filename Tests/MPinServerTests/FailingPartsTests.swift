import Foundation
import LoopbackServer
import MPinServer
import MPinStore
import MPinWire
import Synchronization
import XCTest

/// Tests the RPS's answers when another part of the system refuses or fails (wire sections 6.2, 6.3 and 6.5).
final class FailingPartsTests: XCTestCase {
    private static let failures: [(String, Reply)] = [
        ("500", .text(500, "{}")), ("no JSON", .text(200, "<html>")), ("reset", .reset()), ("empty", .text(200, "{}")),
    ]

    func testTheRPAsAnswerToARegistrationIsPassedOnAndItsFailuresAre500() throws {
        let reply = Mutex(Reply.text(200, ""))
        let rpa = try LoopbackServer { _ in reply.withLock { $0 } }
        defer { rpa.stop() }
        let server = try InProcess(changeRPS: { $0.verifyURL = rpa.url + "/mpinVerify" }).keep(in: self)
        func register(_ answer: Reply) throws -> Answer {
            reply.withLock { $0 = answer }
            return try server.backend.call("PUT", "/rps/user", "{\"userId\":\"alice@example.com\"}")
        }
        for (answer, active) in [
            (Reply.text(200, ""), false), (.text(200, "{}"), false), (.text(200, "{\"forceActivate\":false}"), false),
            (.text(200, "{\"forceActivate\":true}"), true),
        ] {
            XCTAssertEqual(try register(answer).object["active"] as? Bool, active)
        }
        for status in [400, 402, 403, 404, 409, 410, 429] {
            XCTAssertEqual(try register(.text(status, "")).status, status)
        }
        // A 401 is not passed on, because it means that the RPA refuses the RPS and not the user.
        for status in [401, 201, 204, 301, 500, 503] {
            XCTAssertEqual(try register(.text(status, "")).status, 500, "\(status)")
        }
        for (name, failure) in Self.failures where name != "empty" {
            let answer = try register(failure)
            XCTAssertEqual(answer.status, 500, name)
            XCTAssertNil(answer.object["mpinId"], name)
        }
        rpa.stop()
        XCTAssertEqual(try register(.text(200, "{}")).status, 500, "unreachable")
    }

    /// If the RPA's answer is lost, the RPS must not send its request again, because the RPA may already have sent the
    /// mail.
    func testNoRegistrationSendsASecondMailByItself() throws {
        let isDead = Mutex(false)
        let rpa = try LoopbackServer { _ in isDead.withLock { $0 } ? .reset() : .text(200, "{}") }
        defer { rpa.stop() }
        let server = try InProcess(changeRPS: { $0.verifyURL = rpa.url + "/mpinVerify" }).keep(in: self)
        func register(_ user: String) throws -> Int {
            try server.backend.call("PUT", "/rps/user", "{\"userId\":\"\(user)\"}").status
        }
        XCTAssertEqual(try register("alice@example.com"), 200)
        isDead.withLock { $0 = true }
        XCTAssertEqual(try register("bob@example.com"), 500)
        XCTAssertEqual(rpa.received.map { $0.json["userId"] as? String }, ["alice@example.com", "bob@example.com"])
    }

    /// A failure of D-TA 1 must not end a registration. The record is kept, and the next try can succeed.
    func testAFailingAuthorityIs500AndTheRegistrationIsKept() throws {
        let backend = Backend.onFreePorts()
        let failure = Mutex<Reply?>(nil)
        let dta1 = try LoopbackServer { request in
            if let reply = failure.withLock({ $0 }) { return reply }
            let head = "GET \(request.target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
            return (try? Sockets.rawBytes(backend.dta1Port, Data(head.utf8))).map { .raw(Array($0)) } ?? .reset()
        }
        defer { dta1.stop() }
        let server = try InProcess(backend, changeRPS: { $0.authorities[0].url = dta1.url }).keep(in: self)
        let client = TestClient(backend: backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        let pending = try client.startRegistration("bob@example.com")
        try client.confirm("bob@example.com")
        for (name, reply) in Self.failures + [("short", .text(200, "{\"clientSecret\":\"04\",\"timePermit\":\"04\"}"))]
        {
            failure.withLock { $0 = reply }
            XCTAssertEqual(try client.signature(pending).status, 500, name)
            let permit = try server.backend.call("GET", "/rps/timePermit/" + alice.id)
            XCTAssertEqual(permit.status, 500, name)
            XCTAssertNil(permit.object["signature"], name)
        }
        failure.withLock { $0 = nil }
        let bob = try client.finishRegistration(pending, pin: "4321")
        XCTAssertEqual(try client.login(bob, pin: "4321").status, 200)
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
    }

    /// Tests the RPS's requests to the RPA for a registration (wire section 8.1) and for its restart (section 12). Then
    /// confirms the registration with the activation key in the second request (section 7).
    func testTheRPAHearsOfARegistrationAndOfItsRestartAndConfirmsItWithTheKey() throws {
        let rpa = try LoopbackServer { _ in .text(200, "") }
        defer { rpa.stop() }
        let server = try InProcess(changeRPS: { $0.verifyURL = rpa.url + "/mpinVerify" }).keep(in: self)
        let client = TestClient(backend: server.backend)
        let first: RegisterResponse = try server.backend.call(
            "PUT", "/rps/user",
            "{\"userId\":\"alice@example.com\",\"mobile\":\"7\",\"deviceName\":\"phone\",\"userData\":\"{}\"}"
        ).json()
        XCTAssertEqual(try Self.restart(first, server), 200)
        let told = rpa.received.map(\.json)
        XCTAssertEqual(told.map { $0["resend"] as? Bool }, [false, true])
        XCTAssertEqual(told.map { $0["mobile"] as? Int }, [7, 0])
        XCTAssertEqual(told.map { $0["deviceName"] as? String }, ["phone", ""])
        XCTAssertEqual(told.map { $0["userData"] as? String }, ["{}", ""])
        let names: Set = [
            "userId", "mpinId", "mobile", "activateKey", "expireTime", "resend", "deviceName", "userData",
        ]
        for message in told {
            XCTAssertEqual(Set(message.keys), names)
            XCTAssertEqual(message["userId"] as? String, "alice@example.com")
            XCTAssertEqual(message["mpinId"] as? String, first.mpinId)
            XCTAssertNotNil(Moment(try XCTUnwrap(message["expireTime"] as? String)), "whole seconds and Z")
        }
        XCTAssertEqual(try client.signature(first).status, 401)
        let confirmed = try Self.confirm(first, told.last?["activateKey"] as? String, server)
        XCTAssertEqual(confirmed.status, 200)
        XCTAssertTrue(confirmed.body.isEmpty)
        XCTAssertEqual(try client.signature(first).status, 200)
    }

    /// Wire section 6.2: if the RPA refuses the restart of a registration, the registration must stay as it was.
    func testARestartThatTheRPARefusesLeavesTheRegistrationAsItWas() throws {
        let reply = Mutex(Reply.text(200, "{\"forceActivate\":true}"))
        let rpa = try LoopbackServer { _ in reply.withLock { $0 } }
        defer { rpa.stop() }
        let server = try InProcess(changeRPS: { $0.verifyURL = rpa.url + "/mpinVerify" }).keep(in: self)
        let client = TestClient(backend: server.backend)
        let confirmed = try client.startRegistration("alice@example.com")
        reply.withLock { $0 = .text(200, "") }
        let waiting = try client.startRegistration("bob@example.com")
        server.advance(seconds: 3000)
        for status in [500, 403] {
            reply.withLock { $0 = .text(status, "") }
            XCTAssertEqual(try Self.restart(confirmed, server), status)
            XCTAssertEqual(try Self.restart(waiting, server, "bob@example.com"), status)
            XCTAssertEqual(try client.signature(waiting).status, 401, "confirmed by nobody")
        }
        server.advance(seconds: 500)
        XCTAssertEqual(try client.signature(confirmed).status, 200)
        server.advance(seconds: 110)
        XCTAssertEqual(try client.signature(waiting).status, 400, "it has no more time than before")
    }

    /// Starts an RPS that waits for this RPA longer than a test lasts.
    private func asking(_ rpa: LoopbackServer) throws -> InProcess {
        try InProcess(changeRPS: {
            $0.verifyURL = rpa.url + "/mpinVerify"
            $0.limits.callSeconds = 60
        }).keep(in: self)
    }

    /// While the RPA checks a restart, the user opens the link of the first mail. The RPA then refuses the restart. The
    /// confirmation must stay.
    func testAConfirmationDuringARefusedRestartStays() throws {
        let keys = Mutex<[String]>([])
        let asked = DispatchSemaphore(value: 0)
        let refuse = DispatchSemaphore(value: 0)
        let rpa = try LoopbackServer { request in
            let key = request.json["activateKey"] as? String ?? ""
            let isFirst = keys.withLock { keys in
                keys.append(key)
                return keys.count == 1
            }
            guard !isFirst else { return .text(200, "") }
            asked.signal()
            _ = refuse.wait(timeout: .now() + 20)
            return .text(403, "")
        }
        defer { rpa.stop() }
        let server = try asking(rpa)
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        let restarted = Later { try Self.restart(registration, server) }
        XCTAssertEqual(asked.wait(timeout: .now() + 20), .success)
        XCTAssertEqual(try Self.confirm(registration, keys.withLock { $0.first }, server).status, 200)
        refuse.signal()
        XCTAssertEqual(try restarted.get(), 403)
        XCTAssertEqual(try client.signature(registration).status, 200)
    }

    /// More registrations wait for the RPA than there are threads for such requests. Logins must not have to wait.
    func testRegistrationsThatWaitForTheirMailsDelayNoLogin() throws {
        let rpa = try LoopbackServer { request in
            request.json["userId"] as? String == "alice@example.com"
                ? .json(200, ["forceActivate": true]) : .stall()
        }
        defer { rpa.stop() }
        let server = try asking(rpa)
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        let alice = try client.finishRegistration(registration, pin: "1234")
        let backend = server.backend
        func register(_ number: Int) -> Later<Answer> {
            Later { try backend.call("PUT", "/rps/user", "{\"userId\":\"user\(number)@example.com\"}") }
        }
        let waiting = (0..<32).map(register)
        let login = Later { try TestClient(backend: backend).login(alice, pin: "1234").status }
        XCTAssertEqual(try login.get(), 200)
        let end = Date(timeIntervalSinceNow: 60)
        while rpa.received.count < 33, Date() < end { usleep(10_000) }
        let refused = try register(32).get()
        XCTAssertEqual([refused.status, rpa.received.count], [503, 33])
        XCTAssertEqual(refused.headers["retry-after"], "1")
        rpa.stop()
        for registration in waiting { XCTAssertEqual(try registration.get().status, 500) }
    }

    /// Wire section 6.2: no user can register if the RPA's URL is not set.
    func testWithoutAnRPANobodyCanRegister() throws {
        let server = try InProcess(changeRPS: { $0.verifyURL = "" }).keep(in: self)
        XCTAssertEqual(try server.backend.call("PUT", "/rps/user", "{\"userId\":\"alice@example.com\"}").status, 400)
    }

    private static func restart(
        _ registration: RegisterResponse, _ server: InProcess, _ user: String = "alice@example.com"
    ) throws -> Int {
        let body = "{\"userId\":\"\(user)\",\"regOTT\":\"\(registration.regOTT)\"}"
        return try server.backend.call("PUT", "/rps/user/" + registration.mpinId, body).status
    }

    /// Confirms a registration as the RPA does, with the key that the RPS sent to it.
    private static func confirm(
        _ registration: RegisterResponse, _ key: String?, _ server: InProcess
    ) throws -> Answer {
        let body = "{\"activateKey\":\"\(try XCTUnwrap(key))\"}"
        return try server.backend.callPrivate("POST", "/user/" + registration.mpinId, body)
    }
}
