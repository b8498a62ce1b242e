import LoopbackServer
import MPinHTTP
import MPinSecrets
import XCTest

/// A flag for several threads.
final class Flag: Sendable {
    private let value = Locked(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

final class CurlTransportTests: XCTestCase {
    private func server(_ handler: @escaping @Sendable (ReceivedRequest) -> Reply) throws -> LoopbackServer {
        let server = try LoopbackServer(handler: handler)
        addTeardownBlock { server.stop() }
        return server
    }

    private func soon(_ milliseconds: UInt32 = 20_000) -> Deadline { .after(milliseconds: milliseconds) }

    private func failure(
        _ url: String, policy: HTTPPolicy = HTTPPolicy(), deadline: Deadline? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) -> HTTPFailure? {
        let request = HTTPRequest(url: url, deadline: deadline ?? soon())
        do throws(HTTPFailure) {
            _ = try CurlTransport(policy: policy).execute(request, isCancelled: isCancelled)
            return nil
        } catch { return error }
    }

    private func isNetwork(_ failure: HTTPFailure?) -> Bool {
        if case .network = failure { return true }
        return false
    }

    func testEveryStatusComesBackAsItIs() throws {
        let server = try server { request in
            .answer(Int(request.path.dropFirst()) ?? 500, headers: [("X-Name", " a b ")], body: [1, 0, 255])
        }
        let transport = CurlTransport()
        for status in [200, 201, 299, 301, 302, 307, 400, 401, 403, 404, 406, 408, 409, 410, 412, 429, 500, 503, 599] {
            let response = try transport.execute(HTTPRequest(url: "\(server.url)/\(status)", deadline: soon()))
            XCTAssertEqual(response.status, status)
            XCTAssertEqual(response.bytes, [1, 0, 255])
            XCTAssertEqual(response.header("x-name"), "a b")
        }
    }

    func testRedirectIsNotFollowed() throws {
        let server = try server { _ in .answer(302, headers: [("Location", "/next")], body: []) }
        let response = try CurlTransport().execute(HTTPRequest(url: server.url, deadline: soon()))
        XCTAssertEqual(response.status, 302)
        XCTAssertEqual(server.received.count, 1)
    }

    func testMethodBodyAndHeadersArriveAndNothingElseIsAsked() throws {
        let server = try server { _ in .answer(200, body: []) }
        let transport = CurlTransport()
        for method in [HTTPRequest.Method.put, .post] {
            let body = [UInt8](repeating: 7, count: 70_000)
            let headers = [("Content-Type", "application/json"), ("X-Empty", "")]
            let request = HTTPRequest(
                method: method, url: server.url + "/a?b=c", headers: headers, body: body, deadline: soon())
            _ = try transport.execute(request)
        }
        _ = try transport.execute(HTTPRequest(method: .post, url: server.url, deadline: soon()))
        _ = try transport.execute(HTTPRequest(method: .put, url: server.url, body: [], deadline: soon()))
        _ = try transport.execute(HTTPRequest(url: server.url, deadline: soon()))
        let received = server.received
        XCTAssertEqual(received.map(\.method), ["PUT", "POST", "POST", "PUT", "GET"])
        XCTAssertEqual(received.map(\.body.count), [70_000, 70_000, 0, 0, 0])
        XCTAssertEqual(received[0].target, "/a?b=c")
        XCTAssertEqual(received[0].header("content-type"), "application/json")
        XCTAssertEqual(received[0].header("x-empty"), "")
        for request in received {
            for name in ["Expect", "Accept-Encoding", "User-Agent", "Upgrade"] {
                XCTAssertNil(request.header(name), name)
            }
        }
    }

    func testConnectionIsUsedAgain() throws {
        let server = try server { _ in .answer(200, body: []) }
        let transport = CurlTransport()
        for _ in 0..<20 { _ = try transport.execute(HTTPRequest(url: server.url, deadline: soon())) }
        XCTAssertEqual(server.received.count, 20)
        XCTAssertEqual(server.accepted, 1)
    }

    func testAConnectionThatTheServerHasClosedIsNoObstacle() throws {
        let server = try server { _ in .raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)) }
        let transport = CurlTransport()
        for _ in 0..<5 {
            let request = HTTPRequest(method: .post, url: server.url, body: [1], deadline: soon())
            XCTAssertEqual(try transport.execute(request).bytes, Array("ok".utf8))
        }
        XCTAssertEqual(server.received.count, 5)
    }

    func testSignalsOfTheHostStayAsTheyWere() throws {
        func mask() -> [Bool] {
            var set = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &set)
            return (Int32(1)..<32).map { sigismember(&set, $0) == 1 }
        }
        func handlers() -> [UInt] {
            (Int32(1)..<32).map { number in
                var action = sigaction()
                sigaction(number, nil, &action)
                return unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
            }
        }
        let (maskBefore, handlersBefore) = (mask(), handlers())
        let server = try server { request in request.path == "/reset" ? .reset() : .answer(200, body: []) }
        XCTAssertNil(failure(server.url))
        XCTAssertTrue(isNetwork(failure(server.url + "/reset")))
        XCTAssertEqual(mask(), maskBefore)
        XCTAssertEqual(handlers(), handlersBefore)
    }

    func testManyThreadsShareATransport() throws {
        let server = try server { request in .text(200, request.path) }
        let transport = CurlTransport()
        let url = server.url
        let wrong = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 200) { index in
            let request = HTTPRequest(url: "\(url)/\(index)", deadline: .after(milliseconds: 20_000))
            let body = (try? transport.execute(request))?.bytes
            if body != Array("/\(index)".utf8) { wrong.withLock { $0 += 1 } }
        }
        XCTAssertEqual(wrong.withLock { $0 }, 0)
    }

    func testStallEndsAtTheDeadline() throws {
        for stall in [Reply.stall(), .stall(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab".utf8))] {
            let server = try server { _ in stall }
            let start = monotonicNanoseconds()
            XCTAssertEqual(failure(server.url, deadline: soon(300)), .timedOut)
            let milliseconds = (monotonicNanoseconds() - start) / 1_000_000
            XCTAssertTrue((300..<6000).contains(milliseconds), "\(milliseconds) ms")
        }
    }

    func testDripEndsAtTheDeadline() throws {
        let server = try server { _ in
            .drip(Array("HTTP/1.1 200 OK\r\nX: \(String(repeating: "y", count: 9999))".utf8), milliseconds: 10)
        }
        XCTAssertEqual(failure(server.url, deadline: soon(400)), .timedOut)
    }

    func testDeadlineInThePastSendsNothing() throws {
        let server = try server { _ in .answer(200, body: []) }
        XCTAssertEqual(failure(server.url, deadline: Deadline(nanoseconds: 1)), .timedOut)
        XCTAssertEqual(server.received.count, 0)
    }

    func testCancelFromAnotherThread() throws {
        let server = try server { _ in .stall() }
        let flag = Flag()
        Thread.detachNewThread {
            while server.received.isEmpty { usleep(1000) }
            flag.set()
        }
        let start = monotonicNanoseconds()
        XCTAssertEqual(failure(server.url, deadline: soon(20_000), isCancelled: { flag.isSet }), .cancelled)
        XCTAssertLessThan((monotonicNanoseconds() - start) / 1_000_000, 15_000)
    }

    func testCancelledBeforeTheStartSendsNothing() throws {
        let server = try server { _ in .answer(200, body: []) }
        XCTAssertEqual(failure(server.url, isCancelled: { true }), .cancelled)
        XCTAssertEqual(server.accepted, 0)
    }

    func testAnswerCutAnywhereIsANetworkFailure() throws {
        let whole = Array("HTTP/1.1 200 OK\r\nX-Y: z\r\nContent-Length: 5\r\n\r\nhello".utf8)
        for cut in 0..<whole.count {
            let reset = cut % 2 == 0
            let server = try server { _ in reset ? .reset(Array(whole[..<cut])) : .raw(Array(whole[..<cut])) }
            XCTAssertTrue(isNetwork(failure(server.url)), "cut at \(cut): \(String(describing: failure(server.url)))")
        }
    }

    func testAnswersThatAreNoHTTPAreNetworkFailures() throws {
        let bad = [
            "hello", "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        ]
        for text in bad {
            let server = try server { _ in .raw(Array(text.utf8)) }
            XCTAssertTrue(isNetwork(failure(server.url)), text)
        }
    }

    func testChunkedAndCloseDelimitedAnswers() throws {
        for text in [
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
            "HTTP/1.0 200 OK\r\n\r\nhello", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\n\r\nhello",
        ] {
            let server = try server { _ in .raw(Array(text.utf8)) }
            let response = try CurlTransport().execute(HTTPRequest(url: server.url, deadline: soon()))
            XCTAssertEqual(response.status, 200)
            XCTAssertEqual(response.bytes, Array("hello".utf8))
        }
    }

    func testOversizedAnswersAreRefused() throws {
        let limit = 10_000
        let policy = HTTPPolicy(maxAnswerBytes: limit)
        let fits = try server { _ in .answer(200, body: [UInt8](repeating: 1, count: limit)) }
        XCTAssertNil(failure(fits.url, policy: policy))
        let body = try server { _ in .answer(200, body: [UInt8](repeating: 1, count: limit + 1)) }
        XCTAssertEqual(failure(body.url, policy: policy), .answerTooLarge)
        let endless = try server { _ in
            .raw(Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + [UInt8](repeating: 1, count: 50 * limit))
        }
        XCTAssertEqual(failure(endless.url, policy: policy), .answerTooLarge)
        let interim = String(repeating: "HTTP/1.1 103 Early\r\nA: b\r\n\r\n", count: 2000)
        let interims = try server { _ in .raw(Array((interim + "HTTP/1.1 200 OK\r\n\r\n").utf8)) }
        XCTAssertEqual(failure(interims.url, policy: policy), .answerTooLarge)
    }

    func testDefaultLimitIsOneMebibyte() throws {
        let server = try server { request in
            .answer(200, body: [UInt8](repeating: 1, count: Int(request.path.dropFirst()) ?? 0))
        }
        XCTAssertNil(failure("\(server.url)/\(1 << 20)"))
        XCTAssertEqual(failure("\(server.url)/\((1 << 20) + 1)"), .answerTooLarge)
    }

    func testSecretHeadersAreSentWithTheOthers() throws {
        let server = try server { _ in .answer(200, body: []) }
        var request = HTTPRequest(url: server.url, headers: [("A", "b")], deadline: soon())
        request.secretHeaders = [("Authorization", SecretBytes(utf8: "Basic eA==")), ("C", SecretBytes(utf8: "d e"))]
        XCTAssertEqual(try CurlTransport().execute(request).status, 200)
        let sent = try XCTUnwrap(server.received.first)
        XCTAssertEqual(["A", "Authorization", "C"].map(sent.header), ["b", "Basic eA==", "d e"])
    }

    func testHeaderInjectionIsRefused() throws {
        let server = try server { _ in .answer(200, body: []) }
        for header in [
            ("A", "b\r\nC: d"), ("A", "b\nC"), ("A\r\nB", "c"), ("A", "\u{0}"), ("", "x"), ("A b", "c"), ("A:", "c"),
        ] {
            let request = HTTPRequest(url: server.url, headers: [header], deadline: soon())
            XCTAssertThrowsError(try CurlTransport().execute(request)) {
                XCTAssertEqual($0 as? HTTPFailure, .invalidRequest, "\(header)")
            }
            var secret = HTTPRequest(url: server.url, deadline: soon())
            secret.secretHeaders = [(header.0, SecretBytes(utf8: header.1))]
            XCTAssertThrowsError(try CurlTransport().execute(secret)) {
                XCTAssertEqual($0 as? HTTPFailure, .invalidRequest, "\(header)")
            }
        }
        let request = HTTPRequest(method: .get, url: server.url, body: [1], deadline: soon())
        XCTAssertThrowsError(try CurlTransport().execute(request))
        XCTAssertEqual(server.accepted, 0)
    }

    func testOnlyHTTPURLsAreTaken() {
        for url in [
            "", "x", "/a", "127.0.0.1", "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/", "http://",
            "http://u:p@127.0.0.1/", "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y", "https://u@localhost/",
            "http://127.0.0.1:99999/", "ws://127.0.0.1/", "http:127.0.0.1/", "http:///127.0.0.1",
            "http://127.0.0.1:8O/", "http://[127.0.0.1]/", "http://[::1/", "http://[::1]x/", "http://::1/",
            // Some programs read the following hosts as addresses, others as names, so the transport refuses them.
            "http://127.1/", "http://0x7f.0.0.1/", "http://2130706433/", "http://0177.0.0.1/", "http://127.0.0.1%00/",
            "https://mün.example/", "https://\u{212A}.example/",
        ] {
            XCTAssertEqual(failure(url), .invalidURL, url)
        }
    }

    func testAnAccentBehindTheSlashIsPartOfThePath() throws {
        let server = try server { request in .text(200, request.target) }
        XCTAssertNil(failure("\(server.url)/\u{301}?x=/@evil.org"))
        XCTAssertEqual(failure("http://evil.org/\u{301}@127.0.0.1/"), .insecureURL)
    }

    func testPlainHTTPOnlyToLoopback() {
        for url in [
            "http://example.com/", "http://10.0.0.1/", "http://localhost.example.com/", "http://127.0.0.1.example.com/",
            "http://128.0.0.1/", "http://0.0.0.0/", "http://[::2]/", "http://[fe80::1]/", "http://[::ffff:1.2.3.4]/",
            "http://1.127.0.1/", "http://example.com#@127.0.0.1/", "http://my.localhost/",
        ] {
            XCTAssertEqual(failure(url), .insecureURL, url)
        }
    }

    func testLoopbackHostsMayBePlain() throws {
        let server = try server { _ in .answer(200, body: []) }
        for host in ["127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST"] {
            let result = failure("http://\(host):\(server.port)/")
            XCTAssertTrue(result == nil || isNetwork(result), "\(host): \(String(describing: result))")
        }
        XCTAssertNil(failure("http://localhost:\(server.port)/"))
        XCTAssertTrue(isNetwork(failure("http://[::1]:1/")))
    }

    /// No host has the name `invalid` (RFC 6761 section 6.4), so the lookup fails, with and without a name server.
    func testANameThatNobodyHasIsAFailureInTime() {
        for milliseconds in [1, 200, 3000] as [UInt32] {
            let start = monotonicNanoseconds()
            let failure = failure("https://mpin.invalid/", deadline: soon(milliseconds))
            let took = (monotonicNanoseconds() - start) / 1_000_000
            XCTAssertTrue(isNetwork(failure) || failure == .timedOut, "\(String(describing: failure))")
            XCTAssertLessThan(took, UInt64(milliseconds) + 3000)
        }
    }

    func testFailureTextNamesTheHostAndNeverPathOrQuery() throws {
        let url = "http://127.0.0.1:1/path?regOTT=secret"
        guard case .network(let text) = failure(url) else { return XCTFail("no network failure") }
        XCTAssertTrue(text.contains("http://127.0.0.1:1"), text)
        XCTAssertFalse(text.contains("secret"), text)
        XCTAssertFalse(text.contains("path"), text)
    }

    func testBodyIsNeverPrinted() throws {
        let server = try server { _ in .text(200, "secret-share") }
        let response = try CurlTransport().execute(HTTPRequest(url: server.url, deadline: soon()))
        XCTAssertFalse("\(response)".contains("secret-share"))
    }
}
