import Foundation
import LoopbackServer
import MPinHTTP
import MPinSDK
import MPinSecrets
import XCTest

/// Plays recorded traffic of the browser client of MIRACL Trust. The recorded answers go to the client core, and its
/// requests are compared with those of the browser client, member by member.
///
/// Not played are the requests that only a browser's page sends (`session`, `access`, `pushauth`), so `trust-14` is not
/// played. Members of OpenID Connect, which the recording client was given, are not compared.
final class TrustTranscriptTests: FolderTestCase {
    private struct Exchange: Sendable {
        let target: String
        /// The body as JSON text; empty if there is none.
        let body: Data
        let answer: Reply
    }

    private let script = Locked<[Exchange]>([])
    private let faults = Locked<[String]>([])
    private var server: LoopbackServer!
    private var sdk: SDK!
    private let userID = "alice+6d6927@example.com"

    override func setUpWithError() throws {
        try super.setUpWithError()
        server = try LoopbackServer { [script, faults] request in
            // The browser client does not tell the page who is about to log in.
            if request.target == "/rps/v2/codeStatus" { return .json(200, ["status": "OK"]) }
            let next = script.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let next else { return .json(599, ["message": "too many"]) }
            let recorded = Self.masked((try? JSONSerialization.jsonObject(with: next.body)) as? [String: Any] ?? [:])
            let sent = Self.masked(request.json)
            let isSame = NSDictionary(dictionary: sent) == NSDictionary(dictionary: recorded)
            if request.target != next.target || !isSame || request.header("X-MIRACL-CID") != "proj-1" {
                faults.withLock { $0.append("\(request.target) \(sent) instead of \(next.target) \(recorded)") }
            }
            return next.answer
        }
        sdk = try client("one")
    }

    override func tearDownWithError() throws {
        server.stop()
        (server, sdk) = (nil, nil)
        try super.tearDownWithError()
    }

    private func client(_ name: String) throws -> SDK {
        let sdk = SDK()
        try sdk.initialize(SDKConfig(storagePath: "\(folder)/\(name)"))
        try sdk.setProject("proj-1", url: server.url, deviceName: "harness")
        return sdk
    }

    /// Points and keys are random, so only their sizes are compared.
    private static func masked(_ body: [String: Any]) -> [String: Any] {
        var body = body
        for name in ["clientId", "redirectURI", "scope", "state"] where body["userId"] != nil { body[name] = nil }
        for name in ["U", "V", "publicKey"] {
            if let text = body[name] as? String { body[name] = text.count }
        }
        return body
    }

    private func load(_ name: String, _ numbers: ClosedRange<Int>) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/transcripts")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let file = try XCTUnwrap(files.first { $0.hasPrefix(name) })
        let data = try Data(contentsOf: folder.appendingPathComponent(file))
        let recording = try XCTUnwrap(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let all = try XCTUnwrap(recording["exchanges"] as? [[String: Any]])
        let found = try all.filter { numbers.contains($0["seq"] as? Int ?? 0) }.map { try exchange($0) }
        script.withLock { $0 = found }
    }

    private func exchange(_ recorded: [String: Any]) throws -> Exchange {
        let request = try XCTUnwrap(recorded["request"] as? [String: Any])
        let response = try XCTUnwrap(recorded["response"] as? [String: Any])
        let text = String(
            decoding: try JSONSerialization.data(withJSONObject: response["body"] ?? [:]), as: UTF8.self
        ).replacingOccurrences(of: "\\/", with: "/").replacingOccurrences(
            of: "http://127\\.0\\.0\\.1:[0-9]+", with: server.url, options: .regularExpression)
        let sent = try (request["body"] as? [String: Any]).map { try JSONSerialization.data(withJSONObject: $0) }
        return Exchange(
            target: try XCTUnwrap(request["target"] as? String), body: sent ?? Data(),
            answer: .answer(try XCTUnwrap(response["status"] as? Int), body: Array(text.utf8)))
    }

    /// Plays the exchanges with these numbers of a recording; all of them must be asked for.
    private func play(_ name: String, _ numbers: ClosedRange<Int>, _ body: () throws -> Void) throws {
        try load(name, numbers)
        try body()
        XCTAssertEqual(script.withLock { $0.map(\.target) }, [], name)
        XCTAssertEqual(faults.withLock { $0 }, [], name)
    }

    /// A local constant of each test, because the span of a property of an object would outlive its access.
    private static let pin = Array("1234".utf8)

    private func enrol(_ token: String, _ sdk: SDK) throws -> User {
        let pin = Self.pin
        let user = try sdk.startTrustRegistration(userID, activationToken: token)
        XCTAssertEqual(user.pinLength, 4)
        XCTAssertEqual(user.registrationPINLength, 4)
        try sdk.finishTrustRegistration(user, pin: pin.span)
        XCTAssertEqual(user.state, .registered)
        try checkPoint(user)
        return user
    }

    /// Checks that the point in the user's record is the one to which M-Pin ID and public key map.
    private func checkPoint(_ user: User) throws {
        let signing = try XCTUnwrap(user.record.signing)
        XCTAssertEqual(signing.point, Hex.encode(try MPinID.point(signing.mpinID, publicKey: signing.publicKey)))
    }

    /// Registers alice as the recording does.
    private func registered() throws -> User {
        var user: User?
        try play("trust-03", 3...7) {
            XCTAssertEqual(try sdk.sendVerificationEmail(userID).method, .link)
            let made = try sdk.activationToken(userID, code: "818324")
            XCTAssertEqual(made.expireTime, 1_795_325_749)
            user = try enrol(made.token, sdk)
        }
        return try XCTUnwrap(user)
    }

    func testVerifications() throws {
        try play("trust-01", 1...1) {
            XCTAssertEqual(
                try sdk.sendVerificationEmail(userID), VerificationMail(method: .link, backoff: 1_795_325_149))
        }
        try play("trust-02", 2...2) {
            XCTAssertEqual(
                failure { () throws(SDKError) in _ = try sdk.activationToken(userID, code: "nope") },
                .verificationFailed)
            XCTAssertEqual(sdk.lastError?.server.projectID, "proj-1")
        }
        try play("trust-12", 57...58) {
            _ = try sdk.sendVerificationEmail("b@example.com")
            XCTAssertEqual(
                failure { () throws(SDKError) in _ = try sdk.sendVerificationEmail("b@example.com") }, .requestBackoff)
            XCTAssertEqual(sdk.lastError?.server.retryAt, 1_795_325_210)
        }
    }

    func testAnActivationTokenIsGoodOnce() throws {
        _ = try registered()
        try play("trust-04", 8...8) { _ = try sdk.sendVerificationEmail(userID) }
        let other = try client("two")
        try play("trust-04", 9...13) {
            let made = try other.activationToken(userID, code: "953165")
            _ = try enrol(made.token, other)
            XCTAssertEqual(
                failure { () throws(SDKError) in
                    _ = try other.startTrustRegistration(userID, activationToken: made.token)
                }, .activationTokenInvalid)
        }
    }

    func testLoginsAndARenewal() throws {
        let pin = Self.pin
        let user = try registered()
        try play("trust-05", 14...16) {
            let jwt = try sdk.authenticate(user, pin: pin.span)
            XCTAssertTrue(jwt.plainText.hasPrefix("eyJ"))
        }
        try play("trust-06", 17...22) {
            let wrong = Array("4321".utf8)
            XCTAssertEqual(
                failure { () throws(SDKError) in _ = try sdk.authenticate(user, pin: wrong.span) }, .incorrectPIN)
            _ = try sdk.authenticate(user, pin: pin.span)
        }
        try play("trust-07", 25...27) {
            let url = "http://app.example/#f12af4e0d42387120dc89ec3aecb5a5b"
            try sdk.authenticate(user, sessionURL: url, pin: pin.span)
            XCTAssertNil(user.jwt)
        }
        try play("trust-09", 39...41) {
            let document = Array("a document".utf8)
            let hash = SDK.hashDocument(document.span)
            let signature = try sdk.signTrust(user, hash: hash.span, pin: pin.span)
            XCTAssertEqual(signature.mpinID, user.mpinID)
        }
        let before = user.mpinID
        try play("trust-10", 42...50) { _ = try sdk.authenticate(user, pin: pin.span) }
        XCTAssertNotEqual(user.mpinID, before)
        try checkPoint(user)
        try play("trust-11", 53...55) {
            try sdk.authenticate(
                pushProjectID: "proj-1", userID: userID,
                sessionURL: "http://app.example/#0bf10a5bc28d49170addb48723c7bd44", pin: pin.span)
        }
        try play("trust-13", 59...68) {
            for expected: Status in [.incorrectPIN, .incorrectPIN, .revoked, .revoked] {
                XCTAssertEqual(
                    failure { () throws(SDKError) in _ = try sdk.authenticate(user, pin: pin.span) }, expected)
            }
        }
        XCTAssertEqual(user.state, .revoked)
        let again = try client("one")
        let stored = try XCTUnwrap(try again.user(userID))
        XCTAssertEqual(stored.state, .revoked)
        try checkPoint(stored)
    }

    func testAQuickCodeRegistersAnotherDevice() throws {
        let pin = Self.pin
        let user = try registered()
        var code = ""
        try play("trust-08", 29...32) {
            let made = try sdk.generateQuickCode(user, pin: pin.span)
            XCTAssertEqual(made.expireTime, 1_795_325_749)
            code = made.code
        }
        let other = try client("two")
        try play("trust-08", 33...38) {
            let second = try enrol(code, other)
            _ = try other.authenticate(second, pin: pin.span)
        }
    }

    /// A table of negative answers in the present and the older form, with the status that each must give.
    func testEveryErrorCode() throws {
        let pin = Self.pin
        let user = try registered()
        let codes: [(String, Status)] = [
            ("EXPIRED_MPINID", .revoked), ("MPINID_EXPIRED", .revoked), ("REVOKED_MPINID", .revoked),
            ("MPINID_REVOKED", .revoked), ("UNSUCCESSFUL_AUTHENTICATION", .incorrectPIN),
            ("INVALID_AUTH", .incorrectPIN),
            ("INVALID_AUTHENTICATION_SESSION", .sessionInvalid), ("INVALID_AUTH_SESSION", .sessionInvalid),
            ("BACKOFF_ERROR", .requestBackoff), ("INVALID_VERIFICATION_CODE", .verificationFailed),
            ("INVALID_ACTIVATION_TOKEN", .activationTokenInvalid), ("UNHEARD_OF", .httpRequestError),
        ]
        for (code, expected) in codes {
            for body: [String: Any] in [["error": code, "info": "i"], ["error": ["code": code, "info": "i"]]] {
                let reply = Reply.json(400, body)
                script.withLock { $0 = [Exchange(target: "/rps/v2/pass1", body: Data(), answer: reply)] }
                XCTAssertEqual(
                    failure { () throws(SDKError) in _ = try sdk.authenticate(user, pin: pin.span) }, expected, code)
                XCTAssertEqual(sdk.lastError?.server.code, code)
            }
        }
    }

    func testAnExportIsImported() throws {
        let pin = Self.pin
        _ = try registered()
        let file = "\(folder)/mfa.json"
        XCTAssertEqual(try sdk.exportUsers(to: file), 1)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.exportUsers(to: file) }, .storageError)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
        let other = try client("two")
        let stored = try read(file)
        let text = SecretBytes(copying: stored.span)
        XCTAssertEqual(try other.importStorage(ImportSource(format: .clientJS, users: text)), 1)
        let user = try XCTUnwrap(try other.user(userID))
        try play("trust-05", 14...16) { _ = try other.authenticate(user, pin: pin.span) }
    }
}
