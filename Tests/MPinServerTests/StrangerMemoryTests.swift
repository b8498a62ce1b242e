import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import XCTest

/// Tests what strangers can store, over every operation that begins something for them.
final class StrangerMemoryTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    private static let clients = """
        - id: app
          secret-sha256: \(Hex.encode(SHA256.hash(Array("a secret for tests, longer than it must be".utf8))))
          redirect-uri: [https://app.example/cb]
          first-party: true
          scope: [openid, email, profile]
        - id: tv
          auth-method: none
          grant: [urn:ietf:params:oauth:grant-type:device_code]
        """

    private struct Wish: Sendable {
        var target: String
        var type = "application/json"
        var body: String?
    }

    private static let marks = "a" + String(repeating: "\u{301}", count: 30_000)

    /// A request that has as much as it can of what is stored. `number` makes it one that no other is.
    private static func wish(_ operation: APIOperation, _ number: Int) -> Wish? {
        let query = "client_id=app&redirect_uri=https://app.example/cb&response_type=code&scope=openid"
        let (form, user) = ("application/x-www-form-urlencoded", "u\(number)@example.com")
        let long = "&state=\(String(repeating: "s", count: 2000))&nonce=\(String(repeating: "n", count: 2000))"
        let locales = "&ui_locales=" + Array(repeating: "a", count: 28_000).joined(separator: "+")
        switch (operation.method, operation.path) {
        case ("GET", "/authorize"): return Wish(target: "/authorize?\(query)\(long)&ui_locales=a+b+c+d")
        case ("POST", "/authorize") where number % 2 == 0:
            return Wish(target: "/authorize", type: form, body: query + long + locales)
        case ("POST", "/authorize"): return Wish(target: "/authorize?\(query)\(long)", body: "{}")
        case ("POST", "/oidc/device"):
            return Wish(target: "/oidc/device", type: form, body: "client_id=tv&scope=openid")
        case ("PUT", "/rps/user"), ("PUT", "/rps/v2/user"):
            return Wish(target: operation.path, body: "{\"userId\":\"\(user)\",\"deviceName\":\"\(marks)\"}")
        case ("PUT", "/rps/user/{id}"): return Wish(target: "/rps/user/7b7d", body: "{\"userId\":\"\(user)\"}")
        case ("POST", "/rps/getAccessNumber"), ("POST", "/rps/getQrUrl"): return Wish(target: operation.path, body: "")
        case ("POST", "/verification/email"), ("POST", "/verification"):
            let body = "{\"userId\":\"\(user)\",\"projectId\":\"browser\",\"accessId\":\"\(marks)\"}"
            return Wish(target: operation.path, body: body)
        case ("POST", "/rps/v2/session"), ("POST", "/dvs/session"):
            let hash = operation.path == "/dvs/session" ? ",\"hash\":\"\(String(repeating: "ab", count: 32))\"" : ""
            let body = "{\"projectId\":\"proj-1\",\"userId\":\"\(user)\",\"description\":\"\(marks)\"\(hash)}"
            return Wish(target: operation.path, body: body)
        case ("GET", "/login"), ("GET", "/login/number"): return Wish(target: operation.path)
        case ("POST", "/signup/mail"): return Wish(target: operation.path, type: form, body: "address=\(user)")
        case ("GET", "/auth/start"): return Wish(target: "/auth/start?to=/\(String(repeating: "p", count: 2000))")
        default: return nil
        }
    }

    /// Sends requests of one address on one connection until one gets 429. Returns the number of those that passed.
    private static func flood(
        _ backend: Backend, _ operation: APIOperation, from source: UInt16, most: Int
    ) throws -> (passed: Int, last: Int) {
        let file = try Sockets.connect(backend.port, from: source)
        defer { close(file) }
        var last = 0
        for number in 0..<most {
            let wish = try XCTUnwrap(wish(operation, Int(source) * 1000 + number), operation.path)
            var head = "\(operation.method) \(wish.target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            if let body = wish.body {
                head += "Content-Type: \(wish.type)\r\nContent-Length: \(body.utf8.count)\r\n"
            }
            Sockets.send(file, Data((head + "\r\n" + (wish.body ?? "")).utf8))
            last = try Sockets.status(file)
            if last == 429 { return (number, last) }
        }
        return (most, last)
    }

    /// The resident memory of a process in bytes.
    private func memory(_ process: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try XCTUnwrap(text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try XCTUnwrap(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 1024
    }

    /// Twenty addresses, each of another network, send requests as long as they may be, at once, so that nothing expires in
    /// the meantime; their limits are those of ten minutes. The memory grows by less than their twenty shares and what the
    /// requests themselves need. (`StoreBudgetTests` has the ten minutes.)
    func testTwentyAddressesWithinTheirLimitsFillNoMemory() throws {
        try makeFolder(backend.stateFolder)
        let clients = backend.stateFolder + "/clients.yaml"
        try Self.clients.write(toFile: clients, atomically: true, encoding: .utf8)
        let mpind = try Mpind(
            [
                "--all-in-one", "--state-dir", backend.stateFolder, "--mail-dir", backend.mailFolder, "--port",
                "\(backend.port)", "--private-port", "\(backend.privatePort)", "--dta1-port", "\(backend.dta1Port)",
                "--dta2-port", "\(backend.dta2Port)", "--clients", clients, "--rate-access-address", "6000/600",
                "--rate-register-address", "1200/600", "--rate-other-address", "120000/600", "--log-level", "error",
            ], backend.traffic)
        let end = Date(timeIntervalSinceNow: 60)
        while (try? backend.call("GET", "/rps/clientSettings").status) != 200, Date() < end { usleep(10_000) }
        let before = try memory(mpind.process.processIdentifier)
        let operations = try APIOperation.all().filter { !$0.stores.isEmpty }
        XCTAssertGreaterThan(operations.count, 12)
        let backend = backend
        let floods = (0..<20).map { address in
            Later {
                let source = UInt16(address + 1) << 8 | 5
                return try operations.map {
                    try Self.flood(backend, $0, from: source, most: $0.path == "/authorize" ? 30 : 3)
                }
            }
        }
        var passed = 0
        for flood in floods { passed += try flood.get().reduce(0) { $0 + $1.passed } }
        XCTAssertGreaterThan(passed, 1000)
        let grown = try memory(mpind.process.processIdentifier) - before
        XCTAssertLessThan(grown, 64 << 20, "\(passed) requests")
        print("\(passed) requests of 20 addresses: \(grown >> 20) MB more")
        let client = TestClient(backend: backend)
        XCTAssertEqual(try client.login(client.register("alice@example.com", pin: "1234"), pin: "1234").status, 200)
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    private func small(_ change: @escaping (inout AllInOne) -> Void) throws -> InProcess {
        try InProcess(change: change, clients: Self.clients).keep(in: self)
    }

    /// One address uses up its share and gets 429; others begin and end their logins.
    func testAnAddressHasAShare() throws {
        let server = try small {
            $0.rates.memoryShares = true
            $0.limits.memoryPerAddress = 64 << 10
        }
        for operation in try APIOperation.all() where ["/authorize", "/rps/getQrUrl"].contains(operation.path) {
            let flood = try Self.flood(server.backend, operation, from: 7 << 8 | 5, most: 200)
            XCTAssertEqual(flood.last, 429, operation.path)
        }
        let client = TestClient(backend: server.backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        let browser = try TestBrowser(code: server.backend)
        _ = try client.prove(alice, wid: browser.wid)
        XCTAssertEqual(try browser.poll().status, "new")
        server.advance(seconds: 1900)
        var again = server.backend
        again.source = 7 << 8 | 5
        XCTAssertEqual(try again.call("POST", "/rps/getQrUrl", "").status, 200, "what has expired makes room")
    }

    /// Large bodies that arrive slowly have a share, too: further ones of that address get 503, and small ones of it and
    /// large ones of others are read.
    func testLargeBodiesThatComeSlowlyHaveAShare() throws {
        let server = try small {
            $0.rates.memoryShares = true
            $0.limits.memoryPerAddress = 4 * $0.limits.bodyBytes
        }
        let head = "PUT /rps/user HTTP/1.1\r\nHost: h\r\n"
        let lengths = ["Content-Length: 60000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"]
        let files = try (0..<6).map { number in
            let file = try Sockets.connect(server.backend.port, from: 7 << 8 | 5)
            Sockets.send(file, Data((head + lengths[number % 2]).utf8))
            return file
        }
        defer { files.forEach { close($0) } }
        let end = Date(timeIntervalSinceNow: 10)
        while files.count(where: Sockets.hasAnswer) < 2, Date() < end { usleep(5000) }
        let refused = files.filter(Sockets.hasAnswer)
        XCTAssertEqual(try refused.map { try Sockets.status($0) }, [503, 503])
        var same = server.backend
        same.source = 7 << 8 | 5
        XCTAssertEqual(try same.call("POST", "/rps/pass1", "{}").status, 403, "a small body")
        let large = "{\"userId\":\"alice@example.com\"" + String(repeating: " ", count: 60_000) + "}"
        XCTAssertEqual(try server.backend.call("PUT", "/rps/user", large).status, 200, "of another address")
    }

    /// When a table is full, a stranger gets 503, and a person whose login page is open gets a new code and goes on.
    func testAFullTableRefusesStrangersAndPeopleGoOn() throws {
        let server = try small { $0.limits.memoryBudget = 64 << 10 }
        let target = "/authorize?client_id=app&redirect_uri=https://app.example/cb&response_type=code&scope=openid"
        let page = try server.backend.call("GET", target)
        XCTAssertEqual(page.status, 200)
        let cookie = try XCTUnwrap(page.cookies.first?.split(separator: ";").first.map(String.init))
        let id = try XCTUnwrap(page.text.firstMatch(of: /name="id" value="([^"]+)"/)?.1)
        var statuses: [Int] = []
        for _ in 0..<200 where statuses.last != 503 {
            statuses.append(try server.backend.call("POST", "/rps/getQrUrl", "").status)
        }
        XCTAssertEqual(statuses.last, 503)
        let refused = try server.backend.call("GET", target)
        XCTAssertEqual(refused.status, 503, refused.text)
        XCTAssertNotNil(refused.headers["retry-after"])
        let again = try server.backend.call("GET", "/authorize/login?id=\(id)", headers: ["Cookie": cookie])
        XCTAssertEqual(again.status, 200)
        let client = TestClient(backend: server.backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
    }
}

extension Sockets {
    /// Reads one answer of a connection that stays open, and returns its status.
    static func status(_ file: Int32) throws -> Int {
        var data = Data()
        while let piece = receive(file) {
            data += piece
            guard let end = data.range(of: Data("\r\n\r\n".utf8)) else { continue }
            let head = String(decoding: data[..<end.lowerBound], as: UTF8.self).lowercased()
            let length = head.firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
            if data.count >= end.upperBound + length { return parse(data).status }
        }
        throw Failure(text: "the connection has ended")
    }
}
