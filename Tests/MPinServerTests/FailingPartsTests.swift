import Foundation
import LoopbackServer
import MPinServer
import MPinWire
import Synchronization
import XCTest

/// What the RPS answers where another part of the system refuses or fails (wire sections 6.2, 6.3 and 6.5).
final class FailingPartsTests: XCTestCase {
    private static let failures: [(String, Reply)] = [
        ("500", .text(500, "{}")), ("no JSON", .text(200, "<html>")), ("reset", .reset()), ("empty", .text(200, "{}")),
    ]

    func testTheRPAsWordOnARegistrationIsPassedOnAndItsFailuresAre500() throws {
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
        // 401 would be about the RPS itself.
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

    /// A failing D-TA 1 costs nobody a registration: the record is kept, and the next try is as good.
    func testAFailingAuthorityIs500AndTheRegistrationIsKept() throws {
        let backend = Backend.onFreePorts()
        let failure = Mutex<Reply?>(nil)
        let dta1 = try LoopbackServer { request in
            if let reply = failure.withLock({ $0 }) { return reply }
            let head = "GET \(request.target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
            return (try? Sockets.rawBytes(backend.dta1Port, Data(head.utf8))).map { .raw(Array($0)) } ?? .reset()
        }
        defer { dta1.stop() }
        let server = try InProcess(backend, changeRPS: { $0.dta1.url = dta1.url }).keep(in: self)
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
}
