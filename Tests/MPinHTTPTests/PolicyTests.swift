import Foundation
import LoopbackServer
import MPinHTTP
import XCTest

final class PolicyTests: XCTestCase {
    // MARK: Trusted domains

    private func policy(_ domains: String...) -> HTTPPolicy {
        var policy = HTTPPolicy(allowInsecure: true)
        for domain in domains { XCTAssertTrue(policy.trustedDomains.add(domain), domain) }
        return policy
    }

    func testADomainAllowsItselfAndWhatLiesWithinIt() {
        let policy = policy("miracl.example", "Other.Example.")
        for url in [
            "https://miracl.example", "https://MIRACL.example/x?y#z", "https://api.miracl.example",
            "https://a.b.miracl.example:8443", "https://miracl.example.", "https://api.miracl.example.:443/",
            "https://other.example", "https://x.OTHER.example",
        ] {
            XCTAssertNil(policy.refusal(of: url), url)
        }
    }

    func testNamesThatLookLikeItAreRefused() {
        let policy = policy("miracl.example")
        for url in [
            "https://evilmiracl.example", "https://miracl.example.evil.org", "https://example",
            "https://miracl.example..", "https://miracl-example", "https://evil.org/miracl.example",
            "https://evil.org?miracl.example", "https://evil.org#.miracl.example", "https://evil.org:443",
            "https://xn--miracl-9za.example", "https://mirаcl.example", "https://miracl。example",
            "https://ｍiracl.example", "https://127.0.0.1", "https://localhost", "https://[::1]",
        ] {
            XCTAssertNotNil(policy.refusal(of: url), url)
        }
    }

    func testUserInformationAndOddCharactersAreNoURLs() {
        let policy = policy("miracl.example")
        for url in [
            "https://miracl.example@evil.org", "https://miracl.example:word@evil.org",
            "https://evil.org@miracl.example",
            #"https://miracl.example\@evil.org"#, #"https://evil.org\.miracl.example"#,
            "https://evil.org%2f.miracl.example",
            "https://evil.org\n.miracl.example", "https:miracl.example@evil.org", "//miracl.example", "miracl.example",
            "",
        ] {
            XCTAssertNotNil(policy.refusal(of: url), url)
        }
        XCTAssertEqual(policy.refusal(of: "https://miracl.example@evil.org"), .invalidURL)
    }

    func testOnlyHTTPSWhereThereIsAList() {
        XCTAssertEqual(policy("miracl.example").refusal(of: "http://miracl.example"), .untrustedDomain)
        XCTAssertEqual(policy("localhost").refusal(of: "http://localhost"), .untrustedDomain)
        XCTAssertNil(policy().refusal(of: "http://miracl.example"))
        XCTAssertEqual(HTTPPolicy().refusal(of: "http://miracl.example"), .insecureURL)
    }

    func testAnAddressHasNoParent() {
        XCTAssertEqual(policy("0.0.1").refusal(of: "https://127.0.0.1"), .untrustedDomain)
        XCTAssertNil(policy("127.0.0.1").refusal(of: "https://127.0.0.1:8443"))
        XCTAssertEqual(policy("127.0.0.1").refusal(of: "https://1.127.0.0.1"), .untrustedDomain)
    }

    func testWhatIsNoHostNameIsNotAdded() {
        var domains = TrustedDomains()
        for domain in [
            "", ".", "..", ".example", "a..b", "https://a", "a/b", "a:443", "*.example", "a b", "user@a", "[::1]",
            "münchen.example", "-a.example", "a-.example", String(repeating: "a", count: 64),
            String(repeating: "a.", count: 128), "a%2eb",
        ] {
            XCTAssertFalse(domains.add(domain), domain)
        }
        XCTAssertEqual(domains, TrustedDomains())
        XCTAssertTrue(domains.add("xn--mnchen-3ya.example"))
        domains.removeAll()
        XCTAssertEqual(domains, TrustedDomains())
    }

    func testTheTransportKeepsToTheListAsWell() throws {
        let server = try LoopbackServer { _ in .answer(200, body: []) }
        defer { server.stop() }
        let transport = CurlTransport(policy: policy("miracl.example"))
        XCTAssertThrowsError(
            try transport.execute(HTTPRequest(url: server.url, deadline: .after(milliseconds: 1000)))
        ) { XCTAssertEqual($0 as? HTTPFailure, .untrustedDomain) }
        XCTAssertEqual(server.accepted, 0)
    }

    // MARK: Proxy

    func testTheProxyGetsWhatLeavesThisMachineAndNothingElse() throws {
        let proxy = try LoopbackServer { _ in .text(200, "by proxy") }
        let direct = try LoopbackServer { _ in .text(200, "direct") }
        defer {
            proxy.stop()
            direct.stop()
        }
        var policy = HTTPPolicy(allowInsecure: true)
        policy.proxy = proxy.url
        let transport = CurlTransport(policy: policy)
        func get(_ url: String) throws -> String {
            let answer = try transport.execute(HTTPRequest(url: url, deadline: .after(milliseconds: 5000)))
            return String(decoding: answer.bytes, as: UTF8.self)
        }
        // Sets a variable that would switch off the proxy. It must have no effect: the policy alone determines whether
        // requests use a proxy, not the environment.
        setenv("no_proxy", "*", 1)
        defer { unsetenv("no_proxy") }
        XCTAssertEqual(try get("http://nowhere.invalid/x?y=1"), "by proxy")
        XCTAssertEqual(proxy.received.first?.target, "http://nowhere.invalid/x?y=1")
        XCTAssertEqual(try get(direct.url), "direct")
        XCTAssertEqual(proxy.received.count, 1)
    }

    // MARK: Escapes

    func testEverythingButUnreservedCharactersIsEscaped() {
        XCTAssertEqual(percentEncoded("aZ09-._~"), "aZ09-._~")
        XCTAssertEqual(percentEncoded("a b/ü+&=%\u{0}"), "a%20b%2F%C3%BC%2B%26%3D%25%00")
        XCTAssertEqual(percentEncodedQuery([("a", "1&"), ("b", "")]), "a=1%26&b=")
        XCTAssertEqual(percentEncodedQuery([]), "")
    }
}
