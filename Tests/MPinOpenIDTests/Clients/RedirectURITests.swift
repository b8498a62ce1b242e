import MPinOpenID
import MPinStore
import XCTest

/// Tests which redirect URIs can be registered, and which are equal to a registered one. Row numbers are those of the
/// checklist by which the provider was built: 8 is equality, 9 loopback addresses, 10 registration, 70 origins, and 72
/// where a browser may go after a logout.
final class RedirectURITests: XCTestCase {
    private func client(_ uris: [String], _ method: Client.AuthMethod = .basic) throws -> Client {
        var client = Client(id: "shop", name: "Shop", created: Moment(microseconds: 0))
        client.authMethod = method
        client.redirectURIs = try uris.map { try RedirectURI($0) }
        return client
    }

    /// URIs that look like `https://app.example.com/callback`, or that some program takes for it. None may be accepted.
    private static let nearMisses = [
        // Other spellings of the same place.
        "https://app.example.com/callback/", "https://app.example.com/callback?", "https://app.example.com/callback#",
        "https://app.example.com:443/callback", "https://app.example.com:/callback",
        "https://app.example.com/Callback", "https://APP.example.com/callback", "HTTPS://app.example.com/callback",
        "https://app.example.com./callback", "https://app.example.com//callback", "https://app.example.com/./callback",
        "https://app.example.com/x/../callback", "https://app.example.com/%63allback",
        "https://app.example.com/callbac%6B", "https://app.example.com/callback%20",
        "https://app.example.com/callback ",
        " https://app.example.com/callback", "https://app.example.com/callback\n",
        "https://app.example.com/callback\r\n",
        "https://app.example.com/callback\u{0}", "https://app.example.com/call\tback", "https:app.example.com/callback",
        "https:/app.example.com/callback", "https:///app.example.com/callback",
        // More than is registered.
        "https://app.example.com/callback?next=1", "https://app.example.com/callback#code",
        "https://app.example.com/callback/..", "https://app.example.com/callback/../../evil",
        "https://app.example.com/callback/%2e%2e/evil", "https://app.example.com/callback;evil",
        "https://app.example.com/callback&next=1", "https://app.example.com/callback%3Fnext=1",
        "https://app.example.com/callback%2Fevil", "https://app.example.com/callback%00",
        // Less than is registered.
        "https://app.example.com", "https://app.example.com/", "https://app.example.com/callbac", "/callback",
        "//app.example.com/callback", "app.example.com/callback", "", "*", "https://*.example.com/callback",
        // Another host, scheme or port.
        "http://app.example.com/callback", "https://app.example.com:8443/callback", "https://example.com/callback",
        "https://evil.example/callback", "https://app.example.com.evil.example/callback",
        "https://evil.example/app.example.com/callback", "https://app.example.comevil.example/callback",
        "https://evil-app.example.com/callback", "https://app.example.org/callback",
        // The registered host as a user name, and a user name before the registered host.
        "https://app.example.com@evil.example/callback", "https://user@app.example.com/callback",
        "https://user:pass@app.example.com/callback", "https://app.example.com:pass@evil.example/callback",
        "https://evil.example#@app.example.com/callback", "https://evil.example?@app.example.com/callback",
        "https://evil.example\\@app.example.com/callback", "https://app.example.com\\callback",
        "https:\\\\app.example.com\\callback", "https://app.example.com\\.evil.example/callback",
        "https://app.example.com%2Fcallback", "https://app.example.com%2f@evil.example/callback",
        // Letters that look like others, or that some programs replace by others.
        "https://app.ex\u{430}mple.com/callback", "https://app\u{3002}example.com/callback",
        "https://app.example.com/callb\u{e1}ck", "https://app.example.com\u{ff0f}callback",
        "https://app.example.com/callbac\u{212a}", "https://app.example.com/callback\u{301}",
        "https://xn--pp-example-com/callback",
        // Schemes other than http and https.
        "javascript:alert(1)//https://app.example.com/callback", "data:text/html,https://app.example.com/callback",
        "file:///callback", "com.example.app:/callback", "view-source:https://app.example.com/callback",
    ]

    func testRow8NothingButTheRegisteredTextIsIt() throws {
        let registered = "https://app.example.com/callback"
        XCTAssertGreaterThanOrEqual(Set(Self.nearMisses).count, 60)
        for method in Client.AuthMethod.allCases {
            let client = try client([registered], method)
            XCTAssertEqual(client.redirectURI(registered)?.text, registered)
            for miss in Self.nearMisses { XCTAssertNil(client.redirectURI(miss), miss.debugDescription) }
        }
    }

    /// Each registered URI is accepted when it is sent as it was registered.
    func testRow8EveryRegisteredTextIsItAsItStands() throws {
        let uris = [
            "https://app.example.com/callback", "https://app.example.com/callback?tenant=1&x=%2F",
            "https://app.example.com:8443/", "https://app.example.com", "https://xn--bcher-kva.example/cb",
            "https://192.0.2.7/cb", "https://[2001:db8::7]:444/cb", "http://localhost:3000/cb", "http://127.0.0.1:1/cb",
            "com.example.app:/callback", "com.example.app://callback", "https://app.example.com/a..b/.well-known/...",
        ]
        let client = try client(uris)
        for uri in uris { XCTAssertEqual(client.redirectURI(uri)?.text, uri) }
        for miss in [
            "https://app.example.com/callback?x=%2F&tenant=1", "http://localhost:3001/cb", "http://[::1]:1/cb",
        ] {
            XCTAssertNil(client.redirectURI(miss), miss)
        }
    }

    func testRow72TheSameHoldsAfterALogout() throws {
        var client = try client(["https://app.example.com/callback"])
        client.postLogoutURIs = [try RedirectURI("https://app.example.com/bye")]
        XCTAssertEqual(client.postLogoutURI("https://app.example.com/bye")?.text, "https://app.example.com/bye")
        for miss in Self.nearMisses + ["//evil", "\\evil", "@evil", "https://app.example.com/callback"] {
            XCTAssertNil(client.postLogoutURI(miss), miss.debugDescription)
        }
    }

    func testRow9APublicClientMayUseAnyPortOfThisMachine() throws {
        let client = try client(["http://127.0.0.1/cb", "http://[::1]:7000/cb?x=1", "http://localhost/cb"], .none)
        for port in ["", ":1", ":80", ":53682", ":65535"] {
            XCTAssertEqual(client.redirectURI("http://127.0.0.1\(port)/cb")?.text, "http://127.0.0.1\(port)/cb")
            XCTAssertNotNil(client.redirectURI("http://[::1]\(port)/cb?x=1"), port)
        }
        XCTAssertNotNil(client.redirectURI("http://localhost/cb"))
        let misses = [
            "http://127.0.0.1:53682/other", "http://127.0.0.1:53682/cb/", "http://127.0.0.1:53682/cb?x=1",
            "http://127.0.0.1:53682", "https://127.0.0.1:53682/cb", "http://127.0.0.2:53682/cb",
            "http://[::1]:53682/cb", "http://[::2]:53682/cb?x=1", "http://[0:0:0:0:0:0:0:1]:53682/cb?x=1",
            "http://localhost:53682/cb", "http://127.0.0.1:0/cb", "http://127.0.0.1:65536/cb",
            "http://127.0.0.1:080/cb",
            "http://127.0.0.1:+80/cb", "http://127.0.0.1:/cb", "http://127.1:80/cb", "http://2130706433/cb",
            "http://0x7f.0.0.1/cb", "http://127.0.0.1.evil.example/cb", "http://127.0.0.1:80@evil.example/cb",
            "http://evil@127.0.0.1/cb", "http://127.0.0.1:80#/cb", "http://[::1%25lo]:80/cb?x=1",
            "http://[::ffff:127.0.0.1]/cb?x=1", "http://[::1]evil.example/cb?x=1",
        ]
        for miss in misses { XCTAssertNil(client.redirectURI(miss), miss) }
    }

    func testRow9AConfidentialClientMayNot() throws {
        let client = try client(["http://127.0.0.1:7000/cb"])
        XCTAssertNotNil(client.redirectURI("http://127.0.0.1:7000/cb"))
        for port in ["", ":7001"] { XCTAssertNil(client.redirectURI("http://127.0.0.1\(port)/cb")) }
    }

    func testRow10WhatCannotBeRegisteredAndWhy() throws {
        let faults: [String: RedirectURIFault] = [
            "": .length, "https://a.example/" + String(repeating: "x", count: 2048): .length,
            "https://a.example/#": .fragment, "https://a.example/#x": .fragment, "com.example.app:/#x": .fragment,
            "https://a.example/\u{e4}": .character, "https://a.example/a b": .character,
            "https://a.example/%": .character, "https://a.example/%2": .character, "https://a.example/%zz": .character,
            "https://a.example/<": .character, "https://a.example\\b": .character,
            "https://a.example/\u{7f}": .character,
            "javascript:alert(1)": .scheme, "data:text/html,x": .scheme, "file:///etc": .scheme, "app:/cb": .scheme,
            "ftp://a.example/": .scheme, "HTTPS://a.example/": .scheme, "a.example/cb": .scheme, "/cb": .scheme,
            "com.example.app:": .scheme, ".example.app:/cb": .scheme, "com..app:/cb": .scheme, "1com.app:/cb": .scheme,
            "https:a.example": .host, "https:/a.example": .host, "https://": .host, "https:///cb": .host,
            "https://A.example/": .host, "https://a..example/": .host, "https://a.example./": .host,
            "https://-a.example/": .host, "https://a-.example/": .host, "https://a_b.example/": .host,
            "https://*.example/": .host, "https://1.2.3/": .host, "https://0x7f.1/": .host, "https://[::g]/": .host,
            "https://[::1/": .host, "https://[2001:DB8::1]/": .host,
            "https://" + String(repeating: "a", count: 64) + ".example/": .host,
            "https://a@b.example/": .userInfo, "https://a:b@c.example/": .userInfo, "https://@c.example/": .userInfo,
            "https://a.example:/": .port, "https://a.example:0/": .port, "https://a.example:x/": .port,
            "https://a.example:65536/": .port, "https://a.example:0443/": .port, "https://[::1]x/": .port,
            "http://a.example/": .plainHTTP, "http://192.0.2.7/": .plainHTTP, "http://127.0.0.2/": .plainHTTP,
            "https://a.example/..": .dotSegment, "https://a.example/./x": .dotSegment,
            "https://a.example/%2E%2e/x": .dotSegment, "https://a.example/.%2e?x": .dotSegment,
        ]
        for (text, fault) in faults {
            XCTAssertThrowsError(try RedirectURI(text), text) { XCTAssertEqual($0 as? RedirectURIFault, fault, text) }
        }
    }

    /// Returns the source that `form-action` in a page's Content-Security-Policy names.
    func testTheOriginOfAnAnswer() throws {
        let origins = [
            "https://a.example/cb?x": "https://a.example", "https://a.example:8443": "https://a.example:8443",
            "http://[::1]:7/cb": "http://[::1]:7", "com.example.app:/cb": "com.example.app:",
        ]
        for (text, origin) in origins { XCTAssertEqual(try RedirectURI(text).origin, origin) }
    }

    /// Row 70: accepts origins in the form that browsers send, and refuses texts that could never equal one.
    func testRow70Origins() {
        for text in ["https://a.example", "https://a.example:8443", "http://localhost:3000", "http://[::1]:7"] {
            XCTAssertEqual(WebOrigin(text)?.text, text)
        }
        let others = [
            "", "*", "null", "https://a.example/", "https://a.example:443", "http://localhost:80", "http://a.example",
            "HTTPS://a.example", "https://A.example", "com.example.app:/", "https://a.example?", "a.example",
        ]
        for text in others { XCTAssertNil(WebOrigin(text), text) }
    }
}
