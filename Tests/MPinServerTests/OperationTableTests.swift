import Foundation
import LoopbackServer
import MPinServer
import XCTest

/// Tests that the routes of the server, openapi.yaml and docs/limits.md say the same of each operation.
final class OperationTableTests: XCTestCase {
    /// Routes that openapi.yaml does not have, because programs of others do not ask them.
    private static let own: Set = [
        // The steps of our own login and account pages.
        "GET /authorize/login", "POST /authorize/login", "POST /authorize/confirm", "POST /authorize/access",
        "POST /oidc/logout/confirm", "GET /account/login", "GET /account/link", "POST /account/link",
        "GET /account/settings", "POST /account/profile", "POST /account/address", "POST /account/devices",
        "POST /account/sessions", "POST /account/applications",
        // The discovery document once more, at the place of RFC 8414.
        "GET /.well-known/oauth-authorization-server",
        // The operations of clients of 2017 (TRUST wire section 7), which are those below /rps once more.
        "GET /mfa/{}/service", "GET /mfa/{}/rps/clientSettings", "PUT /mfa/{}/rps/user", "PUT /mfa/{}/rps/user/{}",
        "GET /mfa/{}/rps/signature/{}", "POST /mfa/{}/rps/setupDone/{}", "POST /mfa/{}/rps/pass1",
        "POST /mfa/{}/rps/pass2", "POST /mfa/{}/rps/authenticate", "POST /mfa/{}/rps/access",
        "POST /mfa/{}/rps/codeStatus", "POST /mfa/{}/rps/dvsregister", "POST /rps/dvsregister",
        "POST /mfa/{}/verification", "POST /mfa/{}/verification/confirmation",
        // What watches the process (docs/operating.md).
        "GET /health/live", "GET /health/ready", "GET /metrics",
    ]
    private static let sites = [
        "--allow-origin": "https://listed.example", "clients": "https://client.example",
        "projects": "https://project.example", "all": "https://other.example",
    ]
    private static let clients = """
        - id: web
          secret-sha256: \(String(repeating: "0", count: 64))
          redirect-uri: [https://client.example/cb]
          origin: [https://client.example]
        """

    private func server() async throws -> (InProcess, admin: Int) {
        let admin = freePorts(1)[0]
        let server = try InProcess.everything(self, clients: Self.clients) {
            $0.allowOrigin = ["https://listed.example"]
            $0.adminListen = try? ListenAddress(host: "127.0.0.1", port: admin)
        }
        var change = ProjectChange()
        change.origins = ["https://project.example"]
        _ = try await server.projects().add("proj-1", change)
        return (server, admin)
    }

    /// An operation without the names of its path's parameters, of which each document has its own.
    private static func withoutNames(_ operation: String) -> String { operation.replacing(/\{[^}]*\}/, with: "{}") }

    /// The routes that programs of others may know, by their operations without names.
    private func routes(_ server: InProcess) -> [String: Route] {
        // The files of our own pages, whose paths carry a hash of all of them, are left out.
        let open = server.routes.filter { $0.key != "private" }.values.joined()
            .filter { $0.operation.prefixMatch(of: /GET \/client\/[0-9a-f]{16}\//) == nil }
        return Dictionary(open.map { (Self.withoutNames($0.operation), $0) }) { $1 }
    }

    func testTheDescriptionHasAllRoutesAndNoOthers() async throws {
        let routes = Set(routes(try await server().0).keys)
        let described = Set(try APIOperation.all().map { Self.withoutNames($0.name) })
        XCTAssertEqual(routes.subtracting(described).subtracting(Self.own).sorted(), [], "not in openapi.yaml")
        XCTAssertEqual(described.subtracting(routes).sorted(), [], "in openapi.yaml only")
        XCTAssertEqual(Self.own.subtracting(routes).sorted(), [], "nobody has these")
    }

    func testEachLimitIsTheOneThatTheDescriptionNames() async throws {
        let routes = routes(try await server().0)
        for operation in try APIOperation.all() {
            XCTAssertEqual(routes[Self.withoutNames(operation.name)]?.limitName, operation.limit, operation.name)
        }
    }

    func testTheTableIsThatOfTheServer() async throws {
        let (server, admin) = try await server()
        let routes = routes(server)
        let rows = try APIOperation.all().map { operation in
            let port =
                operation.tags.contains("dta")
                ? server.backend.dta2Port : operation.tags.contains("admin") ? admin : server.backend.port
            let at = Asked(backend: server.backend, port: port, operation: operation)
            let route = try XCTUnwrap(routes[Self.withoutNames(operation.name)], operation.name)
            let kind = route.kindName == "other" ? "-" : route.kindName
            let cells = [operation.name, route.limitName ?? "-", kind, try at.readers(Self.sites), try at.errors()]
            return "| " + cells.joined(separator: " | ") + " |"
        }
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/limits.md")
        let written = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        let table = written.split(separator: "\n").map(String.init).filter {
            $0.wholeMatch(of: /\| [A-Z]+ \/.*/) != nil
        }
        XCTAssertEqual(Set(rows).symmetricDifference(table).sorted(), [])
        XCTAssertEqual(rows, table, "the table, as it should be:\n" + rows.joined(separator: "\n"))
    }
}

/// What a server says of an operation to whoever asks.
private struct Asked {
    let backend: Backend
    let port: Int
    let operation: APIOperation

    /// Which pages of other sites may read the answers, and by which methods.
    func readers(_ sites: [String: String]) throws -> String {
        var readers: [String: [String]] = [:]
        for (name, origin) in sites {
            let headers = ["Origin": origin, "Access-Control-Request-Method": operation.method]
            let answer = try backend.call(
                "OPTIONS", operation.target + "?project_id=proj-1", nil as String?, headers: headers, port: port)
            let allowed = answer.headers["access-control-allow-origin"]
            guard let allowed else { continue }
            XCTAssertTrue([origin, "*"].contains(allowed))
            let takesCookies = answer.headers["access-control-allow-credentials"] != nil
            let methods = answer.headers["access-control-allow-methods"] ?? "no method"
            readers[methods + (takesCookies ? ", with cookies" : ""), default: []].append(name)
        }
        return readers.isEmpty
            ? "-"
            : readers.sorted { $0.key < $1.key }.map { methods, names in
                (names.contains("all") ? "all" : names.sorted().joined(separator: ", ")) + ": " + methods
            }.joined(separator: "; ")
    }

    /// The forms of an error, for a program and for a person.
    func errors() throws -> String {
        let forms = try ["*/*", "text/html"].map { accept in
            let target = operation.target + "?x=" + String(repeating: "x", count: 9_000)
            let answer = try backend.call(
                operation.method, target, nil as String?, headers: ["Accept": accept], port: port)
            XCTAssertEqual(answer.status, 414, "\(operation)")
            guard answer.headers["content-type"]?.contains("json") == true else { return "page" }
            return answer.object["requestID"] == nil ? "JSON" : "Trust"
        }
        return forms[0] == forms[1] ? forms[0] : forms.joined(separator: ", ")
    }
}
