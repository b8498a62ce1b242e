import Foundation
import MPinServer
import MPinStore
import XCTest

/// Tests that every operation has a limit for the address that asks, or a reason for none: the description of the
/// interface says which, and the server does so.
final class RouteLimitTests: XCTestCase {
    private func limited() throws -> InProcess {
        try InProcess.everything(self) {
            let one = RateLimit("1/60000")
            for limit in [
                \RateLimits.registerAddress, \.loginAddress, \.accessAddress, \.pollAddress, \.authorityAddress,
                \.tokenAddress, \.adminAddress, \.deviceAddress, \.otherAddress,
            ] { $0.rates[keyPath: limit] = one }
        }
    }

    /// Sends the request twice from an address that has sent nothing yet. A limit of one request lets the first pass.
    private func statuses(_ server: InProcess, _ operation: APIOperation, _ number: Int) throws -> [Int] {
        // No proxy is in front of a D-TA here, so its callers have addresses of their own.
        var backend = server.backend
        let port = operation.tags.contains("dta") ? backend.dta2Port : nil
        if port != nil { backend.source = UInt16(0x0105 + 0x0100 * (number % 250)) }
        let headers = ["X-Forwarded-For": "203.0.\(number / 250).\(number % 250 + 1)"]
        let body = operation.method == "GET" ? nil : "{}"
        // The project is one that is not there, because some operations count only what is refused.
        let target = operation.target + "?project_id=nobody"
        return try (0..<2).map { _ in
            try backend.call(operation.method, target, body, headers: headers, port: port).status
        }
    }

    func testEveryOperationHasALimitOrAReason() throws {
        let server = try limited()
        let operations = try APIOperation.all().filter { !$0.tags.contains("admin") }
        XCTAssertGreaterThan(operations.count, 90)
        let groups = ["register", "login", "access", "poll", "device", "other"]
        for (number, operation) in operations.enumerated() {
            let name = operation.name
            let limit = try XCTUnwrap(operation.limit, "\(name) has no x-limit")
            XCTAssertTrue(groups.contains(limit) || limit == "refused" && operation.reason != nil, name)
            let statuses = try statuses(server, operation, number)
            // D-TA 2 sees all who come through the gate at one address.
            if !operation.tags.contains("gate") { XCTAssertNotEqual(statuses.first, 429, name) }
            XCTAssertEqual(statuses.last, 429, "\(name): \(statuses)")
        }
        let refused = try APIOperation.all().filter { $0.limit == "refused" && $0.reason == nil }
        XCTAssertTrue(refused.isEmpty, "\(refused)")
    }

    /// Each group is the one that the description names: another request of this group uses the limit up, and one of
    /// any other group does not.
    func testTheGroupIsTheOneThatIsNamed() throws {
        let server = try limited()
        let samples = [
            "register": ("GET", "/mpinActivate"), "login": ("POST", "/rps/pass1"),
            "access": ("POST", "/rps/codeStatus"),
            "poll": ("POST", "/rps/access"), "device": ("POST", "/device"), "other": ("GET", "/nothing"),
        ]
        let operations = try APIOperation.all().filter { samples[$0.limit ?? ""] != nil && !$0.tags.contains("dta") }
        for (number, operation) in operations.enumerated() {
            let headers = ["X-Forwarded-For": "198.51.\(number / 250).\(number % 250 + 1)"]
            for (_, sample) in samples.filter({ $0.key != operation.limit }) {
                _ = try server.backend.call(sample.0, sample.1, sample.0 == "GET" ? nil : "{}", headers: headers)
            }
            let body = operation.method == "GET" ? nil : "{}"
            let first = try server.backend.call(operation.method, operation.target, body, headers: headers).status
            XCTAssertNotEqual(first, 429, "\(operation.name) counts in another group")
        }
    }

    /// Paths that the description does not have, because only our own pages ask them, and those that nobody has.
    func testPathsWithoutADescriptionHaveALimitToo() throws {
        let server = try limited()
        let paths = [
            "/authorize/login", "/authorize/confirm", "/authorize/access", "/account/profile", "/account/devices",
            "/oidc/logout/confirm", "/.well-known/oauth-authorization-server", "/nothing", "/rps/nothing", "//", "/%00",
        ]
        for (number, path) in paths.enumerated() {
            let headers = ["X-Forwarded-For": "192.0.2.\(number + 1)"]
            let statuses = try (0..<2).map { _ in try server.backend.call("POST", path, "{}", headers: headers).status }
            XCTAssertNotEqual(statuses.first, 429, path)
            XCTAssertEqual(statuses.last, 429, path)
        }
    }

    /// A drawing of a QR code takes time that grows with its text.
    func testTheDrawingOfACodeIsLimitedInNumberAndLength() throws {
        let client = try browserClient(self)
        let server = try InProcess(
            change: { $0.rates.accessAddress = RateLimit("5/60000") }, changeRPA: { $0.site.browserClient = client },
            clients: "[]", isTrust: true
        ).keep(in: self)
        func status(_ user: String, _ project: String, _ code: String) throws -> Int {
            let body = "{\"userId\":\"\(user)\",\"projectId\":\"\(project)\",\"code\":\"\(code)\"}"
            return try server.backend.call("POST", "/client/code", body, headers: ["Sec-Fetch-Site": "same-origin"])
                .status
        }
        XCTAssertEqual(try status("alice@example.com", "browser", "123456"), 200)
        func long(_ count: Int) -> String { String(repeating: "a", count: count) }
        XCTAssertEqual(try status(long(255), "browser", "123456"), 400)
        XCTAssertEqual(try status("alice@example.com", long(65), "123456"), 400)
        XCTAssertEqual(try status("alice@example.com", "browser", long(65)), 400)
        XCTAssertEqual(try status(long(254), long(64), long(64)), 200)
        XCTAssertEqual(try status("alice@example.com", "browser", "123456"), 429)
    }
}

/// An operation in the description of the interface (openapi.yaml).
struct APIOperation {
    let method: String
    let path: String
    var tags: [String] = []
    /// The values of `x-limit`, `x-limit-reason` and `x-stores`.
    var limit: String?
    var reason: String?
    var stores: [String] = []

    /// "METHOD /path", as in docs/limits.md.
    var name: String { "\(method) \(path)" }

    /// The path with something in the place of its parameters.
    var target: String { path.replacing(/\{[^}]*\}/, with: "7b7d") }

    /// Reads the description line by line.
    static func all() throws -> [APIOperation] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/MPinServer/openapi.yaml")
        var (operations, path): ([APIOperation], String) = ([], "")
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if let match = line.wholeMatch(of: #/  (/\S*):/#) { path = String(match.1) }
            if let match = line.wholeMatch(of: #/    (get|post|put|delete|patch):/#), !path.isEmpty {
                operations.append(APIOperation(method: match.1.uppercased(), path: path))
            }
            guard !operations.isEmpty, let match = line.wholeMatch(of: #/      ([a-z-]+): (.*)/#) else { continue }
            let (last, value) = (operations.count - 1, String(match.2))
            switch match.1 {
            case "tags": operations[last].tags = words(value)
            case "x-limit": operations[last].limit = value
            case "x-limit-reason": operations[last].reason = value
            case "x-stores": operations[last].stores = words(value)
            default: break
            }
        }
        return operations
    }

    private static func words(_ list: String) -> [String] {
        list.split { "[], ".contains($0) }.map(String.init)
    }
}
