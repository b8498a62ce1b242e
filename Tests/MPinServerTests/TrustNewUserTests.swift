import Foundation
import LoopbackServer
import MPinSecrets
import MPinServer
import MPinService
import MPinWire
import XCTest

/// Tests users whom the project's back end verifies by the event `newUser` (TRUST wire section 6.1).
final class TrustNewUserTests: XCTestCase {
    private let user = "alice@example.com"

    /// A back end that answers each event with this status.
    private func backEnd(_ status: Int = 200) throws -> LoopbackServer { try LoopbackServer { _ in .text(status, "") } }

    /// The newest event that a back end got, and all claims of its token.
    private func event(_ backEnd: LoopbackServer) throws -> (event: [String: Any], claims: [String: Any]) {
        let body = try XCTUnwrap(backEnd.received.last).json
        XCTAssertEqual(Array(body.keys), ["new_user_token"])
        let payload = try XCTUnwrap(body["new_user_token"] as? String).split(separator: ".")[1]
        var text = payload.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        let json = try JSONSerialization.jsonObject(with: XCTUnwrap(Data(base64Encoded: text)))
        let claims = try XCTUnwrap(json as? [String: Any])
        return (try XCTUnwrap((claims["events"] as? [String: [String: Any]])?["newUser"]), claims)
    }

    private func server(_ url: String) async throws -> InProcess {
        try await InProcess.trust(self, { $0.newUserURL = url })
    }

    private func begin(_ server: InProcess, project: String = "proj-1") throws -> Answer {
        let client = TrustClient(backend: server.backend, project: project)
        let opened = try client.post("/rps/v2/session", ["projectId": project]).object["qrURL"] as? String
        let wid = try XCTUnwrap(opened?.components(separatedBy: "#").last)
        return try client.put("/rps/user", ["userId": user, "mobile": 1, "wid": wid, "deviceName": "phone"])
    }

    private func activate(_ server: InProcess, _ hash: String, _ key: String) throws -> Answer {
        try TrustClient(backend: server.backend).post("/activate/user", ["hashMPinId": hash, "activateKey": key])
    }

    private func share(_ server: InProcess, _ begun: Answer) throws -> Int {
        let (id, token) = (begun.object["mpinId"] as? String ?? "", begun.object["regOTT"] as? String ?? "")
        return try server.backend.call(
            "GET", "/rps/signature/\(id)?regOTT=\(token)", headers: ["X-MIRACL-CID": "proj-1"]
        ).status
    }

    /// A token of the admin API can name any URL. One that leads into the server's own network is not asked, whether it
    /// names an address or a host that has one.
    func testABackEndInTheServersNetworkIsNotAsked() async throws {
        let backEnd = try backEnd()
        defer { backEnd.stop() }
        for host in ["127.0.0.1", "localhost"] {
            let url = backEnd.url.replacingOccurrences(of: "127.0.0.1", with: host)
            let server = try await InProcess.trust(
                self, changeRPS: { $0.outboundTargets = OutboundTargets() }, { $0.newUserURL = url })
            XCTAssertEqual(try begin(server).status, 500)
            XCTAssertEqual(backEnd.received.count, 0)
            XCTAssertTrue(server.logText.contains("is no address of the public Internet"))
            let allowing = try await InProcess.trust(self, { $0.newUserURL = url })
            XCTAssertEqual(try begin(allowing).status, 200)
            XCTAssertEqual(backEnd.received.count, 1, host)
            backEnd.forget()
        }
    }

    func testTheBackEndHearsOfAUserAndConfirms() async throws {
        let backEnd = try backEnd()
        defer { backEnd.stop() }
        let server = try await server(backEnd.url + "/new?shop=1")
        let begun = try begin(server)
        XCTAssertEqual(begun.status, 200, begun.text)
        XCTAssertEqual(begun.object["active"] as? Bool, false)
        XCTAssertEqual(backEnd.received.map(\.target), ["/new?shop=1"])
        let (event, claims) = try self.event(backEnd)
        XCTAssertEqual(event.keys.sorted(), ["activateKey", "deviceName", "expireTime", "hashMPinID", "userID"])
        XCTAssertEqual([event["userID"], event["deviceName"]] as? [String], [user, "phone"])
        XCTAssertEqual(event["expireTime"] as? Int64, begun.object["expireTime"] as? Int64)
        let id = try XCTUnwrap(Hex.decode(begun.object["mpinId"] as? String ?? ""))
        let hash = try XCTUnwrap(event["hashMPinID"] as? String)
        XCTAssertEqual(hash, Hex.encode(SHA256.hash(id)))
        // Nobody can take the token for the login of a user.
        XCTAssertEqual(claims.keys.sorted(), ["aud", "events", "exp", "iat", "iss"])
        XCTAssertEqual(claims["aud"] as? String, "proj-1")
        XCTAssertEqual((claims["exp"] as? Int ?? 0) - (claims["iat"] as? Int ?? 0), 60)
        XCTAssertEqual(try share(server, begun), 401, "not confirmed")
        let key = try XCTUnwrap(event["activateKey"] as? String)
        let wrong = String(repeating: "0", count: key.count)
        for (hash, key) in [(hash, wrong), (hash, ""), (wrong, key), ("xy", key), ("", "")] {
            let refused = try activate(server, hash, key)
            XCTAssertEqual([String(refused.status), refused.code], ["400", "INVALID_ACTIVATION_TOKEN"], hash)
        }
        XCTAssertEqual(try share(server, begun), 401, "wrong keys")
        let confirmed = try activate(server, hash.uppercased(), key).object as? [String: String]
        XCTAssertEqual(confirmed, ["status": "OK", "message": "Activated"])
        XCTAssertEqual(try share(server, begun), 200)
        XCTAssertEqual(try activate(server, hash, key).code, "INVALID_ACTIVATION_TOKEN", "its shares are fetched")
    }

    /// A registration that begins again is announced again, with another key, and the one before is void.
    func testARestart() async throws {
        let backEnd = try backEnd()
        defer { backEnd.stop() }
        let server = try await server(backEnd.url)
        let begun = try begin(server)
        let old = try XCTUnwrap(self.event(backEnd).event["activateKey"] as? String)
        let body: [String: Any] = ["userId": user, "regOTT": begun.object["regOTT"] ?? "", "mobile": 1]
        let id = begun.object["mpinId"] as? String ?? ""
        let again = try TrustClient(backend: server.backend).put("/rps/user/\(id)", body)
        XCTAssertEqual(again.status, 200, again.text)
        let (event, _) = try self.event(backEnd)
        let hash = try XCTUnwrap(event["hashMPinID"] as? String)
        XCTAssertEqual(try activate(server, hash, old).code, "INVALID_ACTIVATION_TOKEN")
        XCTAssertEqual(try activate(server, hash, XCTUnwrap(event["activateKey"] as? String)).status, 200)
        XCTAssertEqual(try share(server, again), 200)
    }

    func testABackEndThatRefusesOrFails() async throws {
        for (status, expected) in [(400, 403), (404, 403), (500, 500), (302, 500)] {
            let backEnd = try backEnd(status)
            defer { backEnd.stop() }
            let server = try await server(backEnd.url)
            XCTAssertEqual(try begin(server).status, expected, "\(status)")
        }
        let server = try await server("http://127.0.0.1:1/")
        XCTAssertEqual(try begin(server).status, 500, "nobody listens")
    }

    /// The link of a mail is good for the users of projects whose users a mail verifies, and for nothing else.
    func testAKeyOfAMailConfirmsNothingHere() async throws {
        let server = try await InProcess.trust(self)
        let begun = try begin(server)
        let id = try XCTUnwrap(Hex.decode(begun.object["mpinId"] as? String ?? ""))
        let link = try XCTUnwrap(URLComponents(string: server.backend.link(to: user))?.queryItems)
        let key = try XCTUnwrap(link.first { $0.name == "s" }?.value).prefix(64)
        let refused = try activate(server, Hex.encode(SHA256.hash(id)), String(key))
        XCTAssertEqual(refused.code, "INVALID_ACTIVATION_TOKEN", refused.text)
        XCTAssertEqual(try share(server, begun), 401)
    }

    /// A token of this kind would be an ID token to an OpenID client with the project's id.
    func testAProjectWithTheIDOfAClient() async throws {
        let backEnd = try backEnd()
        defer { backEnd.stop() }
        let server = try await InProcess.trust(
            self, clients: #"- {id: proj-1, redirect-uri: ["https://app.example/cb"], auth-method: none}"#,
            { $0.newUserURL = backEnd.url })
        XCTAssertEqual(try begin(server).status, 500)
        XCTAssertTrue(backEnd.received.isEmpty)
    }
}
