import Foundation
import LoopbackServer
import MPinHTTP
import MPinSDK
import XCTest

/// Tests the headers of every request, to which hosts requests may go, and when they are repeated.
final class RequestTests: FlowTestCase {
    // MARK: Headers

    private func names(_ request: ReceivedRequest) -> [String: String] {
        Dictionary(request.headers.map { ($0.0.lowercased(), $0.1) }) { $0 + ", " + $1 }
    }

    func testClientIDAndCustomHeadersAreInEveryRequest() throws {
        try sdk.setClientID("client ü")
        try sdk.addCustomHeader("X-One", "1")
        try sdk.addCustomHeader("x-one", "one")
        try sdk.addCustomHeader("X-Empty", "")
        server.forgetCalls()
        let user = try registered()
        try logIn(user)
        XCTAssertEqual(server.received.count, 9)
        for request in server.received {
            let headers = names(request)
            XCTAssertEqual(headers["x-miracl-cid"], "client ü", request.path)
            XCTAssertEqual(headers["x-miracl-client-id"], "client ü")
            XCTAssertEqual(headers["x-one"], "one")
            XCTAssertEqual(headers["x-empty"], "")
        }
        try sdk.clearCustomHeaders()
        try sdk.testBackend(server.url)
        var headers = names(try XCTUnwrap(server.received.last))
        XCTAssertNil(headers["x-one"])
        XCTAssertEqual(headers["x-miracl-cid"], "client ü")
        for id in ["", nil] {
            try sdk.setClientID("client")
            try sdk.setClientID(id)
            try sdk.testBackend(server.url)
            headers = names(try XCTUnwrap(server.received.last))
            XCTAssertNil(headers["x-miracl-cid"])
            XCTAssertNil(headers["x-miracl-client-id"])
        }
    }

    func testACustomHeaderTakesThePlaceOfOurs() throws {
        try sdk.setClientID("client")
        try sdk.addCustomHeader("x-miracl-cid", "other")
        try sdk.testBackend(server.url)
        XCTAssertEqual(names(try XCTUnwrap(server.received.last))["x-miracl-cid"], "other")
    }

    func testHeadersThatWouldBreakAMessageAreRefused() throws {
        let bad: [(String, String)] = [
            ("", "x"), ("a b", "x"), ("a:", "x"), ("a\r\nb", "x"), ("ü", "x"), ("X-A", "a\r\nb: c"), ("X-A", "a\u{0}"),
            ("Host", "x"), ("content-length", "1"), ("Content-Type", "x"), ("TRANSFER-ENCODING", "chunked"),
            ("Connection", "close"), ("Expect", "x"),
        ]
        for (name, value) in bad {
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.addCustomHeader(name, value) }, .invalidArgument, name)
        }
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.setClientID("a\nb") }, .invalidArgument)
        try sdk.testBackend(server.url)
        XCTAssertNil(names(try XCTUnwrap(server.received.last))["x-a"])
    }

    func testSettingsWorkBeforeInitialisationAndEndWithDestroy() throws {
        let sdk = SDK()
        try sdk.setClientID("before")
        try sdk.addCustomHeader("X-One", "1")
        try sdk.initialize(config())
        XCTAssertEqual(names(try XCTUnwrap(server.received.last))["x-miracl-cid"], "before")
        try sdk.destroy()
        var config = config()
        config.clientID = "configured"
        try sdk.initialize(config)
        XCTAssertEqual(names(try XCTUnwrap(server.received.last))["x-miracl-cid"], "configured")
        XCTAssertNil(names(try XCTUnwrap(server.received.last))["x-one"])
        config.clientID = "a\nb"
        let other = SDK()
        XCTAssertEqual(failure { () throws(SDKError) in try other.initialize(config) }, .invalidArgument)
    }

    // MARK: Trusted domains

    func testWithTrustedDomainsNothingIsSentElsewhere() throws {
        let user = try registered()
        try sdk.startAuthentication(user)
        try sdk.addTrustedDomain("miracl.example")
        server.forgetCalls()
        for url in [server.url, "https://evilmiracl.example", "http://miracl.example", "https://miracl.example.evil"] {
            XCTAssertEqual(failure { () throws(SDKError) in try sdk.testBackend(url) }, .untrustedDomainError, url)
        }
        XCTAssertEqual(failure { () throws(SDKError) in try finishAuthentication(user, "1234") }, .untrustedDomainError)
        XCTAssertEqual(server.calls, [])
        try sdk.clearTrustedDomains()
        XCTAssertNoThrow(try finishAuthentication(user, "1234"))
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.addTrustedDomain("https://a") }, .invalidArgument)
    }

    /// Tests that the client core itself refuses a forbidden request and does not hand it to a transport of the
    /// program. So such a transport need not know the rules.
    func testTheRulesAlsoApplyToATransportOfTheProgram() throws {
        struct Forbidden: HTTPTransport {
            func execute(
                _ request: HTTPRequest, isCancelled: @Sendable () -> Bool
            ) throws(HTTPFailure) -> HTTPResponse {
                XCTFail(request.url)
                throw .network("")
            }
        }
        let sdk = SDK(environment: Environment(makeTransport: { _ in Forbidden() }))
        try sdk.initialize(SDKConfig(storagePath: path))
        for url in ["http://example.com", "ftp://127.0.0.1", "https://user@127.0.0.1", "x"] {
            XCTAssertEqual(failure { () throws(SDKError) in try sdk.testBackend(url) }, .untrustedDomainError, url)
        }
        try sdk.addTrustedDomain("example.com")
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.testBackend("https://example.org") }, .untrustedDomainError)
    }

    func testAProxyOrPinsThatAreNoneAreRefusedAtOnce() throws {
        let pin = "sha256//" + String(repeating: "A", count: 43) + "="
        func initialize(_ change: (inout SDKConfig) -> Void) -> Status? {
            var config = SDKConfig(storagePath: path)
            change(&config)
            let sdk = SDK()
            return failure { () throws(SDKError) in try sdk.initialize(config) }
        }
        for proxy in ["", "proxy", "ftp://proxy:1", "http://user:word@proxy:1", "socks5://proxy"] {
            XCTAssertEqual(initialize { $0.proxy = proxy }, .invalidArgument, proxy)
        }
        for keys in ["", "/etc/passwd", "\(pin);", "\(pin);x", "\(pin),\(pin)", String(pin.dropLast()), "sha1//AAAA"] {
            XCTAssertEqual(initialize { $0.pinnedKeys = keys }, .invalidArgument, keys)
        }
        XCTAssertNil(initialize { $0.proxy = "http://proxy.example:3128" })
        XCTAssertNil(initialize { $0.pinnedKeys = "\(pin);\(pin)" })
    }

    // MARK: Trying again

    /// Gives the answer `reply` to the first `count` requests of this kind, and the usual answers after that.
    private func failFirst(_ count: Int, _ call: MilagroServer.Call, _ reply: Reply) {
        let left = Locked(count)
        server.state.withLock { state in
            state.override = { asked, _ in
                guard asked == call else { return nil }
                return left.withLock { left -> Reply? in
                    left -= 1
                    return left >= 0 ? reply : nil
                }
            }
        }
    }

    func testIdempotentRequestsAreTriedAtMostThreeTimesMore() throws {
        let user = try registered()
        for reply in [Reply.reset(), .json(502, [:]), .json(503, [:]), .json(504, [:])] {
            failFirst(3, .timePermit, reply)
            server.forgetCalls()
            XCTAssertNoThrow(try sdk.startAuthentication(user), "\(reply)")
            XCTAssertEqual(server.calls.filter { $0 == .timePermit }.count, 4)
        }
        failFirst(4, .timePermit, .json(503, [:]))
        server.forgetCalls()
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startAuthentication(user) }, .httpServerError)
        XCTAssertEqual(server.calls, [.timePermit, .timePermit, .timePermit, .timePermit])
    }

    func testWhatIsFinalIsNotTriedAgain() throws {
        let user = try registered()
        for reply in [Reply.json(500, [:]), .json(410, [:]), .json(429, [:]), .json(302, [:]), .text(200, "<html>")] {
            server.reply(.timePermit, reply)
            server.forgetCalls()
            XCTAssertNotNil(failure { () throws(SDKError) in try sdk.startAuthentication(user) })
            XCTAssertEqual(server.calls, [.timePermit], "\(reply)")
        }
    }

    func testOtherRequestsAreSentOnce() throws {
        for reply in [Reply.reset(), .json(503, [:]), .answer(429, headers: [("Retry-After", "0")], body: [])] {
            server.state.withLock { $0.override = { _, _ in nil } }
            let user = try sdk.makeNewUser("alice@example.com")
            server.reply(.register, reply)
            server.forgetCalls()
            XCTAssertNotNil(failure { () throws(SDKError) in try sdk.startRegistration(user) })
            XCTAssertEqual(server.calls, [.register])
            server.fail(.register, status: nil)
            try sdk.startRegistration(user)
            server.reply(.signature, reply)
            server.forgetCalls()
            XCTAssertNotNil(failure { () throws(SDKError) in try sdk.confirmRegistration(user) })
            XCTAssertEqual(server.calls, [.signature])
            server.fail(.signature, status: nil)
            try sdk.confirmRegistration(user)
            try finishRegistration(user, "1234")
            for call in [MilagroServer.Call.pass1, .pass2, .authenticate] {
                try sdk.startAuthentication(user)
                server.reply(call, reply)
                server.forgetCalls()
                XCTAssertNotNil(failure { () throws(SDKError) in try finishAuthentication(user, "1234") })
                XCTAssertEqual(server.calls.filter { $0 == call }.count, 1, "\(call)")
                server.fail(call, status: nil)
            }
            try sdk.deleteUser(user)
        }
    }

    func testTheServersPauseIsKeptWithinTheDeadline() throws {
        let user = try registered()
        failFirst(1, .timePermit, .answer(429, headers: [("Retry-After", "1")], body: []))
        var start = monotonicNanoseconds()
        XCTAssertNoThrow(try sdk.startAuthentication(user))
        XCTAssertGreaterThanOrEqual((monotonicNanoseconds() - start) / 1_000_000, 1000)
        for header in ["60", "99999999999"] {
            failFirst(1, .timePermit, .answer(503, headers: [("Retry-After", header)], body: []))
            start = monotonicNanoseconds()
            XCTAssertEqual(failure { () throws(SDKError) in try sdk.startAuthentication(user) }, .httpServerError)
            XCTAssertLessThan((monotonicNanoseconds() - start) / 1_000_000, 8000)
            XCTAssertEqual(sdk.lastError?.server.retryAfter, Int64(header))
        }
    }

    func testACancelEndsThePause() throws {
        let user = try registered()
        server.reply(.timePermit, .answer(429, headers: [("Retry-After", "5")], body: []))
        let sdk = sdk!
        let cancelled = Locked<UInt64>(0)
        Thread.detachNewThread { [server] in
            while server?.calls.last != .timePermit { usleep(1000) }
            usleep(100_000)
            cancelled.withLock { $0 = monotonicNanoseconds() }
            sdk.cancel()
        }
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startAuthentication(user) }, .canceled)
        XCTAssertLessThan((monotonicNanoseconds() - cancelled.withLock { $0 }) / 1_000_000, 4000)
    }

    // MARK: Errors

    func testErrorsCarryWhatTheServerSaid() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        server.reply(
            .register,
            .answer(
                429, headers: [("X-Request-ID", "req 1"), ("Retry-After", "17")],
                body: Array(#"{"version":"0.3","message":"slow\ndown"}"#.utf8)))
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistration(user) }, .tooManyRequests)
        let error = try XCTUnwrap(sdk.lastError)
        XCTAssertEqual(error.httpStatus, 429)
        XCTAssertEqual(error.server.retryAfter, 17)
        XCTAssertEqual(error.server.text, "slow down")
        XCTAssertEqual(error.server.requestID, "req 1")
        XCTAssertEqual(error.text, "register: HTTP 429: slow down (request req 1)")
    }

    func testEveryServersWayToWriteAnError() throws {
        let cases: [(body: String, text: String, code: String, id: String)] = [
            (#"{"message":"m"}"#, "m", "", ""),
            (#"{"requestID":"r","error":"CODE","info":"text"}"#, "CODE: text", "CODE", "r"),
            (#"{"requestID":"r","error":{"code":"CODE","info":"text"}}"#, "CODE: text", "CODE", "r"),
            (#"{"message":7,"error":[],"requestID":{}}"#, "", "", ""), ("<html>", "", "", ""), ("", "", "", ""),
        ]
        let user = try sdk.makeNewUser("alice@example.com")
        for test in cases {
            server.reply(.register, .text(400, test.body))
            XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistration(user) }, .httpRequestError)
            let report = try XCTUnwrap(sdk.lastError?.server)
            XCTAssertEqual([report.text, report.code, report.requestID], [test.text, test.code, test.id], test.body)
            XCTAssertNil(report.retryAfter)
        }
    }

    func testRetryAfterAsADateAndAsNonsense() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        for (header, range) in [
            ("Wed, 21 Oct 2099 07:28:00 GMT", 1_000_000_000...3_000_000_000), ("Wed, 21 Oct 2015 07:28:00 GMT", 0...0),
        ] as [(String, ClosedRange<Int64>)] {
            server.reply(.register, .answer(429, headers: [("Retry-After", header)], body: []))
            _ = failure { () throws(SDKError) in try sdk.startRegistration(user) }
            XCTAssertTrue(range.contains(try XCTUnwrap(sdk.lastError?.server.retryAfter)), header)
        }
        for header in ["-1", "soon", "1.5x", ""] {
            server.reply(.register, .answer(429, headers: [("Retry-After", header)], body: []))
            _ = failure { () throws(SDKError) in try sdk.startRegistration(user) }
            XCTAssertNil(sdk.lastError?.server.retryAfter, header)
        }
    }
}
