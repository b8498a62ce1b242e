import Foundation
import MPinSecrets
import MPinServer
import MPinWire
import XCTest

/// Plays the recorded requests of MIRACL's MFA client of 2017 to our server, with fresh values. Each answer must have the
/// recorded status and the recorded members with their JSON types; an error must be text, as it was.
final class TrustMFATranscriptTests: XCTestCase {
    private static let clients = """
        - id: nfoztuxb5dpn4
          secret-sha256: \(String(repeating: "0", count: 64))
          first-party: true
          redirect-uri: ["https://mcl.demo.dev.miracl.net/oidc"]
          scope: [openid, profile, email]
        """

    func testTheRecordedRequestsGetTheAnswersThatTheyWereRecordedWith() async throws {
        let server = try await InProcess.trust(self, clients: Self.clients)
        let player = MFAPlayer(server: server)
        for exchange in try MFAPlayer.recording() { try player.play(exchange) }
        XCTAssertEqual(player.played, 101, "all but those of another service, and two without an answer")
    }
}

private final class MFAPlayer {
    struct Exchange {
        let number: Int
        let context: String
        let method: String
        let url: URLComponents
        let body: [String: Any]?
        let status: Int
        let answer: Any?

        var place: String { "\(number) \(method) \(url.path)" }
    }

    private let server: InProcess
    private let client: TrustClient
    private(set) var played = 0
    /// Fresh values by the recorded ones: access ids, M-Pin IDs and tokens.
    private var fresh: [String: String] = [:]
    private var devices: [String: TrustClient.Device] = [:]
    /// What the newest answer of the kind has left for the next request.
    private var params = ""
    private var firstShare: (id: String, share: SecretBytes)?
    private var begun: TrustClient.Begun?
    private var challenge: Answer?
    private var authOTT = ""

    init(server: InProcess) {
        self.server = server
        client = TrustClient(backend: server.backend)
    }

    static func recording() throws -> [Exchange] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/transcripts/mfa-recorded-2017.json")
        let content = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let contexts = try XCTUnwrap(content?["contexts"] as? [String: [[String: Any]]])
        return try contexts.flatMap { context, exchanges in
            try exchanges.map { exchange in
                let request = try XCTUnwrap(exchange["request"] as? [String: Any])
                let response = try XCTUnwrap(exchange["response"] as? [String: Any])
                return Exchange(
                    number: try XCTUnwrap(exchange["seq"] as? Int), context: context,
                    method: try XCTUnwrap(request["method"] as? String),
                    url: try XCTUnwrap(URLComponents(string: request["target"] as? String ?? "")),
                    body: request["body"] as? [String: Any], status: response["status"] as? Int ?? 0,
                    answer: response["body"])
            }
        }.sorted { $0.number < $1.number }
    }

    func play(_ exchange: Exchange) throws {
        guard exchange.status != 0, exchange.url.host?.hasSuffix("certivox.org") == false else { return }
        let answer = try send(exchange)
        XCTAssertEqual(answer.status, exchange.status, "\(exchange.place): \(answer.text)")
        compare(answer, exchange)
        try keep(answer, exchange)
        played += 1
    }

    private func send(_ exchange: Exchange) throws -> Answer {
        var path = exchange.url.percentEncodedPath
        if path.hasSuffix("/clientSecret") {
            return try server.backend.call("GET", "/clientSecret?" + params, port: server.backend.dta2Port)
        }
        // The first client of the recording had no id; here it has an unknown one, because without one it is Milagro's.
        let headers = ["X-MIRACL-CID": exchange.number == 1 ? "nobody" : "proj-1", "Content-Type": "application/json"]
        var query = exchange.url.percentEncodedQuery.map { "?" + $0 } ?? ""
        for (old, new) in fresh { (path, query) = (path.replacing(old, with: new), query.replacing(old, with: new)) }
        if path.hasPrefix("/rps/signature/"), let old = exchange.url.path.split(separator: "/").last {
            try TestClient(backend: server.backend).confirm(user(String(old)))
        }
        let body = try exchange.body.map { try JSONSerialization.data(withJSONObject: renewed($0, exchange)) }
        return try server.backend.call(exchange.method, path + query, body, headers: headers)
    }

    private func user(_ mpinID: String) throws -> String {
        let content = try JSONSerialization.jsonObject(with: Data(Hex.decode(mpinID) ?? [])) as? [String: Any]
        return try XCTUnwrap(content?["userID"] as? String)
    }

    /// The body with fresh values.
    private func renewed(_ recorded: [String: Any], _ exchange: Exchange) throws -> [String: Any] {
        var body = recorded.mapValues { value in (value as? String).flatMap { fresh[$0] } ?? value }
        switch exchange.url.path {
        case "/rps/pass1":
            let pin = exchange.context.firstMatch(of: /-(1111|2222|3333)-/).map { String($0.1) } ?? "1234"
            let device = try XCTUnwrap(devices[recorded["mpin_id"] as? String ?? ""], exchange.place)
            let begun = try client.begin(device, pin: pin, scope: "")
            self.begun = begun
            body["U"] = begun.body["U"]
        case "/rps/pass2":
            let proof = try client.pass2Body(XCTUnwrap(begun), XCTUnwrap(challenge), wid: nil)
            body["V"] = proof["V"]
        case "/rps/authenticate": body["mpinResponse"] = ["authOTT": authOTT]
        default: break
        }
        return body
    }

    private func compare(_ answer: Answer, _ exchange: Exchange) {
        guard let recorded = exchange.answer as? [String: Any] else {
            XCTAssertTrue(exchange.answer is String, exchange.place)
            XCTAssertEqual(answer.headers["content-type"], "text/plain; charset=utf-8", exchange.place)
            return
        }
        var own = answer.object
        // Our own member about who has opened a session.
        if exchange.url.path.hasSuffix("/codeStatus") { own["siteAddress"] = nil }
        // The provider and the D-TAs also have other clients, who need more members.
        let isShared = exchange.url.path == "/authorize" || exchange.url.path.hasSuffix("/clientSecret")
        XCTAssertEqual(
            Set(own.keys).intersection(isShared ? Set(recorded.keys) : Set(own.keys)), Set(recorded.keys),
            exchange.place)
        for (name, value) in recorded {
            XCTAssertEqual(Self.kind(own[name]), Self.kind(value), "\(exchange.place): \(name)")
        }
        if let status = recorded["status"] as? Int { XCTAssertEqual(own["status"] as? Int, status, exchange.place) }
    }

    private static func kind(_ value: Any?) -> String {
        switch value {
        case is String: "text"
        case is NSNumber: "number"
        default: "nothing"
        }
    }

    /// Keeps what later requests need.
    private func keep(_ answer: Answer, _ exchange: Exchange) throws {
        let recorded = exchange.answer as? [String: Any] ?? [:]
        for name in ["mpinId", "regOTT"] {
            if let old = recorded[name] as? String { fresh[old] = answer.object[name] as? String }
        }
        if let old = recorded["qrURL"] as? String, let new = answer.object["qrURL"] as? String {
            fresh[old.components(separatedBy: "#")[1]] = new.components(separatedBy: "#").last
        }
        if exchange.url.path.hasPrefix("/rps/signature/") {
            let first: SignatureResponse = try answer.json()
            params = first.params
            firstShare = (exchange.url.path.components(separatedBy: "/").last ?? "", first.clientSecretShare.secret)
        }
        if exchange.url.path.hasSuffix("/clientSecret"), let (old, share) = firstShare, let id = fresh[old] {
            let second: ClientSecretResponse = try answer.json()
            devices[old] = try client.device(id, [share, second.clientSecret.secret], nil)
        }
        if exchange.url.path == "/rps/pass1" { challenge = answer }
        if exchange.url.path == "/rps/pass2" { authOTT = answer.object["authOTT"] as? String ?? "" }
    }
}
