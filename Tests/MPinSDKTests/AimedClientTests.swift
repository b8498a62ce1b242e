import Foundation
import LoopbackServer
import MPinHTTP
import MPinSDK
import XCTest

/// Tests that a backend cannot make its clients send requests to private or local addresses, which the client can reach
/// but the backend perhaps cannot. names_test.c tests host names that resolve to such addresses.
final class AimedClientTests: FolderTestCase {
    /// A backend that gives every request the same client settings. A test can set one URL in them to another host.
    private final class Backend: Sendable {
        private let settings = Locked<[String: String]>([:])
        private let socket = Locked<LoopbackServer?>(nil)
        private let outer: String?

        /// Starts a backend. `outer`: a URL with an Internet address; clients with this backend's ``environment`` see
        /// the backend under this URL. Nil: clients see the real URL on this machine.
        init(seenAs outer: String? = nil) throws {
            self.outer = outer
            let server = try LoopbackServer { [settings] _ in
                .json(200, settings.withLock { $0 })
            }
            socket.withLock { $0 = server }
            aim(nil, at: "")
        }

        var url: String { outer ?? here }
        private var here: String { socket.withLock { $0?.url ?? "" } }
        var environment: Environment {
            let (outer, here) = (url, here)
            return Environment(makeTransport: {
                Elsewhere(transport: CurlTransport(policy: $0), outer: outer, here: here)
            })
        }
        func stop() { socket.withLock { $0?.stop() } }

        func aim(_ name: String?, at target: String) {
            let url = self.url
            settings.withLock { settings in
                settings = [
                    "certivoxURL": "\(url)/v3/", "registerURL": "\(url)/u", "signatureURL": "\(url)/s", "appID": "a",
                    "timePermitsURL": "\(url)/t", "mpinAuthServerURL": "\(url)/rps", "authenticateURL": "\(url)/a",
                    "codeStatusURL": "\(url)/c", "verificationURL": "\(url)/v",
                ]
                if let name { settings[name] = target }
            }
        }
    }

    private func sdk() throws -> SDK {
        let sdk = SDK()
        try sdk.initialize(SDKConfig(storagePath: path, timeoutMilliseconds: 10_000, allowInsecure: true))
        return sdk
    }

    private func ask(_ member: String, _ sdk: SDK) -> Status? {
        failure { () throws(SDKError) in
            switch member {
            case "codeStatusURL": _ = try sdk.sessionDetails("code")
            case "verificationURL": try sdk.startVerification(try sdk.makeNewUser("v@example.com"), clientID: "c")
            default: try sdk.startRegistration(try sdk.makeNewUser("r@example.com"))
            }
        }
    }

    private let members = ["codeStatusURL", "verificationURL", "registerURL"]

    /// Nothing answers at these addresses. If the client did not refuse them, a call would end in another error or time
    /// out.
    func testABackendOnThisMachineMayNotNamePrivateOrLinkLocalAddresses() throws {
        let backend = try Backend()
        defer { backend.stop() }
        let sdk = try sdk()
        let hosts = [
            "10.1.2.3", "172.31.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "[fd00::1:2]", "[fe80::1]",
            "[::ffff:10.1.2.3]", "[64:ff9b::a01:203]", "[2002:a01:203::1]", "224.0.0.1",
        ]
        for host in hosts {
            for member in members {
                backend.aim(member, at: "http://\(host):9/x")
                try sdk.setBackend(backend.url)
                XCTAssertEqual(ask(member, sdk), .untrustedDomainError, "\(host) \(member)")
            }
            XCTAssertEqual(sdk.lastError?.text.contains("which the backend itself has not"), true)
        }
        backend.aim(nil, at: "")
        try sdk.setBackend(backend.url)
        XCTAssertNil(ask("codeStatusURL", sdk))
    }

    func testABackendElsewhereMayNotNameThisMachine() throws {
        let backend = try Backend(seenAs: "http://203.0.113.7")
        let inner = try LoopbackServer { _ in .json(200, [:]) }
        defer {
            backend.stop()
            inner.stop()
        }
        let sdk = SDK(environment: backend.environment)
        try sdk.initialize(SDKConfig(storagePath: path, timeoutMilliseconds: 10_000, allowInsecure: true))
        for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
            for member in members {
                backend.aim(member, at: "http://\(host):\(inner.port)/x")
                try sdk.setBackend(backend.url)
                XCTAssertEqual(ask(member, sdk), .untrustedDomainError, "\(host) \(member)")
            }
        }
        XCTAssertEqual(inner.accepted, 0)
        // Unlike a backend, the program itself may name an address of this machine, here as the URL of a service.
        _ = try? sdk.serviceDetails(inner.url)
        XCTAssertEqual(inner.accepted, 1)
        XCTAssertEqual(ask("registerURL", sdk), .untrustedDomainError)
        XCTAssertEqual(inner.received.count, 1)
    }

    /// libcurl resolves `x.localhost` itself, so its address is known only after the lookup. The first request must
    /// open no connection. The third must not use the connection that the second one has left open.
    func testANameOfThisMachineIsRefusedAlsoOnAnOpenConnection() throws {
        let inner = try LoopbackServer { _ in .json(200, [:]) }
        defer { inner.stop() }
        let transport = CurlTransport(policy: HTTPPolicy(allowInsecure: true))
        let url = "http://x.localhost:\(inner.port)/"
        XCTAssertEqual(status(url, [.global], transport), nil)
        XCTAssertEqual(inner.accepted, 0)
        XCTAssertEqual(status(url, nil, transport), 200)
        XCTAssertEqual(status(url, [.global], transport), nil)
        XCTAssertEqual(status(url, [.global, .loopback], transport), 200)
        XCTAssertEqual(inner.received.count, 2)
    }

    /// The client normally leaves the lookup of names to the proxy. It must still refuse a URL that contains the
    /// address itself.
    func testAProxyIsNotAskedForAddressesThatMayNotBeReached() throws {
        let proxy = try LoopbackServer { _ in .json(200, [:]) }
        defer { proxy.stop() }
        var policy = HTTPPolicy(allowInsecure: true)
        policy.proxy = proxy.url
        let transport = CurlTransport(policy: policy)
        XCTAssertEqual(status("http://10.1.2.3/", [.global], transport), nil)
        XCTAssertEqual(proxy.accepted, 0)
        XCTAssertEqual(status("http://10.1.2.3/", [.global, .private], transport), 200)
    }

    /// Returns the HTTP status, or nil if the address is refused.
    private func status(_ url: String, _ reach: Set<AddressClass>?, _ transport: CurlTransport) -> Int? {
        var request = HTTPRequest(url: url, deadline: .after(milliseconds: 10_000))
        request.reach = reach
        do throws(HTTPFailure) { return try transport.execute(request, isCancelled: { false }).status } catch {
            guard case .forbiddenAddress = error else {
                XCTFail("\(error)")
                return 0
            }
            return nil
        }
    }

    func testARedirectLeadsNowhere() throws {
        let inner = try LoopbackServer { _ in .json(200, [:]) }
        let target = inner.url
        let outer = try LoopbackServer { _ in .answer(302, headers: [("Location", target)], body: []) }
        defer {
            inner.stop()
            outer.stop()
        }
        XCTAssertEqual(failure { () throws(SDKError) in try sdk0().setBackend(outer.url) }, .networkError)
        XCTAssertEqual(inner.accepted, 0)
    }

    private func sdk0() throws(SDKError) -> SDK {
        let sdk = SDK()
        try sdk.initialize(SDKConfig(storagePath: path))
        return sdk
    }

    func testWhereAddressesLie() {
        let table: [(String, AddressClass)] = [
            ("127.0.0.1", .loopback), ("127.255.255.255", .loopback), ("0.0.0.0", .loopback), ("localhost", .loopback),
            ("::1", .loopback), ("::", .loopback), ("::ffff:127.0.0.1", .loopback), ("::127.0.0.1", .loopback),
            ("10.0.0.0", .private), ("10.255.255.255", .private), ("172.16.0.0", .private),
            ("172.31.255.255", .private), ("192.168.255.255", .private), ("100.64.0.0", .private),
            ("100.127.255.255", .private), ("fc00::", .private), ("fdff::1", .private), ("fec0::1", .private),
            ("169.254.0.0", .linkLocal), ("169.254.169.254", .linkLocal), ("fe80::1", .linkLocal),
            ("febf::1", .linkLocal), ("224.0.0.1", .special), ("255.255.255.255", .special), ("ff02::1", .special),
            ("9.255.255.255", .global), ("11.0.0.0", .global), ("172.15.255.255", .global), ("172.32.0.0", .global),
            ("192.167.255.255", .global), ("192.169.0.0", .global), ("100.63.255.255", .global),
            ("100.128.0.0", .global), ("169.253.255.255", .global), ("169.255.0.0", .global), ("126.0.0.1", .global),
            ("128.0.0.1", .global), ("1.1.1.1", .global), ("2606:4700::1", .global), ("fbff::1", .global),
            ("fe00::1", .global), ("::ffff:1.1.1.1", .global), ("64:ff9b::a9fe:a9fe", .linkLocal),
            ("198.18.0.0", .private), ("198.19.255.255", .private), ("198.20.0.0", .global), ("192.0.0.8", .private),
            ("192.0.1.0", .global), ("64:ff9b:1::a00:1", .private), ("::ffff:0:a00:1", .private),
            ("2002:7f00:1::", .loopback), ("2002:101:101::", .global),
        ]
        for (host, kind) in table { XCTAssertEqual(AddressClass(host: host), kind, host) }
        XCTAssertNil(AddressClass(host: "example.com"))
    }
}

/// Sends requests for URLs below `outer` to the server `here` on this machine, but reports that they reached an
/// Internet address. Sends all other requests unchanged.
private struct Elsewhere: HTTPTransport {
    let transport: CurlTransport
    let outer: String
    let here: String

    func execute(
        _ request: HTTPRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(HTTPFailure) -> HTTPResponse {
        guard request.url.hasPrefix("\(outer)/") else {
            return try transport.execute(request, isCancelled: isCancelled)
        }
        var request = request
        request.url = here + request.url.dropFirst(outer.count)
        request.reach = nil
        let answer = try transport.execute(request, isCancelled: isCancelled)
        return HTTPResponse(status: answer.status, headers: answer.headers, body: answer.body, peer: .global)
    }
}
