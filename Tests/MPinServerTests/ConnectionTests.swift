import Foundation
import LoopbackServer
import MPinOpenID
import MPinServer
import XCTest

/// Tests limits for connections: slow ones and many at the same time. Also tests requests that are written so that a
/// proxy and the server behind it could disagree where they end (request smuggling).
final class ConnectionTests: XCTestCase {
    private let good = "GET /rps/clientSettings HTTP/1.1\r\nHost: h\r\n\r\n"

    /// Returns the seconds from `start` until the server closes; nil if it has not closed within ten seconds from now.
    private func secondsUntilClosed(_ file: Int32, since start: Date = Date()) -> Double? {
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        while true {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(file, &buffer, buffer.count, 0)
            if count < 0 && errno == EAGAIN { return nil }
            if count <= 0 { return Date().timeIntervalSince(start) }
        }
    }

    private func patient(_ change: @escaping (inout Limits) -> Void) throws -> InProcess {
        try InProcess { change(&$0.limits) }.keep(in: self)
    }

    /// Sends `piece` every 0.2 s until the server has closed the connection. Returns the seconds until then.
    private func drip(_ port: Int, _ head: String, _ piece: String) throws -> Double {
        let start = Date()
        let file = try Sockets.connect(port)
        defer { close(file) }
        Sockets.send(file, Data(head.utf8))
        while Date().timeIntervalSince(start) < 10 {
            Sockets.send(file, Data(piece.utf8))
            var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, 200) > 0, Sockets.receive(file) == nil { break }
        }
        return Date().timeIntervalSince(start)
    }

    func testAClientThatSaysNothingOrDripsItsHeaderIsClosedAfterTheHeaderTime() throws {
        let server = try patient { $0.headerSeconds = 1 }
        let start = Date()
        let silent = try Sockets.connect(server.backend.port)
        defer { close(silent) }
        let dripped = try drip(server.backend.port, "GET / HTTP/1.1\r\n", "X-A: b\r\n")
        let quiet = try XCTUnwrap(secondsUntilClosed(silent, since: start))
        XCTAssertGreaterThan(quiet, 0.8)
        XCTAssertLessThan(quiet, 8)
        XCTAssertGreaterThan(dripped, 0.8)
        XCTAssertLessThan(dripped, 8, "each byte must not start the clock again")
    }

    func testABodyThatDripsIsClosedAfterTheReadTime() throws {
        let server = try patient {
            $0.headerSeconds = 1
            $0.readSeconds = 2
        }
        let head = "PUT /rps/user HTTP/1.1\r\nHost: h\r\nContent-Length: 10000\r\n\r\n{"
        let seconds = try drip(server.backend.port, head, " ")
        XCTAssertGreaterThan(seconds, 1.5)
        XCTAssertLessThan(seconds, 8)
    }

    func testAnIdleConnectionIsClosedAfterTheIdleTimeAndASlowSecondHeaderAfterItsOwn() throws {
        let (brief, long) = try (
            patient {
                $0.idleSeconds = 2
                $0.headerSeconds = 1
            }, patient { $0.headerSeconds = 1 }
        )
        let start = Date()
        let idle = try Sockets.connect(brief.backend.port)
        defer { close(idle) }
        Sockets.send(idle, Data(good.utf8))
        let slow = try Sockets.connect(long.backend.port)
        defer { close(slow) }
        Sockets.send(slow, Data(good.utf8))
        XCTAssertNotNil(Sockets.receive(slow))
        Sockets.send(slow, Data("GET / HT".utf8))
        XCTAssertNotNil(secondsUntilClosed(slow), "the header's time, not the idle time of two minutes")
        let seconds = try XCTUnwrap(secondsUntilClosed(idle, since: start))
        XCTAssertGreaterThan(seconds, 1.8)
        XCTAssertLessThan(seconds, 9)
    }

    func testTheTimesOfAConnectionAreFiveFifteenAndAHundredAndTwentySecondsUnlessSaid() throws {
        let limits = Limits()
        XCTAssertEqual([limits.headerSeconds, limits.readSeconds, limits.idleSeconds], [5, 15, 120])
        let (output, process) = (Pipe(), Process())
        process.executableURL = URL(fileURLWithPath: Mpind.path)
        process.arguments = ["config", "print", "serve", "--all-in-one", "--state-dir", "x"]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        for line in ["header-seconds: 5", "read-seconds: 15", "idle-seconds: 120"] {
            XCTAssertTrue(text.contains(line), "\(line) is not in \(text)")
        }
    }

    /// Tests the attack Slowloris: many connections that send their headers very slowly. The limits are small, for a
    /// short test.
    func testOthersAreServedWhileManyClientsDawdle() throws {
        let server = try patient {
            $0.headerSeconds = 2
            $0.connectionsPerAddress = 2000
        }
        let port = server.backend.port
        let files = try (0..<600).map { _ in try Sockets.connect(port) }
        defer { files.forEach { close($0) } }
        for file in files { Sockets.send(file, Data("POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nContent-Le".utf8)) }
        let start = Date()
        for _ in 0..<20 { XCTAssertEqual(try server.backend.call("GET", "/rps/clientSettings").status, 200) }
        XCTAssertLessThan(Date().timeIntervalSince(start), 10)
        for file in files { XCTAssertNotNil(secondsUntilClosed(file)) }
    }

    /// Connections whose requests are being answered stay, whatever comes, and the next one is closed at once.
    func testConnectionsBeyondTheLimitsAreClosedAtOnceAndTheirPlacesComeBack() throws {
        let changes: [@Sendable (inout Limits) -> Void] = [
            { $0.connectionsPerAddress = 5 }, { $0.connectionsPerNetwork = 5 }, { $0.connections = 5 },
        ]
        for change in changes {
            let (asked, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let rpa = try LoopbackServer { _ in
                asked.signal()
                leave.wait()
                return .text(200, "{}")
            }
            defer { rpa.stop() }
            let server = try InProcess(
                change: { change(&$0.limits) }, changeRPS: { $0.verifyURL = rpa.url + "/mpinVerify" }
            ).keep(in: self)
            let backend = server.backend
            let busy = (0..<5).map { number in
                Later { try backend.call("PUT", "/rps/user", "{\"userId\":\"u\(number)@example.com\"}").status }
            }
            for _ in busy { XCTAssertEqual(asked.wait(timeout: .now() + 20), .success) }
            let more = try Sockets.connect(backend.port)
            Sockets.send(more, Data(good.utf8))
            XCTAssertNil(Sockets.receive(more))
            close(more)
            for _ in busy { leave.signal() }
            for request in busy { XCTAssertEqual(try request.get(), 200) }
            let end = Date(timeIntervalSinceNow: 30)
            while (try? backend.call("GET", "/rps/clientSettings").status) != 200, Date() < end {}
            XCTAssertLessThan(Date(), end)
        }
    }

    /// Opens a connection, from the last two bytes of a loopback address, and gets one answer on it.
    private func idle(_ backend: Backend, from source: UInt16 = 1) throws -> Int32 {
        let file = try Sockets.connect(backend.port, from: source)
        Sockets.send(file, Data(good.utf8))
        XCTAssertEqual(Sockets.parse(try XCTUnwrap(Sockets.receive(file))).status, 200)
        return file
    }

    private func isOpen(_ file: Int32) -> Bool {
        Sockets.send(file, Data(good.utf8))
        return Sockets.receive(file) != nil
    }

    /// A full server closes the connection that has been idle the longest, and not one that waits for a person.
    func testTheLongestIdleConnectionMakesRoom() throws {
        let server = try patient {
            $0.connections = 8
            $0.connectionsPerAddress = 8
            $0.idleSeconds = 3600
        }
        let browser = try TestBrowser(code: server.backend)
        let waiting = try Sockets.post(
            server.backend.port, "/rps/access", "{\"webOTT\":\"\(browser.webOTT)\",\"wait\":30,\"status\":\"new\"}")
        defer { close(waiting) }
        // The page waits before the others are idle, so it would be the first to go.
        XCTAssertEqual(try server.backend.call("GET", "/rps/clientSettings").status, 200)
        var files = try (0..<7).map { _ in try idle(server.backend) }
        defer { files.forEach { close($0) } }
        for number in 0..<3 {
            files.append(try idle(server.backend))
            XCTAssertNil(secondsUntilOpen(files[number]), "the oldest is closed")
        }
        XCTAssertTrue(files.dropFirst(3).allSatisfy(isOpen), "the others stay")
        XCTAssertFalse(Sockets.hasAnswer(waiting), "the page still waits")
    }

    /// Nil if the server has closed the connection, or does so within ten seconds.
    private func secondsUntilOpen(_ file: Int32) -> Double? { secondsUntilClosed(file) == nil ? 0 : nil }

    /// Eleven thousand idle connections from eleven addresses, in small: each address and each network has its share, so
    /// others get in, and nobody waits for the idle time.
    func testIdleConnectionsOfElevenAddressesLockNobodyOut() throws {
        let server = try patient {
            $0.connections = 40
            $0.connectionsPerAddress = 4
            $0.connectionsPerNetwork = 8
            $0.idleSeconds = 3600
        }
        var files: [Int32] = []
        defer { files.forEach { close($0) } }
        for address in 0..<11 {
            for _ in 0..<6 { files.append(try idle(server.backend, from: UInt16(address + 1) << 8 | 9)) }
        }
        let start = Date()
        for _ in 0..<20 { XCTAssertEqual(try server.backend.call("GET", "/rps/clientSettings").status, 200) }
        XCTAssertLessThan(Date().timeIntervalSince(start), 10)
        let open = files.suffix(6).filter(isOpen)
        XCTAssertLessThanOrEqual(open.count, 4, "the share of an address")
        // Three addresses of one network have eight connections together, and not twelve.
        let together = try (1...3).flatMap { host in
            try (0..<4).map { _ in try idle(server.backend, from: 99 << 8 | UInt16(host)) }
        }
        files += together
        XCTAssertLessThanOrEqual(together.filter(isOpen).count, 8)
    }

    /// The same with connections that send nothing, or a part of a request.
    func testConnectionsThatSayNothingMakeRoomToo() throws {
        let server = try patient {
            $0.connections = 6
            $0.headerSeconds = 3600
            $0.readSeconds = 3600
        }
        let begun = ["", "GET /", "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{"]
        let files = try (0..<30).map { number in
            let file = try Sockets.connect(server.backend.port)
            Sockets.send(file, Data(begun[number % 3].utf8))
            return file
        }
        defer { files.forEach { close($0) } }
        XCTAssertEqual(try server.backend.call("GET", "/rps/clientSettings").status, 200)
        for file in files.prefix(20) { XCTAssertNotNil(secondsUntilClosed(file)) }
    }

    /// From half of the places on, connections may be idle for a shorter time.
    func testTheIdleTimeShrinksWithPressure() throws {
        let server = try patient {
            $0.connections = 16
            $0.idleSeconds = 8
        }
        let files = try (0..<12).map { _ in try idle(server.backend) }
        defer { files.forEach { close($0) } }
        let start = Date()
        // With twelve of sixteen places taken, and one for this request, it is less than four seconds.
        while !Sockets.hasAnswer(files[0]), Date().timeIntervalSince(start) < 20 {
            XCTAssertEqual(try server.backend.call("GET", "/rps/clientSettings").status, 200)
            usleep(20_000)
        }
        XCTAssertGreaterThan(Date().timeIntervalSince(start), 1)
        XCTAssertLessThan(Date().timeIntervalSince(start), 6)
    }

    /// Connections of a named proxy have no share, and those of others go first.
    func testConnectionsOfAProxyHaveNoShare() throws {
        let server = try InProcess {
            $0.exposure = .behindProxy(TrustedProxies(["127.0.0.1"].compactMap { IPNetwork($0) }))
            $0.limits.connections = 8
            $0.limits.connectionsPerAddress = 2
            $0.limits.connectionsPerNetwork = 2
            $0.limits.idleSeconds = 3600
        }.keep(in: self)
        var files = try (0..<6).map { _ in try idle(server.backend) }
        defer { files.forEach { close($0) } }
        XCTAssertTrue(files.allSatisfy(isOpen))
        let others = try [UInt16(0x0105), 0x0205].map { try idle(server.backend, from: $0) }
        files += others
        files.append(try idle(server.backend))
        XCTAssertNotNil(secondsUntilClosed(others[0]))
        XCTAssertTrue(files.prefix(6).allSatisfy(isOpen))
    }

    /// The operator sees that there was no room; the server stays ready.
    func testHealthAndMetricsTellThatAListenerIsFull() throws {
        let admin = freePorts(1)[0]
        let server = try InProcess {
            $0.adminListen = try? ListenAddress(host: "127.0.0.1", port: admin)
            $0.limits.connections = 8
        }.keep(in: self)
        func state() throws -> String? {
            let answer = try server.backend.call("GET", "/health/ready", port: admin)
            XCTAssertEqual(answer.status, 200)
            let listeners = answer.object["connections"] as? [String: [String: Any]]
            XCTAssertEqual(listeners?["public"]?["most"] as? Int, 8)
            return listeners?["public"]?["state"] as? String
        }
        XCTAssertEqual(try state(), "NORMAL")
        var files = try (0..<6).map { _ in try idle(server.backend) }
        defer { files.forEach { close($0) } }
        XCTAssertEqual(try state(), "BUSY")
        for _ in 0..<4 { files.append(try idle(server.backend)) }
        XCTAssertEqual(try state(), "FULL")
        let metrics = try server.backend.call("GET", "/metrics", port: admin).text
        XCTAssertTrue(metrics.contains("mpin_connections_most{listener=\"public\"} 8"), metrics)
        XCTAssertTrue(metrics.contains("mpin_connections_lost_total{listener=\"public\",outcome=\"closed\"}"))
    }

    func testWhatTwoServersCouldReadDifferentlyIs400AndTheEnd() throws {
        let server = try InProcess()
        let smuggled = "GET /rps/mobileConfig HTTP/1.1\r\nHost: h\r\n\r\n"
        let body = "0\r\n\r\n" + smuggled
        let requests = [
            "length and coding": "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.utf8.count)\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n" + body,
            "coding and length": "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                + "Content-Length: 3\r\n\r\n" + body,
            "two lengths": "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 2\r\n\r\n{}"
                + smuggled,
            "the same length twice": "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n"
                + "Content-Length: 2\r\n\r\n{}" + smuggled,
            "two codings": "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                + "Transfer-Encoding: identity\r\n\r\n" + body,
            "a coding that is not the last": "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\n"
                + "Transfer-Encoding: chunked, gzip\r\n\r\n" + body,
            "a made-up coding": "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n" + body,
            "a coding in HTTP/1.0": "POST /rps/pass1 HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
            "a blank before the colon": "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nContent-Length : 2\r\n\r\n{}"
                + smuggled,
            "a negative chunk": "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
            "a chunk longer than it says": "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2\r\n{}xx\r\n0\r\n\r\n" + smuggled,
            "an endless chunk size": "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "fffffffffffffffff\r\n",
            "no host": "GET /rps/clientSettings HTTP/1.1\r\n\r\n",
            "two hosts": "GET /rps/clientSettings HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "a header that goes on": "GET /rps/clientSettings HTTP/1.1\r\nHost: h\r\nX-A: b\r\n c\r\n\r\n",
        ]
        for (name, request) in requests {
            let text = String(decoding: try Sockets.rawBytes(server.backend.port, Data(request.utf8)), as: UTF8.self)
            let statuses = text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
            XCTAssertEqual(statuses.last.map(String.init) ?? "", "400", "\(name): \(text)")
            XCTAssertFalse(statuses.dropLast().contains("200"), name)
            XCTAssertFalse(text.contains("403"), "\(name): nothing was served: \(text)")
        }
        XCTAssertEqual(try server.backend.call("GET", "/rps/clientSettings").status, 200)
    }

    func testHTTP10EndsWithItsAnswerUnlessItAsksToStay() throws {
        let server = try InProcess()
        let once = try Sockets.rawBytes(server.backend.port, Data("GET /rps/clientSettings HTTP/1.0\r\n\r\n".utf8))
        XCTAssertEqual(Sockets.parse(once).headers["connection"], "close")
        let stay = "GET /rps/clientSettings HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
        let file = try Sockets.connect(server.backend.port)
        defer { close(file) }
        for _ in 0..<2 {
            Sockets.send(file, Data(stay.utf8))
            XCTAssertEqual(Sockets.parse(try XCTUnwrap(Sockets.receive(file))).status, 200)
        }
    }

    func testPipelinedRequestsAreAnsweredInTheirOrder() throws {
        let server = try InProcess()
        let requests = ["/rps/clientSettings", "/rps/nope", "/rps/mobileConfig"].map {
            "GET \($0) HTTP/1.1\r\nHost: h\r\n\r\n"
        }
        let last = "GET /rps/clientSettings HTTP/1.1\r\nHost: h\r\nConnection: Close\r\n\r\n"
        let bytes = try Sockets.rawBytes(server.backend.port, Data((requests.joined() + last + good).utf8))
        let statuses = String(decoding: bytes, as: UTF8.self).components(separatedBy: "HTTP/1.1 ").dropFirst()
        XCTAssertEqual(statuses.map { $0.prefix(3) }, ["200", "404", "403", "200"], "nothing behind `close` is served")
    }

    func testAnAnswerDoesNotWaitForABodyThatNobodyReads() throws {
        let server = try InProcess()
        let head = "PUT /rps/user HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n"
        let start = Date()
        let answer = try Sockets.raw(server.backend.port, Data((head + String(repeating: " ", count: 1000)).utf8))
        XCTAssertEqual(answer.status, 413)
        XCTAssertEqual(answer.headers["connection"], "close")
        XCTAssertLessThan(Date().timeIntervalSince(start), 5)
    }

    func testWhatIsTooMuchAtOnceGets503AndRetryAfter() throws {
        let (asked, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let rpa = try LoopbackServer { _ in
            asked.signal()
            leave.wait()
            return .text(200, "{}")
        }
        defer { rpa.stop() }
        let server = try InProcess(
            change: { $0.limits.requestsInFlight = 2 }, changeRPS: { $0.verifyURL = rpa.url + "/mpinVerify" }
        ).keep(in: self)
        let backend = server.backend
        let first = Later { try backend.call("PUT", "/rps/user", "{\"userId\":\"alice@example.com\"}").status }
        XCTAssertEqual(asked.wait(timeout: .now() + 20), .success)
        let answer = try backend.call("GET", "/rps/clientSettings")
        XCTAssertEqual(answer.status, 503)
        XCTAssertEqual(answer.headers["retry-after"], "1")
        XCTAssertEqual(try backend.call("POST", "/rps/pass2", "{}").status, 403, "a login that has begun has a place")
        leave.signal()
        XCTAssertEqual(try first.get(), 200)
        XCTAssertEqual(try backend.call("GET", "/rps/clientSettings").status, 200)
    }

    /// Tests the attack Slowloris with bodies that arrive very slowly. A request counts as running only when all of it
    /// has arrived, so slow bodies keep nobody out.
    func testRequestsWhoseBodiesDoNotComeTakeNoPlaces() throws {
        let server = try patient { $0.requestsInFlight = 1 }
        let length = "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n{"
        let chunked = "POST /rps/pass1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{"
        let files = try (0..<300).map { _ in try Sockets.connect(server.backend.port) }
        defer { files.forEach { close($0) } }
        for (number, file) in files.enumerated() {
            Sockets.send(file, Data((number % 2 == 0 ? length : chunked).utf8))
        }
        for _ in 0..<50 { XCTAssertEqual(try server.backend.call("GET", "/rps/clientSettings").status, 200) }
    }

    /// The same for each path of the OpenID provider to which browsers or clients post.
    func testSlowBodiesToTheProviderTakeNoPlacesAndAreCutOff() throws {
        typealias Path = OpenIDProvider.Path
        let paths = [
            Path.authorize, Path.token, Path.userinfo, Path.logout, Path.revoke, Path.introspect,
            Path.deviceAuthorization, Path.device, "/authorize/login", "/authorize/confirm", "/authorize/access",
            "/account/profile", "/account/address",
        ]
        let limits: @Sendable (inout AllInOne) -> Void = {
            $0.limits.requestsInFlight = 1
            $0.limits.readSeconds = 3
        }
        let server = try InProcess(change: limits, clients: "").keep(in: self)
        let start = Date()
        let files = try paths.map { path in
            let file = try Sockets.connect(server.backend.port)
            let type = "Content-Type: application/x-www-form-urlencoded\r\n"
            Sockets.send(file, Data("POST \(path) HTTP/1.1\r\nHost: h\r\n\(type)Content-Length: 100\r\n\r\nx=".utf8))
            return file
        }
        defer { files.forEach { close($0) } }
        for _ in 0..<20 { XCTAssertEqual(try server.backend.call("GET", Path.configuration).status, 200) }
        for (path, file) in zip(paths, files) {
            let seconds = try XCTUnwrap(secondsUntilClosed(file, since: start), path)
            XCTAssertGreaterThan(seconds, 2.5, path)
            XCTAssertLessThan(seconds, 9, path)
        }
    }
}
