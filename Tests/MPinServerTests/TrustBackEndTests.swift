import Foundation
import MPinSecrets
import MPinServer
import MPinService
import MPinWire
import XCTest

/// Tests what the back ends of projects may do: verify users, revoke identities, read their audit log (TRUST wire sections
/// 6.1 and 6.3).
final class TrustBackEndTests: XCTestCase {
    private let user = "alice@example.com"

    private func code(_ url: String?) throws -> String {
        let members = try XCTUnwrap(URLComponents(string: url ?? "")?.queryItems)
        XCTAssertEqual(members.first { $0.name == "user_id" }?.value, user)
        return try XCTUnwrap(members.first { $0.name == "code" }?.value)
    }

    func testABackEndVerifiesItsUsers() async throws {
        let server = try await InProcess.trust(self, { $0.linkURL = "https://app.example/x" })
        let client = TrustClient(backend: server.backend)
        let bearer = "Bearer " + (try await server.serviceToken())
        func verify(_ more: [String: Any] = [:], _ authorization: String?) throws -> Answer {
            let body: [String: Any] = ["projectId": "proj-1", "userId": user, "deviceName": "x", "delivery": "no"]
            return try client.call("POST", "/verification", body.merging(more) { $1 }, authorization: authorization)
        }
        XCTAssertEqual(try verify([:], nil).code, "UNAUTHORIZED")
        let url = try verify(["accessId": "abc"], bearer).object["verificationURL"] as? String
        XCTAssertTrue(url?.hasPrefix("https://app.example/x/verification/confirmation?") ?? false, url ?? "")
        let confirmed = try client.confirm(user, code(url)).object
        XCTAssertEqual(confirmed["accessId"] as? String, "abc")
        let token = try XCTUnwrap(confirmed["actToken"] as? String)
        let device = try client.register(user, token: token)
        XCTAssertEqual(device.answer.verificationType, "fullCustom")
        XCTAssertTrue(String(decoding: Hex.decode(device.id) ?? [], as: UTF8.self).contains(#""vt":"pv""#))
        XCTAssertEqual(try client.login(device).status, 200)
        XCTAssertEqual(try client.confirm(user, code(url)).code, "UNSUCCESSFUL_VERIFICATION", "used")
        let soon = try code(
            verify(["expiration": server.now.seconds + 100], bearer).object["verificationURL"] as? String)
        server.advance(seconds: 101)
        XCTAssertEqual(try client.confirm(user, soon).code, "UNSUCCESSFUL_VERIFICATION", "expired")
        let now = server.now.seconds
        for end in [now - 1, now + 31 * 86_400, -1, Int64(1) << 40] {
            XCTAssertEqual(try verify(["expiration": end], bearer).context["params"], "expiration", "\(end)")
        }
        XCTAssertEqual(try verify(["delivery": "yes"], bearer).context["params"], "delivery")
        XCTAssertEqual(try verify(["userId": ""], bearer).context["params"], "userId")
        _ = try await server.projects().add("other", ProjectChange())
        XCTAssertEqual(try verify(["projectId": "other"], bearer).code, "FORBIDDEN")
    }

    func testABackEndBeginsARegistration() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let bearer = "Bearer " + (try await server.serviceToken())
        func initiate() throws -> TrustInitiationResponse {
            try client.call(
                "POST", "/activate/initiate", ["userId": user, "deviceName": "x"], authorization: bearer
            ).json()
        }
        let begun = try initiate()
        XCTAssertEqual(begun.hashMPinId, Hex.encode(SHA256.hash(Hex.decode(begun.mpinId) ?? [])))
        XCTAssertEqual(Double(begun.expireTime), Double(server.now.seconds + 3600), accuracy: 5)
        let key = try TrustClient.KeyPair().publicKey
        XCTAssertEqual(try client.enrol("bob@example.com", begun.actToken, key).code, "INVALID_ACTIVATION_TOKEN")
        let device = try client.register(user, token: begun.actToken)
        XCTAssertEqual(device.id, begun.mpinId)
        XCTAssertEqual(try client.login(device).status, 200)
        XCTAssertEqual(try client.enrol(user, begun.actToken, key).code, "INVALID_ACTIVATION_TOKEN", "used")
        let late = try initiate()
        server.advance(seconds: 3601)
        XCTAssertEqual(try client.enrol(user, late.actToken, key).code, "INVALID_ACTIVATION_TOKEN", "expired")
    }

    /// The user id of a custom verification may be a mail address, but no mail has proved it.
    func testACustomVerificationProvesNoMailAddress() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let bearer = "Bearer " + (try await server.serviceToken())
        let made = try client.call("POST", "/verification", ["userId": user], authorization: bearer).object
        let confirmed = try client.confirm(user, code(made["verificationURL"] as? String))
        _ = try client.register(user, token: XCTUnwrap(confirmed.object["actToken"] as? String))
        func lines(_ user: String) async throws -> [String]? {
            let database = server.backend.stateFolder + "/rps.sqlite"
            return try await ProfileAdministration(database: ServiceDatabase(database), audit: .off).show(user)?.lines
        }
        let nobody = try await lines(user)
        XCTAssertNil(nobody)
        _ = try client.register(user)
        let own = try await lines(user)
        XCTAssertEqual(own?.contains("email-verified: true"), true, "\(own ?? [])")
        let theirs = try await lines("proj-1/" + user)
        XCTAssertEqual(theirs, ["user: proj-1/" + user])
    }

    func testABackEndRevokesIdentitiesOfItsProject() async throws {
        let server = try await InProcess.trust(self)
        _ = try await server.projects().add("other", ProjectChange())
        let client = TrustClient(backend: server.backend)
        let (device, second) = (try client.register(user), try client.register("bob@example.com"))
        let bearer = "Bearer " + (try await server.serviceToken())
        let foreign = "Bearer " + (try await server.serviceToken(project: "other"))
        func revoke(_ project: String, _ id: String, _ authorization: String?) throws -> Answer {
            try client.call(
                "POST", "/api/v1/projects/\(project)/mpinids/\(id)/revocation", ["reason": "lost \"phone\""],
                authorization: authorization)
        }
        XCTAssertEqual(try revoke("proj-1", device.id, nil).status, 401)
        XCTAssertEqual(try revoke("proj-1", device.id, foreign).status, 403)
        XCTAssertEqual(try revoke("other", device.id, foreign).status, 404)
        XCTAssertEqual(try revoke("proj-1", "7b7d", bearer).status, 404)
        XCTAssertEqual(try revoke("proj-1", "xyz", bearer).status, 404)
        XCTAssertEqual(try client.login(device).status, 200)
        let proof = try client.prove(device)
        for _ in 0..<2 {
            let answer = try revoke("proj-1", device.id, bearer)
            XCTAssertEqual([String(answer.status), answer.text], ["200", "{}"])
        }
        XCTAssertEqual(try client.post("/rps/v2/authenticate", proof).code, "REVOKED_MPINID")
        XCTAssertEqual(try client.login(second).status, 200)
        let states = try await server.users().find(user: user).map(\.state)
        XCTAssertEqual(states, ["revoked"])
        let log = try String(contentsOfFile: server.backend.stateFolder + "/audit/audit.jsonl", encoding: .utf8)
        XCTAssertTrue(log.contains(#""reason":"lost \"phone\"""#), log)
    }

    func testABackEndReadsTheAuditLogOfItsProjectOnly() async throws {
        let server = try await InProcess.trust(self)
        _ = try await server.projects().add("other", ProjectChange())
        let client = TrustClient(backend: server.backend)
        let other = TrustClient(backend: server.backend, project: "other")
        let (device, foreign) = (try client.register(user), try other.register("eve@example.com"))
        XCTAssertEqual(try client.login(device, pin: "1235").status, 401)
        XCTAssertEqual(try client.login(device).status, 200)
        XCTAssertEqual(try other.login(foreign).status, 200)
        let bearer = "Bearer " + (try await server.serviceToken())
        func page(_ query: String) throws -> (events: [[String: Any]], cursor: String) {
            let answer = try client.call("GET", "/api/v1/projects/proj-1/audit" + query, authorization: bearer).object
            return (
                try XCTUnwrap(answer["events"] as? [[String: Any]]), try XCTUnwrap(answer["cursor"] as? String)
            )
        }
        let all = try page("")
        XCTAssertEqual(all.events.map { $0["event"] as? String }, ["registered", "login", "login"])
        XCTAssertEqual(all.events.map { $0["user"] as? String }, [user, user, user])
        XCTAssertEqual(all.events.compactMap { $0["status"] as? String }, ["401", "200"])
        XCTAssertNil(all.events.first?["mac"])
        let first = try page("?limit=1")
        XCTAssertEqual(first.events.count, 1)
        let rest = try page("?limit=5&cursor=" + first.cursor)
        XCTAssertEqual(rest.events.map { $0["event"] as? String }, ["login", "login"])
        XCTAssertEqual(try page("?cursor=" + rest.cursor).events.count, 0)
        XCTAssertEqual(try client.login(device).status, 200)
        XCTAssertEqual(try page("?cursor=" + rest.cursor).events.count, 1)
        for query in ["?cursor=0", "?cursor=x", "?limit=0", "?limit=501"] {
            let refused = try client.call("GET", "/api/v1/projects/proj-1/audit" + query, authorization: bearer)
            XCTAssertEqual(refused.status, 400, query)
        }
        XCTAssertEqual(try client.call("GET", "/api/v1/projects/other/audit", authorization: bearer).status, 403)
        XCTAssertEqual(try client.call("GET", "/api/v1/projects/proj-1/audit", authorization: nil).status, 401)
    }

    func testTheProjectOfAURLCanBeAskedFor() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        func id(_ query: String = "", _ headers: [String: String] = [:]) throws -> Answer {
            try client.get("/.well-known/project-configuration" + query, headers: headers)
        }
        XCTAssertEqual(try id().object as? [String: String], ["id": "proj-1"])
        // That of the server's own pages is no second one.
        _ = try await server.projects().add("browser", ProjectChange())
        XCTAssertEqual(try id().object as? [String: String], ["id": "proj-1"])
        _ = try await server.projects().add("other", ProjectChange())
        XCTAssertEqual(try id().status, 400)
        XCTAssertEqual(try id("?project_id=other").object["id"] as? String, "other")
        XCTAssertEqual(try id("", ["X-MIRACL-CID": "proj-1"]).object["id"] as? String, "proj-1")
        XCTAssertEqual(try id("?project_id=none").status, 400)
    }
}
