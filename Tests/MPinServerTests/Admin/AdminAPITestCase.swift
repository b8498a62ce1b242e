import Foundation
import LoopbackServer
import MPinOpenID
import MPinServer
import XCTest

/// What the tests of the admin API share: a server in the test's process, its tokens, requests, and the audit log.
class AdminAPITestCase: XCTestCase {
    static let port = freePorts(1)[0]
    private static let clients = """
        - id: blog
          auth-method: none
          redirect-uri: [https://blog.example/cb]
        """

    func start(_ change: (inout AllInOne) -> Void = { _ in }) throws -> InProcess {
        try InProcess(
            change: {
                $0.adminListen = try? ListenAddress(host: "127.0.0.1", port: Self.port)
                change(&$0)
            }, clients: Self.clients
        ).keep(in: self)
    }

    /// Makes a token by the command's code, and returns its text.
    func token(_ server: InProcess, _ name: String, _ scopes: Set<AdminScope>, days: Int = 1) throws -> String {
        let database = server.backend.stateFolder + "/rps.sqlite"
        let now = server.now
        return try finish {
            try await AdminTokenAdministration(database: ServiceDatabase(database), audit: .off, clock: { now })
                .add(name, scopes: scopes, days: days).token
        }
    }

    func ask(
        _ server: InProcess, _ method: String, _ target: String, _ body: String? = nil, token: String?,
        headers: [String: String] = [:]
    ) throws -> Answer {
        let bearer = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return try server.backend.call(
            method, target, body, headers: headers.merging(bearer) { $1 }, port: Self.port)
    }

    func audit(_ server: InProcess) throws -> String {
        try String(contentsOfFile: server.backend.stateFolder + "/audit/audit.jsonl", encoding: .utf8)
    }

    func requireGoodAudit(_ server: InProcess) throws {
        let state = server.backend.stateFolder
        let place = try AuditPlace(log: state + "/audit/audit.jsonl", keyFile: state + "/audit.key")
        XCTAssertEqual(try AuditVerification(place).findings, [])
    }
}
