import Foundation
import LoopbackServer
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import Synchronization
import XCTest

/// Tests a separate RPA that forwards requests with public paths to the RPS (wire section 8.6).
final class ForwardingTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    private func rpa(_ rpsURL: String, _ more: [String] = []) throws -> Mpind {
        try Mpind.rpa(backend, over: rpsURL, more)
    }

    func testMethodPathQueryHeadersAndBodyArriveAndTheAnswerComesBack() throws {
        let rps = try LoopbackServer { request in
            .answer(
                request.target.hasSuffix("late") ? 503 : 403,
                headers: [
                    ("Content-Type", "application/json"), ("X-Own", "1"), ("Retry-After", "7"),
                    ("Access-Control-Allow-Origin", "http://other.example"),
                ],
                body: Array("{\"version\":\"0.3\",\"message\":\"no\"}".utf8))
        }
        defer { rps.stop() }
        let mpind = try rpa(rps.url)
        let headers = [
            "X-Device": "7", "X-Forwarded-For": "10.9.8.7", "X-Request-Id": "mine", "Content-Type": "text/plain",
            "Cookie": "mpin=secret",
        ]
        for (method, body) in [("PUT", "{\"userId\":\"a\"}"), ("POST", ""), ("GET", nil)] {
            let target = "/rps/user/7b7d?a=%2F&b=c%20d"
            let answer = try backend.call(method, target, body, headers: headers)
            XCTAssertEqual(answer.status, 403)
            XCTAssertEqual(answer.object["message"] as? String, "no")
            XCTAssertEqual(answer.headers["x-own"], "1")
            XCTAssertEqual(answer.headers["retry-after"], "7")
            let asked = try XCTUnwrap(rps.received.last)
            XCTAssertEqual([asked.method, asked.target], [method, target])
            XCTAssertEqual(asked.body, Array((body ?? "").utf8))
            XCTAssertEqual(asked.header("Host"), "127.0.0.1")
            XCTAssertEqual(asked.header("X-Device"), "7")
            XCTAssertNil(asked.header("Cookie"), "it is the website's")
            XCTAssertNil(answer.headers["access-control-allow-origin"], "the RPA says itself who may read answers")
            XCTAssertEqual(asked.header("Content-Type"), "text/plain")
            XCTAssertEqual(asked.headers.filter { $0.0.lowercased() == "x-forwarded-for" }.map(\.1), ["127.0.0.1"])
            XCTAssertEqual(asked.header("X-Request-Id"), answer.headers["x-request-id"])
            XCTAssertNotEqual(asked.header("X-Request-Id"), "mine", "nobody has told the RPA to trust that")
        }
        let late = try backend.call("GET", "/rps/late")
        XCTAssertEqual(late.status, 500, "more than 500 is 500")
        XCTAssertEqual(late.headers["retry-after"], "7")
        XCTAssertEqual(try backend.call("GET", "/service").status, 403)
        XCTAssertEqual(rps.received.last?.target, "/service", "where phones begin")
        XCTAssertEqual(try backend.call("GET", "/service/x").status, 404)
        XCTAssertEqual(try backend.call("GET", "m://other.example/rps/user/7b7d?a=1").status, 403)
        XCTAssertEqual(rps.received.last?.target, "/rps/user/7b7d?a=1", "a request names no other server")
        let count = rps.received.count
        for target in ["/rps/../status", "/rps/%2e%2e/status", "/rps/a;b", "/other", "/rpsx/user"] {
            XCTAssertEqual(try backend.call("GET", target).status, 404, target)
        }
        XCTAssertEqual(try backend.call("DELETE", "/rps/user").status, 405)
        XCTAssertEqual(try backend.call("OPTIONS", "/rps/user").status, 200)
        XCTAssertEqual(try backend.call("POST", "/rps/pass1", String(repeating: "x", count: 70_000)).status, 413)
        XCTAssertEqual(rps.received.count, count)
        rps.stop()
        XCTAssertEqual(try backend.call("GET", "/rps/clientSettings").status, 500, "nobody there")
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// Registrations can take long, because the RPS answers only when the mail is sent. Other requests must not wait
    /// for them.
    func testWaitingRegistrationsDelayNoOtherRequests() throws {
        let rps = try LoopbackServer { request in request.method == "PUT" ? .stall() : .text(200, "{}") }
        defer { rps.stop() }
        let mpind = try rpa(rps.url)
        let backend = backend
        let waits = (0..<32).map { number in
            Later { try backend.call("PUT", number % 2 == 0 ? "/rps/user" : "/rps/user/7b7d", "{}").status }
        }
        let end = Date(timeIntervalSinceNow: 20)
        while rps.received.count < 32, Date() < end { usleep(10_000) }
        XCTAssertEqual(try Later { try backend.call("POST", "/rps/pass1", "{}").status }.get(), 200)
        XCTAssertEqual(try Later { try backend.call("PUT", "/rps/user", "{}").status }.get(), 503)
        rps.stop()
        for wait in waits { XCTAssertEqual(try wait.get(), 500) }
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// To serve a page of the website, the RPA sends requests of its own to the RPS. If the RPS answers one of them
    /// with 503 or 429, the RPA gives the same status with the same Retry-After. Any other failure gives 502.
    func testTheRPAForwardsRetryLaterOfTheRPS() throws {
        let status = Mutex(503)
        let rps = try LoopbackServer { _ in
            .answer(status.withLock { $0 }, headers: [("Retry-After", "7")], body: Array("{\"message\":\"no\"}".utf8))
        }
        defer { rps.stop() }
        let mpind = try rpa(rps.url, ["--rps-private-url", rps.url])
        let link = try mailedLink()
        for (given, expected) in [(503, 503), (429, 429), (500, 502)] {
            status.withLock { $0 = given }
            let answers = try [
                backend.call("POST", "/mpinAuthenticate", "{\"mpinResponse\":{\"authOTT\":\"00\"}}"),
                backend.call("GET", "/login"), backend.call("GET", "/login/number"), backend.call("POST", link, ""),
            ]
            XCTAssertEqual(answers.map(\.status), answers.map { _ in expected }, "\(given)")
            let seconds = expected == 502 ? "none" : "7"
            XCTAssertEqual(answers.map { $0.headers["retry-after"] ?? "none" }, answers.map { _ in seconds })
        }
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// The RPA closes the connection of a page that cannot wait. Requests that have already come behind it are not
    /// carried out, because nobody would get their answers.
    func testNothingBehindTheLastAnswerIsCarriedOut() throws {
        let rps = try LoopbackServer { _ in .answer(503, headers: [("Retry-After", "7")], body: Array("{}".utf8)) }
        defer { rps.stop() }
        let mpind = try rpa(rps.url, ["--rps-private-url", rps.url])
        rps.forget()
        let requests = ["POST /rps/access", "PUT /rps/user", "PUT /rps/user"].map {
            "\($0) HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"
        }
        let answer = Sockets.parse(try Sockets.rawBytes(backend.port, Data(requests.joined().utf8)))
        XCTAssertEqual(answer.status, 503)
        XCTAssertEqual(answer.headers["connection"], "close")
        // The program ends when everything is done that it has begun.
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
        XCTAssertEqual(rps.received.map(\.path), ["/rps/access"])
    }

    /// If a kept connection breaks, the RPA does not know whether the RPS has read the request. It may only repeat
    /// requests that are safe to repeat.
    func testWhatIsNotSafeToRepeatIsSentOnce() throws {
        let isDead = Mutex(false)
        let rps = try LoopbackServer { request in
            // Resets only the kept connection. The next connection works.
            guard
                isDead.withLock({ dead in
                    defer { dead = false }; return dead
                })
            else {
                return .text(200, "{\"status\":\"new\",\"userId\":\"\",\"authOTT\":\"\"}")
            }
            return .reset()
        }
        defer { rps.stop() }
        let mpind = try rpa(rps.url, ["--rps-private-url", rps.url])
        let link = try mailedLink()
        let login = "{\"mpinResponse\":{\"authOTT\":\"00\"}}"
        for (method, target, body, count) in [
            ("GET", "/rps/clientSettings", nil, 2), ("POST", "/rps/access", "{}", 2),
            ("POST", "/rps/pass1", "{}", 1), ("POST", "/rps/pass2", "{}", 1), ("POST", "/rps/authenticate", "{}", 1),
            ("PUT", "/rps/user", "{}", 1), ("POST", "/mpinAuthenticate", login, 1), ("POST", link, "", 1),
            ("GET", "/login", nil, 1),
        ] {
            // Sends the request once, so that the RPA keeps a connection if it does so for this kind of request.
            _ = try backend.call(method, target, body)
            rps.forget()
            isDead.withLock { $0 = true }
            let answer = try backend.call(method, target, body)
            XCTAssertEqual(rps.received.count, count, "\(method) \(target)")
            XCTAssertEqual(answer.status == 200, count == 2, "\(method) \(target): \(answer.status)")
            isDead.withLock { $0 = false }
        }
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// Returns the path of an activation link, from a mail that the RPA sends when the RPS asks for it.
    private func mailedLink() throws -> String {
        var rps = backend
        rps.privateToken = SignedMessage.fromRPS.signature(key: try KeyFile.load(backend.stateFolder + "/rps-rpa.key"))
        let id = try MPinID.issue(userID: "alice@example.com", mobile: 1, at: .now()).hex
        let wish: [String: Any] = [
            "userId": "alice@example.com", "mpinId": id, "activateKey": String(repeating: "0", count: 64),
            "deviceName": "", "userData": "",
            "expireTime": Moment.now().adding(seconds: 600).iso, "mobile": 1, "resend": false,
        ]
        let body = try JSONSerialization.data(withJSONObject: wish)
        XCTAssertEqual(try rps.callPrivate("POST", "/mpinVerify", String(decoding: body, as: UTF8.self)).status, 200)
        return try backend.link(to: "alice@example.com")
    }

    /// Waiting pages do not occupy threads, so other requests need not wait for them.
    func testWaitingPagesDelayNoOtherRequests() throws {
        let (waits, leave) = (Count(), DispatchSemaphore(value: 0))
        let rps = try LoopbackServer { request in
            guard request.path.contains("/access") else { return .text(200, "{}") }
            waits.add()
            leave.wait()
            return .text(200, "{}")
        }
        defer { rps.stop() }
        let mpind = try rpa(rps.url)
        let backend = backend
        let answers = (0..<300).map { number in
            Later { try backend.call("POST", number % 2 == 0 ? "/rps/access" : "/rps/access/", "{}").status }
        }
        waits.wait(for: 300)
        for _ in 0..<20 { XCTAssertEqual(try backend.call("POST", "/rps/pass1", "{}").status, 200) }
        for _ in answers { leave.signal() }
        for answer in answers { XCTAssertEqual(try answer.get(), 200) }
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }
}
