import Foundation
import LoopbackServer
import MPinSecrets
import MPinServer
import MPinService
import MPinWire
import XCTest

/// Tests that signatures of Milagro's programs (wire section 5) are accepted only with an option.
final class LegacySignatureTests: XCTestCase {
    private let credentials = LegacyCredentials(
        appID: "c0ffee00c98e11e4b69d02547e1fd4a1",
        appKey: SecretBytes(copying: Array("9d1f3a5b7c2e4f60818a9bacbdcedff0".utf8).span))

    /// Returns the recorded requests of Milagro's RPS and of Milagro's client to a D-TA, unchanged.
    private func recorded() throws -> [(method: String, target: String, status: Int, answer: [String: Any])] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/transcripts/std-50-dta.json")
        let content = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        return try XCTUnwrap(content?["exchanges"] as? [[String: Any]]).map { exchange in
            let request = try XCTUnwrap(exchange["request"] as? [String: Any])
            let response = try XCTUnwrap(exchange["response"] as? [String: Any])
            return (
                try XCTUnwrap(request["method"] as? String), try XCTUnwrap(request["target"] as? String),
                try XCTUnwrap(response["status"] as? Int), response["body"] as? [String: Any] ?? [:]
            )
        }
    }

    func testRecordedRequestsOfOldProgramsAreAnsweredAsTheyWere() throws {
        let authority = try LoneAuthority(at: "2026-11-21T02:44:14Z", legacy: credentials)
        defer { authority.stop() }
        var answered = 0
        for (method, target, status, members) in try recorded() {
            let answer = try authority.call(method, target)
            // These requests have an unreadable time, a time ten years ahead, or a negative count. Milagro's D-TA
            // failed or accepted them; ours refuses them.
            if target.contains("expires=xx") || target.contains("2036") || target.contains("count=-1") {
                XCTAssertEqual(answer.status, 403, target)
                continue
            }
            XCTAssertEqual(answer.status, status, target)
            guard status == 200, method == "GET" else { continue }
            for member in members.keys { XCTAssertNotNil(answer.object[member], "\(target): \(member)") }
            answered += 1
        }
        XCTAssertEqual(answered, 8)
    }

    func testWithoutTheOptionTheSameRequestsAreRefused() throws {
        let authority = try LoneAuthority(at: "2026-11-21T02:44:14Z")
        defer { authority.stop() }
        for (method, target, status, _) in try recorded() where status == 200 && target.contains("signature=") {
            let answer = try authority.call(method, target)
            XCTAssertTrue([401, 403].contains(answer.status), "\(target): \(answer.status)")
        }
    }

    func testANewRequestIsServedBesideTheOldOnes() throws {
        let authority = try LoneAuthority(at: "2026-11-21T02:36:19Z", legacy: credentials)
        defer { authority.stop() }
        let permit = SignedMessage.timePermit(keyID: "1", hashID: Section16.hash, date: 20_778)
        for signature in [
            permit.signature(key: authority.requestKey),
            LegacyMessage.timePermit(hashID: Section16.hash).signature(key: credentials.appKey),
        ] {
            let answer = try authority.get("/timePermit?hash_mpin_id=\(Section16.hash)&signature=\(signature)")
            XCTAssertEqual(answer.object["timePermit"] as? String, Section16.permitShare)
        }
        for signature in [
            permit.signature(key: credentials.appKey),
            LegacyMessage.timePermit(hashID: Section16.hash).signature(key: authority.requestKey),
        ] {
            let answer = try authority.get("/timePermit?hash_mpin_id=\(Section16.hash)&signature=\(signature)")
            XCTAssertEqual(answer.status, 401, "each form has its own key")
        }
    }

    func testTheCredentialsFileIsForItsOwnerAndComplete() throws {
        let path = NSTemporaryDirectory() + "credentials-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        func load(_ text: String, mode: Int = 0o600) throws -> LegacyCredentials {
            try? FileManager.default.removeItem(atPath: path)
            _ = FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
            return try LegacyCredentials.load(path)
        }
        let good = "{\"app_id\": \"ab\", \"app_key\": \"9d1f3a5b7c2e4f60\", \"api_url\": \"http://x/\"}"
        XCTAssertEqual(try load(good).appID, "ab")
        XCTAssertEqual(try load(good).appKey.count, 16, "the key string as it stands, not its hex")
        XCTAssertThrowsError(try load(good, mode: 0o640))
        for bad in ["", "{}", "[]", "{\"app_id\": \"ab\"}", "{\"app_id\": \"ab\", \"app_key\": \"short\"}"] {
            XCTAssertThrowsError(try load(bad), bad)
        }
    }

    /// The RPS must sign as Milagro's RPS does, because the D-TAs of this test know only Milagro's credentials.
    func testAnRPSWorksWithAuthoritiesThatKnowTheOldFormOnly() throws {
        let backend = Backend.onFreePorts()
        let state = backend.stateFolder
        try makeFolder(state)
        defer { try? FileManager.default.removeItem(atPath: state) }
        for name in ["dta1", "dta2", "theirs", "ours", "rps"] { _ = try KeyFile.create("\(state)/\(name).key") }
        let file = state + "/credentials.json"
        _ = FileManager.default.createFile(
            atPath: file, contents: Data("{\"app_id\": \"ab\", \"app_key\": \"9d1f3a5b7c2e4f60\"}".utf8),
            attributes: [.posixPermissions: 0o600])
        let rpa = freePorts(2)
        let parts =
            try [("dta1", backend.dta1Port), ("dta2", backend.dta2Port)].map { name, port in
                try Mpind([
                    "dta", "--listen", "127.0.0.1:\(port)", "--database", "\(state)/\(name).sqlite", "--key-file",
                    "\(state)/\(name).key", "--rps-key-file", state + "/theirs.key", "--legacy-signatures", file,
                ])
            } + [
                try Mpind([
                    "rps", "--listen", "127.0.0.1:\(backend.port)", "--private-listen",
                    "127.0.0.1:\(backend.privatePort)", "--database", state + "/rps.sqlite", "--key-file",
                    state + "/rps.key", "--dta1-url", "http://127.0.0.1:\(backend.dta1Port)", "--dta1-key-file",
                    state + "/ours.key", "--dta2-url", "http://127.0.0.1:\(backend.dta2Port)", "--dta2-key-file",
                    state + "/ours.key", "--verify-url", "http://127.0.0.1:\(rpa[1])/mpinVerify", "--rpa-key-file",
                    state + "/ours.key", "--legacy-signatures", file,
                ]),
                Mpind([
                    "rpa", "--listen", "127.0.0.1:\(rpa[0])", "--private-listen", "127.0.0.1:\(rpa[1])",
                    "--rps-private-url", "http://127.0.0.1:\(backend.privatePort)", "--key-file", state + "/rps.key",
                    "--rps-key-file", state + "/ours.key", "--force-activate",
                ]),
            ]
        for part in parts { try part.waitUntilReady() }
        let client = TestClient(backend: backend)
        let user = try client.register("alice@example.com", pin: "1234")
        let pass2 = try client.pass2(client.pass1(user, pin: "1234", permit: client.timePermit(user)))
        let answer = try backend.call("POST", "/mpinAuthenticate", "{\"mpinResponse\":\(pass2.text)}", port: rpa[0])
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(try client.settings().appID, "ab")
        for part in parts.reversed() { XCTAssertEqual(part.stop(SIGTERM), 0) }
    }
}
