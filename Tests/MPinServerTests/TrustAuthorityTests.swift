import Foundation
import GRDB
import Logging
import MPinCrypto
import MPinSecrets
import MPinServer
import MPinWire
import XCTest

/// The D-TA's endpoints and its master share (wire section 9).
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

    /// Defect 7: a permit signature never expired and opened /timePermits for any number of days.
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
            let message = SignedMessage.timePermits(hashID: zero, count: count, expires: expires)
            let target = "/timePermits?hash_mpin_id=\(zero)&count=\(count)&expires=\(escape(expires))"
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

    /// The values of wire section 16 through the real D-TA: from a master share as it lies sealed in the file.
    func testKnownSharesComeOutOfAKnownMasterShare() throws {
        let scene = try Section16()
        let state = NSTemporaryDirectory() + "mpind-dta-" + UUID().uuidString
        try makeFolder(state)
        defer { try? FileManager.default.removeItem(atPath: state) }
        let seal = try SecretBytes.random(count: 32)
        let request = try SecretBytes.random(count: 32)
        let start = "2026-11-21T02:00:00Z"
        let clock = try XCTUnwrap(Moment("2026-11-21T02:36:19Z"))
        _ = try MasterShare.load(database: state + "/dta.sqlite", sealKey: seal, now: clock)
        let box = try SealedBox.seal(
            scene.master.span, key: seal, associatedData: Array("libmpin D-TA master share \(start)".utf8))
        try DatabaseQueue(path: state + "/dta.sqlite").write { db in
            try db.execute(sql: "UPDATE master_share SET sealed = ?, start_time = ?", arguments: [Data(box), start])
        }
        let port = Sockets.freePorts(1)[0]
        var config = TrustAuthorityConfig(
            name: "dta", listen: try ListenAddress(host: "127.0.0.1", port: port), database: state + "/dta.sqlite",
            sealKey: seal, requestKey: request)
        config.clock = { clock }
        let running = try Running(config)
        defer { running.stop() }

        let expires = "2026-11-21T02:37:19Z"
        let signature = SignedMessage.clientSecret(
            appID: "a", hashID: scene.hash, hashUser: "", expires: expires
        ).signature(key: request)
        let backend = Backend.onFreePorts()
        let secret = try backend.call(
            "GET",
            "/clientSecret?app_id=a&hash_mpin_id=\(scene.hash.uppercased())&hash_user_id=&expires=\(escape(expires))"
                + "&signature=\(signature.uppercased())", port: port)
        XCTAssertEqual(secret.object["clientSecret"] as? String, scene.clientShare)
        let permit = SignedMessage.timePermit(hashID: scene.hash, date: 20_778).signature(key: request)
        let answer = try backend.call("GET", "/timePermit?hash_mpin_id=\(scene.hash)&signature=\(permit)", port: port)
        XCTAssertEqual(answer.object["timePermit"] as? String, scene.permitShare)
        let server = SignedMessage.serverSecret(appID: "a", expires: expires).signature(key: request)
        let share = try backend.call(
            "GET", "/serverSecret?app_id=a&expires=\(escape(expires))&signature=\(server)", port: port)
        XCTAssertEqual(share.object["serverSecret"] as? String, scene.serverShare)
        XCTAssertEqual(share.object["startTime"] as? String, start)
    }

    func testTheMasterShareLiesSealedUnderItsKeyAndIsMadeOnce() throws {
        let state = NSTemporaryDirectory() + "mpind-dta-" + UUID().uuidString
        try makeFolder(state)
        defer { try? FileManager.default.removeItem(atPath: state) }
        let path = state + "/dta.sqlite"
        let key = try SecretBytes.random(count: 32)
        let first = try MasterShare.load(database: path, sealKey: key, now: .now())
        let second = try MasterShare.load(database: path, sealKey: key, now: Moment.now().adding(seconds: 1000))
        XCTAssertEqual(first.secret, second.secret)
        XCTAssertEqual(first.startTime, second.startTime)
        for file in try FileManager.default.contentsOfDirectory(atPath: state) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: state + "/" + file))
            XCTAssertNil(bytes.range(of: Data(Hex.decode(first.secret.hex()) ?? [])), file)
            XCTAssertNil(bytes.range(of: Data(first.secret.hex().utf8)), file)
        }
        let other = try SecretBytes.random(count: 32)
        XCTAssertThrowsError(try MasterShare.load(database: path, sealKey: other, now: .now())) { error in
            XCTAssertTrue("\(error)".contains("does not open under this key file"), "\(error)")
        }
        try DatabaseQueue(path: path).write {
            try $0.execute(sql: "UPDATE master_share SET start_time = '2020-01-01T00:00:00Z'")
        }
        XCTAssertThrowsError(
            try MasterShare.load(database: path, sealKey: key, now: .now()), "the time is sealed with it")
    }

    private func serverSecret(_ server: InProcess, _ name: String, _ port: Int, _ expires: String) throws -> Answer {
        let key = try KeyFile.load(server.backend.stateFolder + "/rps-\(name).key")
        let signature = SignedMessage.serverSecret(appID: "a", expires: expires).signature(key: key)
        let target = "/serverSecret?app_id=a&expires=\(escape(expires))&signature=\(signature)"
        return try server.backend.call("GET", target, port: port)
    }

    private func escape(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

/// The first D-TA's values of wire section 16.
private struct Section16 {
    let master = Hex.decode("154a9c6664148b67c569ccfa9701ab172f258fa2998f5c07a3484ac6437c4a80") ?? []
    let hash: String
    let clientShare =
        "0420bb376f4d54c9179ddc0ab600a572518743d7ea45747827bf948b5506490c3b02ab5629d3fea46cfbda44618d652b1b6a"
        + "c452587c4cf2949065328fe3d55be5"
    let permitShare =
        "040e71d886aa1f950cb5bff2e6d8ccfa4ad0ac5a80297c8f0d0222c1b03d130f2811167d9b27969c1bc41e1cc34a1cacafe4"
        + "28f6c22cd61c63102f6a3c1173dc70"
    let serverShare =
        "229ddae52d699158e0797623e508ca8846489b3ace00f561759b754a543c3dde0e0f995b997a57f63737c141650c8242ee34"
        + "32db224017413e4415235f64f4c720dfa0f2588a36bdf6b9cd01600efd9128ef4e00add7593e4edfcc752f8095c61bcc4bfa"
        + "9dc8361c1737077850e50507a0135dfea60608d2c7976007a0b62d58"

    init() throws {
        let id =
            #"{"mobile": 1, "issued": "2026-11-21 02:36:19.271448", "userID": "alice@example.com", "#
            + #""salt": "00112233445566778899aabbccddeeff"}"#
        hash = Hex.encode(SHA256.hash(Array(id.utf8)))
        XCTAssertEqual(hash, "968bef360dd6dbf281dab8c69626443d588b7dc90b49007a94337a04d9e3b6b9")
    }
}

/// One D-TA alone.
private final class Running {
    private let task: Task<Void, any Error>

    init(_ config: TrustAuthorityConfig) throws {
        var parts = Parts()
        parts.authorities = [config]
        let ready = DispatchSemaphore(value: 0)
        let daemon = Daemon(parts, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) { ready.signal() }
        task = Task { try await daemon.run() }
        guard ready.wait(timeout: .now() + 20) == .success else { throw Sockets.Failure(text: "no D-TA") }
    }

    func stop() { task.cancel() }
}
