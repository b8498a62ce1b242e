import Foundation
import MPinServer
import MPinService
import MPinWire
import XCTest

/// Tests what a phone is told about a session before it asks for the PIN: who has opened it, and whose words it reads.
final class SessionPlaceTests: XCTestCase {
    private static let clients = """
        - id: shop
          name: The Shop
          auth-method: none
          redirect-uri: [https://shop.example/cb]
        """
    private static let browser = [
        "Origin": "https://app.example",
        "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    ]
    private static let request =
        "client_id=shop&redirect_uri=https%3A%2F%2Fshop.example%2Fcb&response_type=code&scope=openid"
        + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"

    private func server() async throws -> InProcess {
        try await InProcess.trust(self, clients: Self.clients, { $0.name = "My Bank" })
    }

    private func details(_ client: TrustClient, _ qrURL: String) throws -> [String: Any] {
        let wid = try XCTUnwrap(qrURL.components(separatedBy: "#").last)
        return try client.post("/rps/v2/codeStatus", ["wid": wid, "status": "wid"]).object
    }

    /// Every public way to open a session: the path, and the member of the answer that the QR code shows.
    private func ways(_ client: TrustClient) -> [(String, ([String: String]) throws -> String?)] {
        func open(_ path: String, _ body: [String: Any]) -> ([String: String]) throws -> String? {
            {
                let answer = try client.post(path, body, headers: $0)
                return answer.object["qrURL"] as? String ?? answer.object["qrUrl"] as? String
            }
        }
        let hash = String(repeating: "ab", count: 32)
        return [
            ("/rps/v2/session", open("/rps/v2/session", ["projectId": "proj-1"])),
            (
                "/dvs/session",
                open("/dvs/session", ["projectID": "proj-1", "hash": hash, "userID": "a", "description": ""])
            ),
            ("/authorize", open("/authorize?" + Self.request, [:])),
            ("/rps/getQrUrl", open("/rps/getQrUrl", [:])),
        ]
    }

    func testEveryWayToOpenASessionTellsThePhoneWhereItsScreenIs() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend.from(7))
        for (path, open) in ways(client) {
            let found = try details(client, try XCTUnwrap(open(Self.browser), path))
            XCTAssertEqual(found["browserAddress"] as? String, "127.0.0.7", path)
            XCTAssertEqual(found["browserProgram"] as? String, "Firefox, Linux", path)
            XCTAssertNil(found["siteAddress"], path)
        }
    }

    /// Phones of the other wires are told the same.
    func testEveryWireTellsThePlace() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend.from(7))
        for path in ["/rps/codeStatus", "/mfa/proj-1/rps/codeStatus"] {
            for (headers, member) in [(Self.browser, "browserAddress"), ([:], "siteAddress")] {
                let opened = try client.post("/rps/getQrUrl", [:], headers: headers).object["qrUrl"] as? String
                let wid = try XCTUnwrap(opened?.components(separatedBy: "#").last)
                let found = try client.post(path, ["wid": wid, "status": "wid"]).object
                let places = ["browserAddress", "siteAddress"].map { found[$0] as? String }
                XCTAssertEqual(places, member == "siteAddress" ? [nil, "127.0.0.7"] : ["127.0.0.7", nil], path)
                XCTAssertEqual(found["browserProgram"] as? String, headers.isEmpty ? nil : "Firefox, Linux", path)
            }
        }
    }

    /// The address of a site's server is not that of the screen, which may be anywhere.
    func testAServerThatOpensASessionIsNotTakenForTheScreen() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend.from(7))
        for (path, open) in ways(client) {
            for headers in [[:], ["User-Agent": "Mozilla/5.0 Firefox/140.0"]] {
                let found = try details(client, try XCTUnwrap(open(headers), path))
                XCTAssertNil(found["browserAddress"], path)
                XCTAssertEqual(found["siteAddress"] as? String, "127.0.0.7", path)
            }
        }
        let credentials = Self.browser.merging(["Authorization": "Bearer x"]) { $1 }
        let opened = try client.post("/rps/v2/session", ["projectId": "proj-1"], headers: credentials)
        let found = try details(client, try XCTUnwrap(opened.object["qrURL"] as? String))
        XCTAssertEqual(found["siteAddress"] as? String, "127.0.0.7", "no browser sends credentials of a project")
    }

    /// The name is the operator's. What the asking party says stands beside it, and cannot turn a text around.
    func testWhatASiteSaysIsToldAsItsWords() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let words = "My Bank:\u{202E} cancel\nthe \u{200B}transfer"
        let opened = try client.post("/rps/v2/session", ["projectId": "proj-1", "description": words])
        let found = try details(client, try XCTUnwrap(opened.object["qrURL"] as? String))
        XCTAssertEqual(found["siteName"] as? String, "My Bank")
        XCTAssertEqual(found["siteText"] as? String, "My Bank: cancel the transfer")
        XCTAssertEqual(found["description"] as? String, "My Bank: cancel the transfer", "what old apps read")
        let shop = try client.post("/authorize?" + Self.request, [:])
        let ofShop = try details(client, try XCTUnwrap(shop.object["qrURL"] as? String))
        XCTAssertEqual([ofShop["siteName"] as? String, ofShop["siteText"] as? String], ["The Shop", nil])
    }

    /// The project of the server's own pages is for these only; a text in it would be read as the server's.
    func testTheServersOwnProjectTakesNoDescription() async throws {
        let server = try await InProcess.trust(self, project: "browser")
        let client = TrustClient(backend: server.backend, project: "browser")
        let refused = try client.post(
            "/rps/v2/session", ["projectId": "browser", "description": "My Bank: cancel the transfer"])
        XCTAssertEqual([refused.code, refused.context["params"]], ["INVALID_REQUEST_PARAMETERS", "description"])
        let opened = try client.post("/rps/v2/session", ["projectId": "browser"])
        let found = try details(client, try XCTUnwrap(opened.object["qrURL"] as? String))
        XCTAssertNil(found["siteName"])
        XCTAssertNil(found["siteText"])
    }
}
