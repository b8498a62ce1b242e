import Foundation
import LoopbackServer
import MPinServer
import MPinStore
import MPinWire
import XCTest

/// Tests pages that wait for phones, and phones that wait for pages. Their number must be limited, and they must not
/// affect other requests.
final class WaitingTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    /// With these limits, 12 pages and 2 phones of one address may wait, and 48 pages in all.
    private static let few = ["--connections", "64", "--connections-per-address", "16"]

    private func rpa(_ rpsURL: String, _ more: [String] = []) throws -> Mpind {
        try Mpind.rpa(backend, over: rpsURL, more)
    }

    func testMorePagesThanMayWaitGet503AndNobodyElseDoes() throws {
        let (waits, leave) = (Count(), DispatchSemaphore(value: 0))
        let rps = try LoopbackServer { request in
            guard request.path.hasSuffix("/access") else { return .text(200, "{}") }
            waits.add()
            leave.wait()
            return .text(200, "{}")
        }
        defer { rps.stop() }
        let mpind = try rpa(rps.url, Self.few)
        let backend = backend
        var other = backend
        other.source = 2
        let elsewhere = other
        let waiting = (0..<12).map { _ in Later { try backend.call("POST", "/rps/access", "{}").status } }
        waits.wait(for: 12)
        let refused = try Later { try backend.call("POST", "/rps/access", "{}") }.get()
        XCTAssertEqual(refused.status, 503)
        XCTAssertEqual(refused.headers["retry-after"], "5")
        XCTAssertEqual(refused.headers["connection"], "close")
        XCTAssertEqual(refused.object["message"] as? String, "Too many wait already")
        for path in ["pass1", "pass2", "authenticate", "getQrUrl"] {
            XCTAssertEqual(try backend.call("POST", "/rps/" + path, "{}").status, 200, path)
        }
        let page = Later { try elsewhere.call("POST", "/rps/access", "{}").status }
        waits.wait(for: 13)
        for _ in 0..<13 { leave.signal() }
        for wait in waiting + [page] { XCTAssertEqual(try wait.get(), 200) }
        leave.signal()
        XCTAssertEqual(try backend.call("POST", "/rps/access", "{}").status, 200, "the places are free again")
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    func testAtTheRPSTooMorePagesThanMayWaitGet503AndNobodyElseDoes() throws {
        let server = try InProcess {
            $0.limits.connections = 64
            $0.limits.connectionsPerAddress = 16
            $0.limits.service.pageWaitSeconds = 20
        }.keep(in: self)
        let browsers = try (0..<13).map { _ in try TestBrowser(code: server.backend) }
        // Starts twelve pages that wait. The thirteenth page below may take the place of one of them for a moment; the
        // refused page then tries again.
        let waiting = browsers.prefix(12).map { browser in
            Later {
                let body = "{\"webOTT\":\"\(browser.webOTT)\",\"wait\":20}"
                var answer = try server.backend.call("POST", "/rps/access", body)
                while answer.status == 503 { answer = try server.backend.call("POST", "/rps/access", body) }
                return try (answer.json() as AccessResponse).status
            }
        }
        // Tries the thirteenth page until it is refused. A waiting page gets no answer, so the test cannot see when all
        // twelve wait.
        let body = "{\"webOTT\":\"\(browsers[12].webOTT)\",\"wait\":1}"
        let end = Date(timeIntervalSinceNow: 15)
        var answer = try server.backend.call("POST", "/rps/access", body)
        while answer.status == 200, Date() < end { answer = try server.backend.call("POST", "/rps/access", body) }
        XCTAssertEqual(answer.status, 503)
        XCTAssertEqual(answer.object["message"] as? String, "Too many wait already")
        XCTAssertEqual(try server.backend.call("POST", "/rps/pass1", "{}").status, 403, "a login is judged")
        XCTAssertEqual(try server.backend.call("POST", "/rps/authenticate", "{}").status, 400, "so is a phone's")
        for browser in browsers.prefix(12) {
            let report = "{\"status\":\"user\",\"wid\":\"\(browser.wid)\",\"userId\":\"a\"}"
            XCTAssertEqual(try server.backend.call("POST", "/rps/codeStatus", report).status, 200)
        }
        for wait in waiting { XCTAssertEqual(try wait.get(), "user") }
    }

    /// If a page is closed or a phone loses its network, its place must be free at once, and not only when its waiting
    /// time is over.
    func testAClosedConnectionFreesItsPlaceAtTheRPAAtOnceAndEndsItsRequest() throws {
        let (asked, ended) = (Count(), Count())
        let rps = try LoopbackServer(onEnd: { ended.add() }) { _ in
            asked.add()
            return .stall()
        }
        defer { rps.stop() }
        let mpind = try rpa(rps.url, Self.few)
        for (path, places) in [("/rps/access", 12), ("/rps/authenticate", 2)] {
            for _ in 0..<2 {
                let before = asked.value
                let waiting = try (0..<places).map { _ in try enter(path, asked) }
                XCTAssertEqual(try backend.call("POST", path, "{}").status, 503, path)
                for file in waiting { close(file) }
                // Waits until the RPA has ended its requests to the RPS, which would be answered much later.
                ended.wait(for: before + places, seconds: 15)
                XCTAssertEqual(ended.value, before + places, path)
            }
        }
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// Sends a request until it has reached the RPS, and returns its connection. A refused request is sent again.
    private func enter(_ path: String, _ asked: Count) throws -> Int32 {
        let (before, end) = (asked.value, Date(timeIntervalSinceNow: 15))
        while Date() < end {
            let file = try Sockets.post(backend.port, path, "{}")
            while asked.value == before, !Sockets.hasAnswer(file), Date() < end { usleep(1_000) }
            if asked.value > before { return file }
            close(file)
        }
        throw Sockets.Failure(text: "no place for " + path)
    }

    func testAClosedPageFreesItsPlaceAtTheRPSAtOnce() throws {
        let server = try InProcess {
            $0.limits.connections = 64
            $0.limits.connectionsPerAddress = 16
            $0.limits.service.pageWaitSeconds = 50
        }.keep(in: self)
        let tokens = try (0..<13).map { _ in try TestBrowser(code: server.backend).webOTT }
        func wait(_ number: Int) throws -> Int32 {
            let body = "{\"webOTT\":\"\(tokens[number])\",\"wait\":50}"
            return try Sockets.post(server.backend.port, "/rps/access", body)
        }
        func isFree() throws -> Bool {
            try server.backend.call("POST", "/rps/access", "{\"webOTT\":\"\(tokens[12])\"}").status == 200
        }
        for _ in 0..<3 {
            let end = Date(timeIntervalSinceNow: 20)
            var waiting = try (0..<12).map(wait)
            while try isFree(), Date() < end {
                // Sends a page's request again if it was refused because another page still had the place.
                for number in 0..<12 where Sockets.hasAnswer(waiting[number]) {
                    close(waiting[number])
                    waiting[number] = try wait(number)
                }
            }
            XCTAssertFalse(try isFree(), "all places are taken")
            for file in waiting { close(file) }
            while try !isFree(), Date() < end { usleep(1_000) }
            XCTAssertTrue(try isFree(), "they are free long before the pages would have been answered")
        }
    }

    /// The RPA asks the RPS about the logins of all phones (wire section 7). Without a key for the RPA, these requests
    /// arrive on the same listener as those of phones, but must not count as waiting phones.
    func testTheRPAsQuestionsAboutLoginsDoNotCountAsWaitingPhones() throws {
        let server = try InProcess(
            change: {
                $0.delivery = .forceActivate
                $0.limits.connections = 64
                $0.limits.connectionsPerAddress = 16
                $0.limits.service.waitSeconds = 50
            }, changeRPS: { $0.rpaKey = nil }, changeRPA: { $0.rpsKey = nil }
        ).keep(in: self)
        let client = TestClient(backend: server.backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        let browsers = try (0..<2).map { _ in try TestBrowser(code: server.backend) }
        let phones = try browsers.map { browser in
            let authOTT = try client.prove(alice, wid: browser.wid)
            let body = "{\"mpinResponse\":{\"pass\":2,\"authOTT\":\"\(authOTT)\"}}"
            return Later { try server.backend.callPrivate("POST", "/rps/authenticate", body).status }
        }
        let tokens = try browsers.map { try $0.awaitToken() }
        XCTAssertEqual(try server.backend.callPrivate("POST", "/rps/authenticate", "{}").status, 503, "no third phone")
        for (browser, token) in zip(browsers, tokens) { XCTAssertEqual(try browser.redeem(token).status, 200) }
        for phone in phones { XCTAssertEqual(try phone.get(), 200) }
    }

    /// If the RPS answers a page's poll (/rps/access) with 503, because too many pages wait, the RPA forwards this
    /// answer. If the RPS answers another forwarded request with 503, the RPA answers 500, as Milagro's RPA did.
    func testTheRPAForwardsThe503OfAPageThatMayNotWait() throws {
        let rps = try LoopbackServer { _ in .answer(503, headers: [("Retry-After", "5")], body: []) }
        defer { rps.stop() }
        let mpind = try rpa(rps.url)
        let answer = try backend.call("POST", "/rps/access", "{}")
        XCTAssertEqual([answer.status, Int(answer.headers["retry-after"] ?? "")], [503, 5])
        XCTAssertEqual(try backend.call("POST", "/rps/pass1", "{}").status, 500)
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// At SIGTERM, the RPA must answer waiting pages at once. Otherwise a restart would take as long as pages wait, or
    /// would end their connections without an answer.
    func testSIGTERMLetsGoOfThePagesThatWait() throws {
        let waits = Count()
        let rps = try LoopbackServer { _ in
            waits.add()
            return .stall()
        }
        defer { rps.stop() }
        let mpind = try rpa(rps.url, ["--drain-seconds", "60"])
        let backend = backend
        let waiting = (0..<5).map { _ in Later { try backend.call("POST", "/rps/access", "{}") } }
        waits.wait(for: 5)
        let start = Date()
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
        XCTAssertLessThan(Date().timeIntervalSince(start), 20)
        for wait in waiting {
            let answer = try wait.get()
            XCTAssertEqual([answer.status, Int(answer.headers["retry-after"] ?? "")], [503, 1])
        }
    }

    /// The expiry of an access number is no event that wakes a waiting page, so the server must notice it when the wait
    /// ends.
    func testAPageThatWaitsHearsThatItsNumberHasExpired() throws {
        let server = try InProcess().keep(in: self)
        let browser = try TestBrowser(server.backend)
        let waiting = Later { try browser.poll(",\"wait\":3").status }
        usleep(500_000)
        server.advance(seconds: 400)
        XCTAssertEqual(try waiting.get(), "expired")
    }

    /// Many people can share an address, and each of their pages polls. These polls must not use up the limit on new
    /// pages.
    func testThePollsOfPagesUseUpNothingThatANewPageNeeds() throws {
        let server = try InProcess {
            $0.rates.accessAddress = RateLimit("3/600")
            $0.rates.pollAddress = RateLimit("20/600")
        }.keep(in: self)
        let browser = try TestBrowser(server.backend)
        for _ in 0..<20 { XCTAssertEqual(try browser.poll().status, "new") }
        let body = "{\"webOTT\":\"\(browser.webOTT)\"}"
        XCTAssertEqual(try server.backend.call("POST", "/rps/access", body).status, 429)
        XCTAssertEqual(try server.backend.call("POST", "/rps/getQrUrl", "").status, 200)
        XCTAssertEqual(try server.backend.call("GET", "/login").status, 200)
        XCTAssertEqual(try server.backend.call("GET", "/login").status, 429)
    }

    /// The program raises its soft limit on open files to the hard limit. If the hard limit is too small for the
    /// configured number of connections, the program must accept fewer connections. Otherwise it could run out of files
    /// for any connection.
    func testTooFewOpenFilesAreSaidAndTheLimitsFitThem() throws {
        let raised = try Mpind(backend, files: "256:20000")
        try raised.waitUntilReady()
        let limits = try String(contentsOfFile: "/proc/\(raised.process.processIdentifier)/limits", encoding: .utf8)
        XCTAssertNotNil(limits.firstMatch(of: /Max open files +20000 +20000/), limits)
        XCTAssertFalse(raised.logText.contains("RLIMIT_NOFILE"), raised.logText)
        XCTAssertEqual(raised.stop(SIGTERM), 0)
        let tight = try Mpind(backend, files: "512:512")
        try tight.waitUntilReady()
        let line = try XCTUnwrap(tight.logText.split(separator: "\n").first { $0.contains("RLIMIT_NOFILE") })
        let said = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
        XCTAssertEqual(said?["level"], "warning")
        XCTAssertEqual(said?["allowed"], "512")
        XCTAssertEqual(said?["needed"].flatMap { Int($0) }.map { $0 > 10_000 }, true)
        let connections = try XCTUnwrap(said?["connections"].flatMap { Int($0) })
        XCTAssertTrue((32..<256).contains(connections), "\(connections)")
        // Opens more connections than the process may have open files. The server must still serve those that it
        // accepts.
        let files = try (0..<600).map { try Sockets.connect(backend.port, from: UInt16(2 + $0 % 8)) }
        for file in files { close(file) }
        let client = TestClient(backend: backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        XCTAssertEqual(tight.stop(SIGTERM), 0)
    }
}
