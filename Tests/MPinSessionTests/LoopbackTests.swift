import Foundation
import LoopbackServer
import MPinHTTP
import MPinSDK
import MPinSession
import XCTest

/// Redirect URIs on this machine (RFC 8252 section 7.3).
final class LoopbackTests: SessionTestCase {
    /// The members `redirect_uri` of the authorization requests.
    private let sent = Locked<[String]>([])

    /// Logs in with a redirect URI. The browser comes back to `address`, whatever the URI says.
    private func login(_ uri: String, at address: String = "127.0.0.1") throws -> SDKError? {
        let (sent, server) = (sent, server!)
        var callbacks = SessionCallbacks()
        callbacks.openBrowser = { url in
            let items = URLComponents(string: url)?.queryItems ?? []
            let members = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
            let (target, state) = (members["redirect_uri"] ?? "", members["state"] ?? "")
            server.state.withLock { $0.nonce = members["nonce"] ?? "" }
            sent.withLock { $0.append(target) }
            guard let place = URLComponents(string: target), let port = place.port.flatMap(UInt16.init(exactly:)) else {
                return false
            }
            let query = [place.query, "code=1", "state=\(state)"].compactMap { $0 }.joined(separator: "&")
            Thread.detachNewThread {
                visit(port, "GET \(place.path.isEmpty ? "/" : place.path)?\(query) HTTP/1.1", at: address)
            }
            return true
        }
        let session = try open(nil, callbacks)
        var provider = home
        provider.redirectURI = uri
        try session.add(provider)
        return failure { () throws(SDKError) in try session.login("home") }
    }

    func testTheHostIsTheOneThatTheAppNames() throws {
        let places = [
            ("http://127.0.0.1/callback", "127.0.0.1"), ("http://127.0.0.2/a?b=c", "127.0.0.2"),
            ("http://localhost", "127.0.0.1"), ("http://LocalHost/callback", "::1"), ("http://[::1]/callback", "::1"),
        ]
        for (uri, address) in places where address != "::1" || hasIPv6 {
            XCTAssertNil(try login(uri, at: address), uri)
            let target = try XCTUnwrap(sent.withLock { $0.last })
            XCTAssertEqual(target.replacing(/:[0-9]+(?=[\/]|$)/, with: ""), uri)
            XCTAssertTrue(try XCTUnwrap(server.forms("/token").last).contains("redirect_uri=\(escaped(target))&"), uri)
        }
        // A machine without IPv6 says so.
        if !hasIPv6 { XCTAssertEqual(try login("http://[::1]/callback")?.status, .networkError) }
    }

    private func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["-", ".", "_", "~"])) ?? ""
    }

    func testAPortThatTheAppNamesIsUsedAgainAndAgain() throws {
        let port = UInt16(freePorts(1)[0])
        for host in ["localhost", "127.0.0.1", "localhost"] {
            XCTAssertNil(try login("http://\(host):\(port)/callback"))
            XCTAssertEqual(sent.withLock { $0.last }, "http://\(host):\(port)/callback")
        }
        let taken = try LoopbackSockets(["127.0.0.1"], ports: [port])
        defer { taken.close() }
        XCTAssertEqual(try login("http://localhost:\(port)/callback")?.status, .networkError)
        XCTAssertEqual(sent.withLock { $0.count }, 3)
    }

    /// A machine may have one of two addresses only. Here, both of a name are addresses that every machine has.
    func testAPortIsThatOfAllAddresses() throws {
        let both = try LoopbackSockets(["127.0.0.1", "127.0.0.2"], ports: [0])
        defer { both.close() }
        XCTAssertEqual(both.files.count, 2)
        // The second address is taken, so the first one is not used, either.
        let other = try LoopbackSockets(["127.0.0.2"], ports: [0])
        defer { other.close() }
        let next = try LoopbackSockets(["127.0.0.1", "127.0.0.2"], ports: [other.port, 0])
        defer { next.close() }
        XCTAssertNotEqual(next.port, other.port)
        XCTAssertEqual(next.files.count, 2)
        let error = failure { () throws(SDKError) in
            _ = try LoopbackSockets(["127.0.0.1", "127.0.0.2"], ports: [other.port])
        }
        XCTAssertEqual(error?.status, .networkError)
        XCTAssertEqual(error?.text, "cannot listen on 127.0.0.1 and 127.0.0.2: Address already in use")
        // That attempt has left nothing open.
        try LoopbackSockets(["127.0.0.1"], ports: [other.port]).close()
    }

    func testAnAddressThatTheMachineDoesNotHaveIsLeftOut() throws {
        let one = try LoopbackSockets(["192.0.2.1", "127.0.0.1"], ports: [0])
        defer { one.close() }
        XCTAssertEqual(one.files.count, 1)
        let error = failure { () throws(SDKError) in _ = try LoopbackSockets(["192.0.2.1"], ports: [0, 0]) }
        XCTAssertEqual(error?.status, .networkError)
    }

    func testWhatIsALoopbackURI() throws {
        let uris = [
            ("http://127.0.0.1", "http://127.0.0.1:7", "/", ["127.0.0.1"]),
            ("http://127.0.0.1:80?a=/b", "http://127.0.0.1:7?a=/b", "/", ["127.0.0.1"]),
            ("HTTP://[::1]:99/c?d", "http://[::1]:7/c?d", "/c", ["::1"]),
            ("http://[0:0::1]/", "http://[0:0::1]:7/", "/", ["0:0::1"]),
            ("http://localhost/c/d/", "http://localhost:7/c/d/", "/c/d/", ["127.0.0.1", "::1"]),
        ]
        for (uri, text, path, addresses) in uris {
            let parsed = try XCTUnwrap(LoopbackURI(uri), uri)
            XCTAssertEqual(parsed.text(port: 7), text)
            XCTAssertEqual(parsed.path, path)
            XCTAssertEqual(parsed.addresses, addresses)
        }
        let others = [
            "https://127.0.0.1/c", "https://localhost/c", "http://localhost.example/c", "http://128.0.0.1/c",
            "com.example.app:/c", "http://[::2]/c", "http://a@127.0.0.1/c", "http:/127.0.0.1/c", "",
        ]
        for uri in others { XCTAssertNil(LoopbackURI(uri), uri) }
    }
}
