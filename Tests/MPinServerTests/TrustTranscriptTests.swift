import Foundation
import MPinSecrets
import MPinServer
import MPinWire
import XCTest

/// Plays the recorded requests of a browser client of MIRACL Trust to our server, with fresh values. The requests have
/// its headers and members. Each answer must have the recorded status and error, and exactly the recorded members with
/// the recorded JSON types.
final class TrustTranscriptTests: XCTestCase {
    private static let user = "alice@example.com"
    private static let clients = """
        - {id: rp, redirect-uri: ["http://127.0.0.1:9/login"], first-party: true, auth-method: none}
        """
    private static let query =
        "client_id=rp&redirect_uri=http://127.0.0.1:9/login&response_type=code&scope=openid%20email&state=st"
        + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"

    private struct Player {
        let client: TrustClient

        private func exchange(_ flow: String, _ target: String, _ number: Int) throws -> (
            request: [String: Any], response: [String: Any]
        ) {
            let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("Vectors/transcripts")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            let name = try XCTUnwrap(names.first { $0.hasPrefix("trust-\(flow)-") })
            let content = try JSONSerialization.jsonObject(with: Data(contentsOf: folder.appendingPathComponent(name)))
            let exchanges = try XCTUnwrap((content as? [String: Any])?["exchanges"] as? [[String: Any]])
            let found = exchanges.filter {
                (($0["request"] as? [String: Any])?["target"] as? String)?.hasPrefix(target) ?? false
            }
            guard found.indices.contains(number), let request = found[number]["request"] as? [String: Any],
                let response = found[number]["response"] as? [String: Any]
            else { throw Sockets.Failure(text: "\(flow) has no \(target) \(number)") }
            return (request, response)
        }

        /// Sends the request with this number of a flow to `target`. `fresh` are the values of its members that were
        /// others when it was recorded; all other members have the recorded values.
        @discardableResult
        func play(
            _ flow: String, _ target: String, as old: String? = nil, _ number: Int = 0, _ fresh: [String: Any] = [:]
        ) throws -> Answer {
            let (request, response) = try exchange(flow, old ?? target, number)
            let place = "\(flow) \(target) \(number)"
            var headers = request["headers"] as? [String: Any] ?? [:]
            headers["Content-Length"] = nil
            let answer: Answer
            if request["method"] as? String == "GET" {
                answer = try client.get(target, headers: headers.mapValues { "\($0)" })
            } else {
                let body = try XCTUnwrap(request["body"] as? [String: Any])
                XCTAssertEqual(Set(fresh.keys).subtracting(body.keys), [], place)
                answer = try client.post(
                    target, body.merging(fresh) { $1 }, headers: headers.mapValues { "\($0)" })
            }
            XCTAssertEqual(answer.status, response["status"] as? Int, "\(place): \(answer.text)")
            compare(answer.object, response["body"] as? [String: Any] ?? [:], place)
            return answer
        }

        private func compare(_ own: [String: Any], _ recorded: [String: Any], _ place: String) {
            XCTAssertEqual(Set(own.keys), Set(recorded.keys), place)
            XCTAssertEqual(own["error"] as? String, recorded["error"] as? String, place)
            for (name, value) in recorded { XCTAssertEqual(kind(own[name]), kind(value), "\(place): \(name)") }
            if let context = recorded["context"] as? [String: Any] {
                compare(own["context"] as? [String: Any] ?? [:], context, place + " context")
            }
        }

        private func kind(_ value: Any?) -> String {
            switch value {
            case is String: "text"
            case is NSNumber: "number"
            case is [Any]: "list"
            case is [String: Any]: "object"
            default: "nothing"
            }
        }

        /// Registers by the requests of a flow.
        func register(_ flow: String, _ user: String, _ more: [String: Any] = [:]) throws -> TrustClient.Device {
            let wish = ["userId": user].merging(more) { $1 }
            try play(flow, "/verification/email", 0, wish)
            let code = try client.code(user)
            let confirmed = try play(flow, "/verification/confirmation", 0, ["userId": user, "code": code])
            return try enrol(flow, user, XCTUnwrap(confirmed.object["actToken"] as? String))
        }

        /// Registers with a token by the requests of a flow.
        func enrol(_ flow: String, _ user: String, _ token: String) throws -> TrustClient.Device {
            let keys = try TrustClient.KeyPair()
            let body = ["userId": user, "activationToken": token, "publicKey": Hex.encode(keys.publicKey)]
            let answer: TrustRegistrationResponse = try play(flow, "/registration", 0, body).json()
            XCTAssertEqual(answer.verificationType, "standardEmail")
            for (index, url) in answer.secretUrls.enumerated() { try play(flow, url, as: "/dta/\(index)/") }
            return try client.finish(answer, keys, pin: "1234")
        }

        /// Logs in by the requests of a flow, beginning with its pass 1 of this number. Only the first answer after the
        /// passes is returned.
        @discardableResult
        func logIn(
            _ flow: String, _ device: TrustClient.Device, pin: String = "1234", _ number: Int = 0,
            scope: String = "jwt",
            wid: String? = nil
        ) throws -> Answer {
            let begun = try client.begin(device, pin: pin, scope: scope)
            let first = try play(flow, "/rps/v2/pass1", number, begun.body)
            let body = try client.pass2Body(begun, first, wid: wid)
            let second = try play(flow, "/rps/v2/pass2", number, body)
            return try play(
                flow, "/rps/v2/authenticate", number, ["authOTT": second.object["authOTT"] as? String ?? ""])
        }
    }

    func testTheRecordedRequestsGetTheAnswersThatTheyWereRecordedWith() async throws {
        let server = try await InProcess.trust(self, clients: Self.clients)
        let player = Player(client: TrustClient(backend: server.backend))
        try player.play("01", "/verification/email", 0, ["userId": "first@example.com"])
        try player.play("02", "/verification/confirmation", 0, ["userId": "first@example.com"])
        let device = try player.register("03", Self.user)
        server.advance(seconds: 300)
        let second = try player.register("04", Self.user, ["mpinId": device.id])
        XCTAssertNotEqual(device.id, second.id)
        try player.play("04", "/registration", 1, ["userId": Self.user])
        try player.logIn("05", device)
        try player.logIn("06", device, pin: "9999")
        try player.logIn("06", device, 1)
        try session(server, player, device)
        let jwt = try XCTUnwrap(player.logIn("08", device, scope: "reg-code").object["jwt"] as? String)
        let code = try player.play("08", "/verification/quickcode", 0, ["jwt": jwt]).object["code"] as? String
        try player.logIn("08", player.enrol("08", Self.user, XCTUnwrap(code)), 1)
        try player.logIn("09", device, scope: "dvs-auth")
        try player.play("11", "/pushauth?client_id=rp", as: "/pushauth")
        try player.play("12", "/verification/email", 0)
        try player.play("12", "/verification/email", 1)
        _ = try await server.users().change(.renew, user: Self.user, identity: device.key, audit: .off)
        let renewal = try player.logIn("10", device).renewalToken
        try player.logIn("10", player.enrol("10", Self.user, XCTUnwrap(renewal)), 1)
        for number in 0..<3 { try player.logIn("13", second, pin: "9999", number) }
        try player.play("13", "/rps/v2/pass1", 3, player.client.begin(second, pin: "1234", scope: "jwt").body)
        try player.play("14", "/rps/v2/session?project_id=proj-1", 0)
    }

    /// A session of an OpenID client ends with the redirect to it, as it was recorded; one of the project's own page
    /// tells the user only.
    private func session(_ server: InProcess, _ player: Player, _ device: TrustClient.Device) throws {
        try player.play("07", "/rps/v2/session", 0, ["userId": Self.user])
        let opened = try player.client.post("/authorize?" + Self.query, [:])
        let webOTT = try XCTUnwrap(opened.object["webOTT"] as? String, opened.text)
        let wid = try XCTUnwrap(opened.object["accessId"] as? String)
        let before = try player.play("07", "/rps/v2/access", 0, ["webOTT": webOTT])
        XCTAssertEqual(before.object["status"] as? String, "new")
        try player.logIn("07", device, scope: "oidc", wid: wid)
        let after = try player.play("07", "/rps/v2/access", 1, ["webOTT": webOTT])
        XCTAssertEqual(after.object["status"] as? String, "authenticated")
        let url = try XCTUnwrap(after.object["redirectURL"] as? String)
        XCTAssertTrue(
            url.hasPrefix("http://127.0.0.1:9/login?") && url.contains("code=") && url.contains("state=st"), url)
    }
}
