import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import MPinWire
import XCTest

/// Tests limits on the requests of each caller, and how the server determines the caller behind proxies.
final class RateLimitTests: XCTestCase {
    private func limited(
        _ change: @escaping (inout RateLimits) -> Void, proxies: [String] = []
    ) throws -> InProcess {
        try InProcess {
            change(&$0.rates)
            if !proxies.isEmpty {
                $0.exposure = .behindProxy(TrustedProxies(proxies.compactMap { IPNetwork($0) }))
            }
        }
    }

    private let pass1 = "{\"mpin_id\":\"7b7d\",\"U\":\"\",\"UT\":\"\"}"

    func testAnAddressThatComesTooOftenGets429UntilTheTimeThatRetryAfterNames() throws {
        let server = try limited { $0.loginAddress = RateLimit("2/6") }
        let start = Date()
        var answers: [Answer] = []
        repeat {
            answers.append(try server.backend.call("POST", "/rps/pass1", pass1))
        } while answers.count < 50 && answers.last?.status == 403
        let refused = try XCTUnwrap(answers.last)
        let refusedAt = Date()
        XCTAssertEqual(refused.status, 429)
        // The limit allows two requests at first, and one more every three seconds.
        XCTAssertTrue(3...3 + Int(refusedAt.timeIntervalSince(start) / 3) ~= answers.count)
        let wait = try XCTUnwrap(refused.headers["retry-after"].flatMap { Double($0) })
        XCTAssertTrue((1...3).contains(wait))
        XCTAssertEqual(refused.object["message"] as? String, "Too many requests")
        XCTAssertEqual(try server.backend.call("GET", "/rps/clientSettings").status, 200, "other requests go on")
        let end = Date(timeIntervalSinceNow: 60)
        while try server.backend.call("POST", "/rps/pass1", pass1).status == 429, Date() < end { usleep(50_000) }
        XCTAssertGreaterThan(Date().timeIntervalSince(refusedAt), wait - 1.1, "rounded up to whole seconds")
        XCTAssertLessThan(Date(), end)
    }

    func testAnIdentityHasItsOwnLimitWhetherItIsKnownOrNot() throws {
        let server = try limited { $0.loginIdentity = RateLimit("3/600") }
        let client = TestClient(backend: server.backend)
        let known = try client.register("alice@example.com", pin: "1234")
        let other = try client.register("bob@example.com", pin: "1234")
        // Replaces the last digit of the salt in the M-Pin ID. The ID is hex of a JSON text that ends with the salt, a
        // quote (22) and a brace (7d).
        let digit = known.id.hasSuffix("30227d") ? "31227d" : "30227d"
        let stranger = known.id.dropLast(6) + digit
        let permit = try client.timePermit(other)
        let (_, _, u, ut) = try client.commitment(known, pin: "1234", permit: permit)
        func answers(_ id: some StringProtocol) throws -> [Answer] {
            let body = "{\"mpin_id\":\"\(id)\",\"U\":\"\(u.hexText)\",\"UT\":\"\(ut.hexText)\"}"
            return try (0..<4).map { _ in try server.backend.call("POST", "/rps/pass1", body) }
        }
        let (first, second) = (try answers(known.id), try answers(stranger))
        XCTAssertEqual(first.map(\.status), [200, 200, 200, 429])
        XCTAssertEqual(second.map(\.status), [200, 200, 200, 429])
        XCTAssertEqual(first[3].body, second[3].body)
        XCTAssertTrue((190...200).contains(Int(first[3].headers["retry-after"] ?? "") ?? 0))
        XCTAssertEqual(Set(first[3].headers.keys), Set(second[3].headers.keys))
        XCTAssertEqual(
            try client.login(other, pin: "1234", permit: permit).status, 200, "another identity is not touched")
    }

    func testEverySpellingOfAnIDInPathsAndBodiesCountsAsOne() throws {
        let server = try limited { $0.loginIdentity = RateLimit("3/600") }
        let client = TestClient(backend: server.backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        let (_, _, u, ut) = try client.commitment(alice, pin: "1234", permit: client.timePermit(alice))
        func pass1(_ id: String) throws -> Int {
            let body = "{\"mpin_id\":\"\(id)\",\"U\":\"\(u.hexText)\",\"UT\":\"\(ut.hexText)\"}"
            return try server.backend.call("POST", "/rps/pass1", body).status
        }
        func permit(_ id: String) throws -> Int {
            try server.backend.call("GET", "/rps/timePermit/" + id).status
        }
        XCTAssertEqual(try permit(alice.id.uppercased()), 200)
        XCTAssertEqual(try pass1(alice.id.uppercased()), 200)
        for id in [alice.id, alice.id.uppercased()] {
            XCTAssertEqual(try pass1(id), 429)
            XCTAssertEqual(try permit(id), 429)
            XCTAssertEqual(try permit(id + "/"), 429)
        }
        XCTAssertEqual(try permit("%37" + alice.id.dropFirst()), 404, "escapes are no hex")
    }

    func testAMailboxGetsALimitedNumberOfMails() throws {
        let server = try limited { $0.registerIdentity = RateLimit("2/600") }
        // Most mail providers deliver mail for these three addresses to one mailbox, so they share one limit.
        let statuses = try ["alice@example.com", "Alice@Example.com", "aLICE@example.com"].map { user in
            try server.backend.call("PUT", "/rps/user", "{\"userId\":\"\(user)\"}").status
        }
        XCTAssertEqual(statuses, [200, 200, 429])
        XCTAssertEqual(try server.backend.call("PUT", "/rps/user", "{\"userId\":\"bob@example.com\"}").status, 200)
    }

    func testSpellingsThatProvidersDeliverToOneMailboxShareItsLimit() throws {
        let server = try limited { $0.registerIdentity = RateLimit("2/600") }
        func register(_ users: [String]) throws -> [Int] {
            try users.map { user in
                let answer = try server.backend.call("PUT", "/rps/user", "{\"userId\":\(user.quoted)}")
                if answer.status == 200 {
                    let id = try XCTUnwrap(answer.object["mpinId"] as? String)
                    let text = String(decoding: Hex.decode(id) ?? [], as: UTF8.self)
                    XCTAssertTrue(text.contains("\"userID\": \(user.quoted)"), "the user id stays as it is: \(text)")
                }
                return answer.status
            }
        }
        for mailbox in [
            ["alice@example.com", "Alice+1@Example.com", "alice+2+3@example.com."],
            ["bob@example.org.", "bob@EXAMPLE.org", "bob+tag@example.org"],
            ["carol.a@gmail.com", "carola@googlemail.com", "c.a.r.o.l.a+x@gmail.com"],
        ] { XCTAssertEqual(try register(mailbox), [200, 200, 429], "\(mailbox)") }
        let others = [
            "carol.a@example.com", "carola@example.com", "car.ola@example.com", "+a@example.com", "+b@example.com",
        ]
        XCTAssertEqual(try register(others), [200, 200, 200, 200, 200], "other mailboxes")
    }

    func testAWrongSignatureIsCountedAndAGoodOneAlwaysPasses() throws {
        let server = try limited { $0.authorityAddress = RateLimit("2/600") }
        let target = "/timePermit?hash_mpin_id=\(String(repeating: "0", count: 64))&signature=00"
        let statuses = try (0..<4).map { _ in
            try server.backend.call("GET", target, port: server.backend.dta2Port).status
        }
        XCTAssertEqual(statuses, [401, 401, 429, 429])
        let client = TestClient(backend: server.backend)
        XCTAssertEqual(try client.login(client.register("alice@example.com", pin: "1234"), pin: "1234").status, 200)
    }

    func testNobodyElsesRequestsUseUpWhatAnIdentityMayAskAnAuthority() throws {
        let server = try limited { $0.authorityIdentity = RateLimit("4/600") }
        let client = TestClient(backend: server.backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        let forged =
            "?hash_mpin_id=\(Hex.encode(alice.hash))&signature=00&app_id=a&expires=x&count=1&key_id=1&hash_user_id="
        for target in ["/timePermit", "/timePermits", "/clientSecret"] {
            for _ in 0..<5 {
                XCTAssertEqual(
                    try server.backend.call("GET", target + forged, port: server.backend.dta2Port).status, 401, target)
            }
        }
        // The limit is four shares. The registration took two for the client secret, so two for permits are left.
        let answer = try server.backend.call("GET", "/rps/timePermit/" + alice.id)
        let first: RPSTimePermitResponse = try answer.json()
        let query = "/timePermit?hash_mpin_id=\(first.storageId)&signature=\(first.signature)"
        let statuses = try (0..<2).map { _ in
            try server.backend.call("GET", query, port: server.backend.dta2Port).status
        }
        XCTAssertEqual(statuses, [200, 429])
    }

    func testBehindAProxyTheRightMostUntrustedAddressIsTheCaller() throws {
        let server = try limited({ $0.loginAddress = RateLimit("1/600") }, proxies: ["127.0.0.0/8", "10.0.0.0/8"])
        func status(_ forwarded: String) throws -> Int {
            try server.backend.call("POST", "/rps/pass1", pass1, headers: ["X-Forwarded-For": forwarded]).status
        }
        XCTAssertEqual(try status("203.0.113.1"), 403)
        XCTAssertEqual(try status("203.0.113.1"), 429)
        XCTAssertEqual(try status("1.2.3.4, 203.0.113.1"), 429, "what stands further left is the caller's own word")
        XCTAssertEqual(try status("1.2.3.4, 203.0.113.1, 10.1.2.3"), 429, "a trusted proxy behind another")
        XCTAssertEqual(try status("203.0.113.2, 10.1.2.3"), 403)
        XCTAssertEqual(try status("2001:db8::1"), 403)
        XCTAssertEqual(try status("2001:db8::2"), 429, "one /64 is one caller")
        XCTAssertEqual(try status("2001:db8:0:1::1"), 403)
    }

    func testWithoutATrustedProxyTheHeadersCountForNothing() throws {
        let server = try limited { $0.loginAddress = RateLimit("1/600") }
        let headers = ["X-Forwarded-For": "203.0.113.9", "X-Request-Id": "mine"]
        XCTAssertEqual(try server.backend.call("POST", "/rps/pass1", pass1, headers: headers).status, 403)
        let answer = try server.backend.call("POST", "/rps/pass1", pass1, headers: ["X-Forwarded-For": "203.0.113.8"])
        XCTAssertEqual(answer.status, 429)
        XCTAssertNotEqual(answer.headers["x-request-id"], "mine")
        XCTAssertFalse(server.logText.contains("203.0.113"))
    }

    func testARequestsIdIsInTheAnswerAndInTheLogAndATrustedProxyMayGiveIt() throws {
        let server = try limited({ _ in }, proxies: ["127.0.0.1"])
        func id(_ given: String) throws -> String {
            let answer = try server.backend.call("GET", "/rps/clientSettings", headers: ["X-Request-Id": given])
            return try XCTUnwrap(answer.headers["x-request-id"])
        }
        XCTAssertEqual(try id("proxy-77.a_b"), "proxy-77.a_b")
        for bad in ["a b", "\"quoted\"", String(repeating: "a", count: 65), "x{y}"] {
            XCTAssertNotNil(try id(bad).wholeMatch(of: /[0-9a-f]{16}/), bad)
        }
        XCTAssertTrue(server.logText.contains("\"request_id\":\"proxy-77.a_b\""))
        XCTAssertTrue(server.logText.contains("\"remote\":\"127.0.0.1\""))
    }

    func testAddressesAndNetworks() {
        XCTAssertEqual(IPAddress("::ffff:192.0.2.1"), IPAddress("192.0.2.1"))
        XCTAssertEqual(IPAddress("[2001:db8::1]")?.description, "2001:db8::1")
        for bad in ["", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.4:80", "::g", "localhost", "1.2.3.4/8"] {
            XCTAssertNil(IPAddress(bad), bad)
        }
        for bad in ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129", "x/8", "10.0.0.0/8/8"] {
            XCTAssertNil(IPNetwork(bad), bad)
        }
        let proxies = TrustedProxies(["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"].compactMap { IPNetwork($0) })
        for (text, isTrusted) in [
            ("10.255.0.1", true), ("11.0.0.1", false), ("2001:db8:ffff::1", true), ("2001:db9::1", false),
            ("192.0.2.7", true), ("192.0.2.6", false), ("::ffff:10.0.0.1", true), ("::10.0.0.1", false),
        ] {
            XCTAssertEqual(IPAddress(text).map { proxies.trusts($0) }, isTrusted, text)
        }
    }

    func testARefusalByTheSecondAuthorityNamesItsTimeAtTheGateToo() throws {
        let server = try limited({ $0.authorityIdentity = RateLimit("4/600") }, proxies: ["127.0.0.1"])
        let alice = try TestClient(backend: server.backend).register("alice@example.com", pin: "1234")
        let first: RPSTimePermitResponse = try server.backend.call("GET", "/rps/timePermit/" + alice.id).json()
        let target = "/dta2/timePermit?hash_mpin_id=\(first.storageId)&signature=\(first.signature)"
        XCTAssertEqual(try server.backend.call("GET", target).status, 200)
        let answer = try server.backend.call("GET", target)
        XCTAssertEqual(answer.status, 429)
        XCTAssertTrue((1...600).contains(try XCTUnwrap(answer.headers["retry-after"].flatMap { Int($0) })))
    }
}

extension [UInt8] {
    fileprivate var hexText: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
