import Foundation
import MPinCrypto
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import MPinWire
import XCTest

/// Tests the D-TA's endpoints and its master share (wire section 9).
final class TrustAuthorityTests: XCTestCase {
    private let zero = String(repeating: "0", count: 64)

    func testTheStatusTellsWhenTheShareWasMade() throws {
        let server = try InProcess()
        let answer = try server.backend.call("GET", "/status", port: server.backend.dta1Port)
        XCTAssertEqual(answer.object["service_name"] as? String, "D-TA server")
        let start = try XCTUnwrap(answer.object["startTime"] as? [String])
        XCTAssertEqual(start.count, 1)
        XCTAssertNotNil(Moment(start[0]))
    }

    func testEachAuthorityGivesTheRPSAShareOfItsOwn() throws {
        let server = try InProcess()
        let expires = server.now.adding(seconds: 60).iso
        let (port1, port2) = (server.backend.dta1Port, server.backend.dta2Port)
        let answers = [
            try serverSecret(server, "dta1", port1, expires), try serverSecret(server, "dta2", port2, expires),
        ]
        XCTAssertEqual(answers.map(\.status), [200, 200])
        let first: ServerSecretResponse = try answers[0].json()
        let second: ServerSecretResponse = try answers[1].json()
        XCTAssertNotEqual(first.serverSecret, second.serverSecret)
        XCTAssertEqual(answers[0].headers["cache-control"], "no-store")
        XCTAssertEqual(try serverSecret(server, "dta1", port2, expires).status, 401, "the other one's key")
        let (one, two) = (first.serverSecret.secret, second.serverSecret.secret)
        let sum = try output(MPinSize.g2) { sum throws(MPinError) in
            try Shares.recombineG2(one.span, two.span, into: &sum)
        }
        _ = try ServerContext(serverSecret: sum.span)
    }

    /// Somebody who has stolen the RPS's keys can fetch secrets from the D-TAs. Only the D-TAs' audit logs would show
    /// it.
    func testEachAuthorityRecordsTheSecretsThatItGives() throws {
        let server = try InProcess().keep(in: self)
        let alice = try TestClient(backend: server.backend).register("alice@example.com", pin: "1234")
        let text = try String(contentsOfFile: server.backend.stateFolder + "/audit/audit.jsonl", encoding: .utf8)
        let lines = try text.split(separator: "\n").map {
            try XCTUnwrap(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }.filter { $0["event"] as? String == "share" }
        for part in ["dta1", "dta2"] {
            let own = lines.filter { $0["part"] as? String == part }
            XCTAssertEqual(own.map { $0["of"] as? String }, ["server-secret", "client-secret"], part)
            XCTAssertEqual(own.map { $0["key_id"] as? String }, ["1", "1"])
            XCTAssertEqual(own.map { $0["identity"] as? String }, [nil, Hex.encode(alice.hash)])
            XCTAssertEqual(own.map { $0["from"] as? String }, ["127.0.0.1", "127.0.0.1"])
        }
    }

    /// Whoever has the RPS's key could name one identity and have another one multiplied; or a permit, or a blinded point,
    /// instead of the hash of an identity. The line has what was multiplied, which no RPS has registered.
    func testTheLogHasWhatWasMultipliedAndAComparisonFindsWhatNobodyRegistered() throws {
        let server = try InProcess().keep(in: self)
        let alice = try TestClient(backend: server.backend).register("alice@example.com", pin: "1234")
        let state = server.backend.stateFolder
        let key = try KeyFile.load(state + "/rps-dta2.key")
        let places: [(server: String, place: AuditPlace)] = [("here", try AuditPlace(stateDir: state))]
        let before = try AuditComparison(places)
        XCTAssertEqual([before.shares, before.registrations, before.findings.count], [2, 1, 0])
        let expires = server.now.adding(seconds: 60).iso
        func ask(_ path: String, _ message: SignedMessage, _ hash: String, _ more: String) throws -> Int {
            let target =
                "\(path)?app_id=a&key_id=1&hash_mpin_id=\(hash)&expires=\(escape(expires))\(more)"
                + "&signature=\(message.signature(key: key))"
            return try server.backend.call("GET", target, port: server.backend.dta2Port).status
        }
        func keyed(_ hash: String, _ identity: String) throws -> Int {
            let message = SignedMessage.keyedSecret(
                appID: "a", keyID: "1", hashID: hash, identity: identity, expires: expires)
            return try ask("/dvsClientSecret", message, hash, "&identity=\(escape(identity))")
        }
        let own = Hex.encode(alice.hash)
        let point = Hex.encode(SHA256.hash(Array("the x of a blinded point".utf8)))
        for identity in ["", "alice", own + "00", String(repeating: "g", count: 64)] {
            XCTAssertEqual(try keyed(point, identity), 403, identity)
        }
        XCTAssertEqual(try keyed(point, own), 200)
        let date = withUnsafeBytes(of: server.now.day.bigEndian) { Array($0) }
        let permit = Hex.encode(SHA256.hash(date + alice.hash))
        let message = SignedMessage.clientSecret(
            appID: "a", keyID: "1", hashID: permit, hashUser: "", expires: expires)
        XCTAssertEqual(try ask("/clientSecret", message, permit, "&hash_user_id="), 200)
        let found = try AuditComparison(places)
        XCTAssertEqual(found.shares, 4)
        XCTAssertEqual(found.findings.map(\.hash), [point, permit])
        let compared = try Mpind.run(["audit", "compare", "--server", state])
        XCTAssertEqual(compared.code, 2, compared.error)
        XCTAssertTrue(compared.output.contains(permit), compared.output)
        XCTAssertTrue(compared.output.hasSuffix("4 shares and 1 registrations, 2 findings\n"), compared.output)
    }

    func testTheSignatureIsCheckedBeforeTheTimeAndTheTimeIsBounded() throws {
        let server = try InProcess()
        let port = server.backend.dta1Port
        func status(_ expires: String) throws -> Int { try serverSecret(server, "dta1", port, expires).status }
        XCTAssertEqual(try status(server.now.adding(seconds: 299).iso), 200)
        XCTAssertEqual(try status(server.now.adding(seconds: 310).iso), 403, "too far ahead")
        XCTAssertEqual(try status(server.now.adding(seconds: -2).iso), 408)
        for unreadable in ["xx", "2036-11-18", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+00:00"] {
            XCTAssertEqual(try status(unreadable), 403, unreadable)
        }
        let past = escape(server.now.adding(seconds: -100).iso)
        let unsigned = "/serverSecret?app_id=a&expires=\(past)&signature=\(zero)"
        XCTAssertEqual(try server.backend.call("GET", unsigned, port: port).status, 401)
    }

    func testTheClientSecretQueryIsGoodForAMinuteAtItsAuthorityOnly() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        try client.confirm("alice@example.com")
        let params: String = try client.signature(registration).json(SignatureResponse.self).params
        func status(_ port: Int) throws -> Int {
            try server.backend.call("GET", "/clientSecret?" + params, port: port).status
        }
        XCTAssertEqual(try status(server.backend.dta2Port), 200)
        XCTAssertEqual(try status(server.backend.dta1Port), 401, "each D-TA has a key of its own")
        server.advance(seconds: 61)
        XCTAssertEqual(try status(server.backend.dta2Port), 408)
    }

    /// Wire section 17, defect 7: in Milagro's server, a permit signature never expired, and gave permits for any
    /// number of days at /timePermits.
    func testAPermitSignatureIsGoodForItsDayAndForNothingElse() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let user = try client.register("alice@example.com", pin: "1234")
        let first: RPSTimePermitResponse = try server.backend.call("GET", "/rps/timePermit/" + user.id).json()
        let arguments = "?hash_mpin_id=\(first.storageId)&signature=\(first.signature)"
        let port = server.backend.dta2Port
        XCTAssertEqual(try server.backend.call("GET", "/timePermit" + arguments, port: port).status, 200)
        for count in [1, 14, 400] {
            let expires = escape(server.now.adding(seconds: 60).iso)
            let target = "/timePermits" + arguments + "&count=\(count)&expires=\(expires)"
            XCTAssertTrue([401, 403].contains(try server.backend.call("GET", target, port: port).status))
        }
        XCTAssertEqual(
            try server.backend.call("GET", "/timePermit" + arguments, port: server.backend.dta1Port).status, 401)
        server.advance(seconds: Int(86_400 - server.now.seconds % 86_400) + 3600)
        XCTAssertEqual(try server.backend.call("GET", "/timePermit" + arguments, port: port).status, 401)
    }

    func testThePermitsOfSeveralDaysAreForTheRPS() throws {
        let server = try InProcess()
        let key = try KeyFile.load(server.backend.stateFolder + "/rps-dta1.key")
        func permits(_ count: Int, _ expires: String) throws -> Answer {
            let message = SignedMessage.timePermits(keyID: "1", hashID: zero, count: count, expires: expires)
            let target = "/timePermits?hash_mpin_id=\(zero)&count=\(count)&key_id=1&expires=\(escape(expires))"
            return try server.backend.call(
                "GET", target + "&signature=" + message.signature(key: key), port: server.backend.dta1Port)
        }
        let soon = server.now.adding(seconds: 60).iso
        let days = try permits(3, soon).json(TimePermitsResponse.self).timePermits
        XCTAssertEqual(days.keys.sorted(), (0..<3).map { String(server.now.day + $0) })
        XCTAssertEqual(Set(days.values).count, 3)
        XCTAssertEqual(try permits(0, soon).json(TimePermitsResponse.self).timePermits, [:])
        XCTAssertEqual(try permits(15, soon).status, 403)
        XCTAssertEqual(try permits(-1, soon).status, 403)
        XCTAssertEqual(try permits(1, server.now.adding(seconds: -10).iso).status, 408)
    }

    /// A D-TA whose file contains the sealed master share of wire section 16 must give the values of that section.
    func testKnownSharesComeOutOfAKnownMasterShare() throws {
        let authority = try LoneAuthority(at: "2026-11-21T02:36:19Z")
        defer { authority.stop() }
        let expires = "2026-11-21T02:37:19Z"
        let signature = SignedMessage.clientSecret(
            appID: "a", keyID: "1", hashID: Section16.hash, hashUser: "", expires: expires
        ).signature(key: authority.requestKey)
        let secret = try authority.get(
            "/clientSecret?app_id=a&key_id=1&hash_mpin_id=\(Section16.hash.uppercased())&hash_user_id="
                + "&expires=\(escape(expires))&signature=\(signature.uppercased())")
        XCTAssertEqual(secret.object["clientSecret"] as? String, Section16.clientShare)
        XCTAssertEqual(secret.object["keyID"] as? String, "1")
        let permit = SignedMessage.timePermit(keyID: "1", hashID: Section16.hash, date: 20_778)
            .signature(key: authority.requestKey)
        let answer = try authority.get("/timePermit?hash_mpin_id=\(Section16.hash)&signature=\(permit)")
        XCTAssertEqual(answer.object["timePermit"] as? String, Section16.permitShare)
        let server = SignedMessage.serverSecret(appID: "a", keyID: "1", expires: expires)
            .signature(key: authority.requestKey)
        let share = try authority.get(
            "/serverSecret?app_id=a&key_id=1&expires=\(escape(expires))&signature=\(server)")
        XCTAssertEqual(share.object["serverSecret"] as? String, Section16.serverShare)
        XCTAssertEqual(share.object["startTime"] as? String, LoneAuthority.startTime)
    }

    private func serverSecret(_ server: InProcess, _ name: String, _ port: Int, _ expires: String) throws -> Answer {
        let key = try KeyFile.load(server.backend.stateFolder + "/rps-\(name).key")
        let signature = SignedMessage.serverSecret(appID: "a", keyID: "1", expires: expires).signature(key: key)
        let target = "/serverSecret?app_id=a&key_id=1&expires=\(escape(expires))&signature=\(signature)"
        return try server.backend.call("GET", target, port: port)
    }

    private func escape(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
