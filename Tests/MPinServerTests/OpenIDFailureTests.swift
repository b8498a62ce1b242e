import Foundation
import MPinServer
import StoreEngines
import XCTest

/// Tests what clients and browsers are told when the server itself fails. Row 19 of the checklist by which the provider
/// was built demands: the client gets `server_error` if the store fails, and `temporarily_unavailable` if there is too
/// much to do; if the client itself cannot be read, the browser gets a page with status 503.
final class OpenIDFailureTests: XCTestCase {
    private static let clients = """
        - id: app
          auth-method: none
          redirect-uri: [https://app.example/cb]
          first-party: true
        """
    private static let query =
        "&redirect_uri=https://app.example/cb&response_type=code&scope=openid&state=s"
        + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"

    private func authorize(_ server: InProcess, _ client: String = "app") throws -> Answer {
        try server.backend.call("GET", "/authorize?client_id=" + client + Self.query)
    }

    private func issuer(_ server: InProcess) -> String { "http://127.0.0.1:\(server.backend.port)" }

    /// Returns the parameters with which the browser goes back to the client.
    private func told(_ answer: Answer) throws -> [String: String] {
        XCTAssertEqual(answer.status, 303, answer.text)
        let location = try XCTUnwrap(answer.headers["location"])
        XCTAssertTrue(location.hasPrefix("https://app.example/cb?"), location)
        let items = URLComponents(string: location)?.queryItems ?? []
        return Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.value ?? "") })
    }

    func testRow19AStoreThatFails() throws {
        let faults = FailingStore.Faults()
        let server = try InProcess(
            changeRPS: { $0.layer = { FailingStore($0, faults) } }, clients: Self.clients
        ).keep(in: self)
        XCTAssertEqual(try authorize(server).status, 200)
        faults.set(["oidc_login"])
        var members = try told(try authorize(server))
        XCTAssertNotNil(members.removeValue(forKey: "error_description"))
        XCTAssertEqual(members, ["error": "server_error", "state": "s", "iss": issuer(server)])
        faults.set(["wid"])
        XCTAssertEqual(try told(try authorize(server))["error"], "server_error")
        // The file has no client with this id, so the store is asked for it.
        faults.set(["clients"])
        let page = try authorize(server, "shop")
        XCTAssertEqual(page.status, 503)
        XCTAssertNil(page.headers["location"])
        XCTAssertTrue(page.headers["content-type"]?.hasPrefix("text/html") == true)
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        XCTAssertEqual(
            try server.backend.call("POST", "/oidc/token", "client_id=shop&grant_type=x", headers: form).status, 503)
        XCTAssertEqual(try server.backend.call("GET", "/oidc/logout?client_id=shop").status, 503)
        faults.set([])
        XCTAssertEqual(try authorize(server).status, 200)
        XCTAssertEqual(try authorize(server, "shop").status, 400)
    }

    func testRow19TooManyLogins() throws {
        // The server finds no free name for the browser, as if all were taken.
        let server = try InProcess(change: { $0.limits.service.accessNumberTries = 0 }, clients: Self.clients)
            .keep(in: self)
        let members = try told(try authorize(server))
        XCTAssertEqual(members["error"], "temporarily_unavailable")
        XCTAssertEqual([members["state"], members["iss"]], ["s", issuer(server)])
    }
}
