import Foundation
import LoopbackServer
import MPinServer
import XCTest

/// Tests that docs/limits.md says of each operation what holds for it.
final class OperationTableTests: XCTestCase {
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
        let server = try await InProcess.trust(
            self, clients: Self.clients,
            change: {
                $0.allowOrigin = ["https://listed.example"]
                $0.adminListen = try? ListenAddress(host: "127.0.0.1", port: admin)
            }, { $0.origins = ["https://project.example"] })
        return (server, admin)
    }

    func testTheTableIsThatOfTheServer() async throws {
        let (server, admin) = try await server()
        let rows = try APIOperation.all().map { operation in
            let port =
                operation.tags.contains("dta")
                ? server.backend.dta2Port : operation.tags.contains("admin") ? admin : server.backend.port
            let at = Asked(backend: server.backend, port: port, operation: operation)
            let cells = [
                "\(operation.method) \(operation.path)", operation.limit ?? "refused", at.kind, try at.readers(Self.sites),
                try at.errors(),
            ]
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

    var kind: String {
        let words = operation.path.split(separator: "/")
        let isTrust = words.dropLast().last == "v2"
        return switch words.last {
        case "access" where isTrust: "-"
        case "access": "page"
        case "authenticate" where words.count == 1 || isTrust: "endOfLogin"
        case "authenticate": "phone"
        case "pass2", "mpinAuthenticate": "endOfLogin"
        default: "-"
        }
    }

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
