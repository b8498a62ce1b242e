import Foundation
import LoopbackServer
import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire
import XCTest

/// Plays recorded traffic of Milagro's clients and servers. The player sends the recorded answers to the client core
/// and compares the requests of the client core with those of Milagro's client.
///
/// Three recordings are not played, because no client takes part in them: `std-03-setupDone` and
/// `verify-04-activate-by-mail-link` are between a service and a browser (MPinServerTests plays them), and `std-50-dta`
/// is between the D-TA and its RPS. In `std-31`, `std-33` and `std-34` the requests were made by hand, with content
/// that no client sends, so only the answers are played.
final class TranscriptTests: FolderTestCase {
    private struct Exchange: Sendable {
        let method: String
        /// Path and query. The test's server has all paths of the recorded hosts.
        let target: String
        /// The body as JSON text; empty if there is none.
        let body: Data
        let answer: Reply
        /// Whether the client's request must be the same as the recorded one.
        var isHeld = true

        var status: Int { if case .answer(let status, _, _) = answer { status } else { 0 } }
        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }
    }

    /// Sends the recorded answers in order. A request that differs from the next recorded one gets the status 599.
    private final class Player: Sendable {
        private let script = Locked<[Exchange]>([])
        private let faults = Locked<[String]>([])
        private let socket = Locked<LoopbackServer?>(nil)

        init() throws {
            let server = try LoopbackServer { [weak self] request in self?.answer(request) ?? .reset() }
            socket.withLock { $0 = server }
        }

        var url: String { socket.withLock { $0?.url ?? "" } }
        func stop() { socket.withLock { $0?.stop() } }
        func load(_ exchanges: [Exchange]) { script.withLock { $0 = exchanges } }
        /// Requests that differ from the recorded ones, and exchanges that were not requested.
        var problems: [String] { faults.withLock { $0 } + script.withLock { $0.map { "not asked: \($0.target)" } } }

        private func answer(_ request: ReceivedRequest) -> Reply {
            let next = script.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let next else { return fault("too many: \(request.target)") }
            guard next.isHeld else { return next.answer }
            guard next.method == request.method, Self.isEqual(next.target, request.target) else {
                return fault("\(request.method) \(request.target) instead of \(next.method) \(next.target)")
            }
            let (sent, recorded) = (Self.masked(request.json), Self.masked(next.json))
            guard NSDictionary(dictionary: sent) == NSDictionary(dictionary: recorded) else {
                return fault("\(request.target): \(sent) instead of \(recorded)")
            }
            return next.answer
        }

        private func fault(_ text: String) -> Reply {
            faults.withLock { $0.append(text) }
            return .json(599, ["message": text])
        }

        /// The members of a query may be in any order.
        private static func isEqual(_ left: String, _ right: String) -> Bool {
            guard let left = URLComponents(string: left), let right = URLComponents(string: right) else { return false }
            return left.path == right.path && Set(left.queryItems ?? []) == Set(right.queryItems ?? [])
        }

        /// Points are random, so only their format is compared.
        private static func masked(_ body: [String: Any]) -> [String: Any] {
            body.mapValues { value in
                guard let text = value as? String, text.count == 130, text.hasPrefix("04") else { return value }
                return "point"
            }
        }
    }

    private var player: Player!
    private var sdk: SDK!

    override func setUpWithError() throws {
        try super.setUpWithError()
        player = try Player()
        sdk = SDK()
        try sdk.initialize(SDKConfig(storagePath: path))
    }

    override func tearDownWithError() throws {
        player.stop()
        player = nil
        sdk = nil
        try super.tearDownWithError()
    }

    /// Returns the exchanges between the client and its servers in these recordings. If a recording contains two runs,
    /// `run` (a part of the user id) selects one.
    private func exchanges(_ names: [String], run: String = "") throws -> [Exchange] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/transcripts")
        return try names.flatMap { name -> [Exchange] in
            let data = try Data(contentsOf: folder.appendingPathComponent("\(name).json"))
            let recording = try XCTUnwrap(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let all = try XCTUnwrap(recording["exchanges"] as? [[String: Any]])
            return try all.compactMap { try exchange($0, run: run) }
        }
    }

    private func exchange(_ recorded: [String: Any], run: String) throws -> Exchange? {
        let request = try XCTUnwrap(recorded["request"] as? [String: Any])
        let response = try XCTUnwrap(recorded["response"] as? [String: Any])
        let target = try XCTUnwrap(request["target"] as? String)
        // Leaves out the requests that servers send to each other. These are the requests with these three paths, and
        // those with another `hop`, which names the server that was asked.
        let isClients = ["rpa", "cloud"].contains(recorded["hop"] as? String)
        guard isClients, !["/mpinVerify", "/mpinPermitUser", "/mpinActivate"].contains(where: target.hasPrefix) else {
            return nil
        }
        guard !isBrowsers(target, request) else { return nil }
        let status = try XCTUnwrap(response["status"] as? Int)
        let body: [UInt8]
        if let object = response["body"] as? [String: Any] {
            body = Array(try JSONSerialization.data(withJSONObject: object))
        } else {
            body = Array((response["body"] as? String ?? "").utf8)
        }
        let all = target + String(decoding: body, as: UTF8.self) + "\(request["body"] ?? "")"
        guard run.isEmpty || all.contains(run) || all.contains(run.utf8.map { String(format: "%02x", $0) }.joined())
        else {
            return nil
        }
        let sent = try (request["body"] as? [String: Any]).map { try JSONSerialization.data(withJSONObject: $0) }
        return Exchange(
            method: try XCTUnwrap(request["method"] as? String), target: target, body: sent ?? Data(),
            answer: .answer(status, body: onThisPort(body)))
    }

    /// Whether the browser sent the request, and not the phone. These are pages, polls, and the browser's
    /// /mpinAuthenticate, which contains only the one-time token.
    private func isBrowsers(_ target: String, _ request: [String: Any]) -> Bool {
        if ["/", "/protected", "/rps/access", "/rps/getAccessNumber", "/rps/getQrUrl"].contains(target) { return true }
        let sent = (request["body"] as? [String: Any])?["mpinResponse"] as? [String: Any]
        return target == "/mpinAuthenticate" && sent?["pass"] == nil
    }

    /// Replaces recorded hosts and ports by the player's.
    private func onThisPort(_ body: [UInt8]) -> [UInt8] {
        let text = String(decoding: body, as: UTF8.self).replacingOccurrences(of: "\\/", with: "/")
        return Array(
            text.replacingOccurrences(
                of: "http://127\\.0\\.0\\.1:[0-9]+", with: player.url, options: .regularExpression
            ).utf8)
    }

    private func play(_ names: String..., run: String = "", _ body: () throws -> Void) throws {
        let script = try exchanges(names, run: run)
        XCTAssertFalse(script.isEmpty, "\(names)")
        player.load(script)
        try body()
        XCTAssertEqual(player.problems, [])
    }

    private func finishRegistration(_ user: User, _ pin: String) throws {
        let digits = Array(pin.utf8)
        try sdk.finishRegistration(user, pin: digits.span)
    }

    private func finishAuthentication(_ user: User, _ pin: String) throws(SDKError) -> String {
        let digits = Array(pin.utf8)
        return try sdk.finishAuthentication(user, pin: digits.span)
    }

    func testForcedRegistrationLoginsAndWrongPIN() throws {
        try play("std-01-clientSettings") {
            try sdk.testBackend(player.url)
            try sdk.setBackend(player.url)
        }
        let user = try sdk.makeNewUser("reg1.29025@example.com")
        try play("std-02-register-force-activated") {
            try sdk.startRegistration(user, activateCode: "ACT-CODE", userData: #"{"k":"v"}"#)
            XCTAssertEqual(user.state, .activated)
            try sdk.confirmRegistration(user)
        }
        try finishRegistration(user, "1234")
        XCTAssertEqual(user.state, .registered)
        let data = #"{"someUserData":"This will be handled by onSuccessLogin handler."}"#
        try play("std-04-timePermits-storage404-then-dta", "std-05-authenticate-right-pin") {
            try sdk.startAuthentication(user)
            XCTAssertEqual(try finishAuthentication(user, "1234"), data)
        }
        try play("std-06-timePermit-cached-in-client") { try sdk.startAuthentication(user) }
        try play("std-07-wrong-pin-then-right") {
            XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, "4321") }, .incorrectPIN)
            XCTAssertEqual(user.state, .registered)
            XCTAssertEqual(try finishAuthentication(user, "1234"), data)
        }
    }

    func testRegistrationThatNeedsAConfirmation() throws {
        for run in ["ver3.26899@example.com", "ver3.29151@example.com"] {
            try play("std-01-clientSettings") {
                try sdk.testBackend(player.url)
                try sdk.setBackend(player.url)
            }
            let user = try sdk.makeNewUser(run)
            try play("verify-01-register-needs-confirmation", run: run) {
                try sdk.startRegistration(user, userData: #"{"k":1}"#)
                XCTAssertEqual(user.state, .startedRegistration)
            }
            try play("verify-02-confirm-before-activation-401", run: run) {
                XCTAssertEqual(
                    failure { () throws(SDKError) in try sdk.confirmRegistration(user) }, .identityNotVerified)
            }
            try play("verify-03-restart-registration", run: run) {
                try sdk.restartRegistration(user)
                XCTAssertEqual(user.state, .startedRegistration)
            }
            try playWholeLogin(user, run)
        }
    }

    /// Plays the last recording, from the confirmation to the login. It contains two runs. Some exchanges do not
    /// contain the user, so the run is selected by the order: of each pair of similar exchanges, the first belongs to
    /// the first run.
    private func playWholeLogin(_ user: User, _ run: String) throws {
        let all = try exchanges(["verify-05-confirm-after-activation"])
        let isFirst = run == "ver3.26899@example.com"
        player.load(all.enumerated().filter { ($0.offset % 2 == 0) == isFirst }.map(\.element))
        try sdk.confirmRegistration(user)
        try finishRegistration(user, "1234")
        try sdk.startAuthentication(user)
        XCTAssertTrue(try finishAuthentication(user, "1234").contains("onSuccessLogin"))
        XCTAssertEqual(player.problems, [])
    }

    func testADeletedUserIsForgottenHereAndTheServerIsNotTold() throws {
        try play("std-01-clientSettings") {
            try sdk.testBackend(player.url)
            try sdk.setBackend(player.url)
        }
        let user = try sdk.makeNewUser("del5.29038@example.com")
        try play("std-17-delete-user-local-only") {
            try sdk.startRegistration(user)
            try sdk.confirmRegistration(user)
            try finishRegistration(user, "1234")
            try sdk.deleteUser(user)
        }
        XCTAssertEqual(user.state, .invalid)
        XCTAssertNil(try sdk.user("del5.29038@example.com"))
    }

    // MARK: Answers to requests that no client sends

    func testWhatAnOldServerSaysToABadFirstShare() throws {
        let user = try registered(finished: false)
        for answer in try refusals("std-31-errors-signature", "/rps/signature/") {
            player.load([answer])
            let expected: Status = answer.status < 500 ? .identityNotVerified : .httpServerError
            XCTAssertEqual(failure { () throws(SDKError) in try sdk.confirmRegistration(user) }, expected)
            XCTAssertEqual(sdk.lastError?.httpStatus, answer.status)
            XCTAssertEqual(user.state, .activated)
        }
        XCTAssertEqual(player.problems, [])
    }

    func testWhatAnOldServerSaysToABadProof() throws {
        let user = try registered()
        let pass1 = try XCTUnwrap(try answers("std-34-errors-pass2", "/rps/pass1").first)
        let pass2 = try XCTUnwrap(try answers("std-34-errors-pass2", "/rps/pass2").last)
        var attempts: [([Exchange], Exchange)] = []
        for answer in try refusals("std-33-errors-pass1", "/rps/pass1") { attempts.append(([], answer)) }
        for answer in try refusals("std-34-errors-pass2", "/rps/pass2") { attempts.append(([pass1], answer)) }
        // The answer to the wrong PIN is played last, because the client drops its permit after a wrong PIN.
        for answer in try refusals("std-34-errors-pass2", "/mpinAuthenticate").sorted(by: { $0.status > $1.status }) {
            attempts.append(([pass1, pass2], answer))
        }
        for (before, answer) in attempts {
            player.load([try permit(of: user)] + before + [answer])
            try sdk.startAuthentication(user)
            let verdicts: [Int: Status] = before.count == 2 ? [401: .incorrectPIN, 408: .requestExpired] : [:]
            let expected = verdicts[answer.status] ?? (answer.status < 500 ? .httpRequestError : .httpServerError)
            XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, "1234") }, expected)
            XCTAssertEqual(sdk.lastError?.httpStatus, answer.status)
            XCTAssertEqual(user.state, .registered)
        }
        XCTAssertEqual(player.problems, [])
    }

    /// Returns the registered user of the recording `std-10-access-number-login`. If not `finished`, returns the user
    /// of `std-02-register-force-activated`, who is about to fetch the first share.
    private func registered(finished: Bool = true) throws -> User {
        try play("std-01-clientSettings") {
            try sdk.testBackend(player.url)
            try sdk.setBackend(player.url)
        }
        guard finished else {
            let user = try sdk.makeNewUser("reg1.29025@example.com")
            player.load(Array(try exchanges(["std-02-register-force-activated"]).prefix(1)))
            try sdk.startRegistration(user, activateCode: "ACT-CODE", userData: #"{"k":"v"}"#)
            return user
        }
        return try stored(userOf: "std-10-access-number-login")
    }

    /// Returns the recorded answers for a path. Their requests are not compared.
    private func answers(_ name: String, _ path: String) throws -> [Exchange] {
        try exchanges([name]).filter { $0.target.hasPrefix(path) }.map { exchange in
            var exchange = exchange
            exchange.isHeld = false
            return exchange
        }
    }

    private func refusals(_ name: String, _ path: String) throws -> [Exchange] {
        let all = try answers(name, path).filter { $0.status != 200 }
        XCTAssertFalse(all.isEmpty, name)
        return all
    }

    // MARK: Browsers and one-time passwords

    func testALoginByQRCode() throws {
        try play("native-01-clientSettings-native") { try sdk.setBackend(player.url) }
        let user = try sdk.makeNewUser("nat1.29158@example.com")
        try play("native-03-register") {
            try sdk.startRegistration(user)
            try sdk.confirmRegistration(user)
        }
        try finishRegistration(user, "1234")
        let code = "f75dfd7607ec4213b177a3bd04651736"
        try play("native-04-qr-login") {
            let details = try sdk.sessionDetails(code)
            XCTAssertEqual(details.applicationName, "Interop service")
            XCTAssertEqual(details.applicationIconURL, "http://127.0.0.1/icon.png")
            try sdk.startAuthenticationMFA(user, accessCode: code)
            try finishAN(user, code)
        }
        XCTAssertTrue(user.canLogout)
    }

    func testAOneTimePassword() throws {
        try play("otp-01-clientSettings-otp") { try sdk.setBackend(player.url) }
        let user = try stored(userOf: "otp-03-otp-authenticate")
        try play("otp-03-otp-authenticate") {
            try sdk.startAuthenticationOTP(user)
            let digits = Array("1234".utf8)
            let otp = try sdk.finishAuthenticationOTP(user, pin: digits.span)
            XCTAssertEqual(otp.status, .ok)
            XCTAssertEqual(otp.code, "932826")
            XCTAssertEqual([otp.expireTime, otp.nowTime, Int64(otp.ttlSeconds)], [1_795_229_215, 1_795_229_155, 60])
        }
    }

    func testAccessNumbersAndLogout() throws {
        try play("std-01-clientSettings") {
            try sdk.testBackend(player.url)
            try sdk.setBackend(player.url)
        }
        let user = try stored(userOf: "std-10-access-number-login")
        // The recording of this login does not contain a request for the permit of the day. The client sends one, so
        // the player gets an additional answer for it.
        player.load([try permit(of: user)])
        try sdk.startAuthentication(user)
        try play("std-10-access-number-login") { try finishAN(user, "2700492") }
        try play("std-11-logout") {
            XCTAssertTrue(user.canLogout)
            try sdk.logout(user)
            XCTAssertFalse(user.canLogout)
        }
        player.load([try permit(of: user)])
        try sdk.startAuthentication(user)
        try play("std-14-access-number-wrong-number-412") {
            XCTAssertEqual(
                failure { () throws(SDKError) in try finishAN(user, "0000000") }, .incorrectAccessNumber)
        }
        try play("std-15-access-number-wrong-pin-401-then-ok") {
            XCTAssertEqual(failure { () throws(SDKError) in try finishAN(user, "9575081") }, .incorrectPIN)
            try finishAN(user, "9575081")
        }
        XCTAssertTrue(user.canLogout)
    }

    private func finishAN(_ user: User, _ number: String) throws(SDKError) {
        let digits = Array("1234".utf8)
        try sdk.finishAuthenticationAN(user, pin: digits.span, accessNumber: number)
    }

    /// A valid point. The recorded answers do not depend on its value.
    private let point =
        "0421210a97ba3c2f1624a528761ce7a79b0034e635728e1f0ede9cd42b936a285b18bef6ffc45f6466206377c021e5e8537b617277dc54bd7dd4591f374e4a43b0"

    /// Returns a registered user for a recording that contains a login but no registration.
    private func stored(userOf name: String) throws -> User {
        let pass1 = try XCTUnwrap(try exchanges([name]).first { $0.target == "/rps/pass1" })
        let mpinID = try XCTUnwrap(pass1.json["mpin_id"] as? String)
        let id = Data(try XCTUnwrap(Hex.decode(mpinID)))
        let content = try XCTUnwrap(try JSONSerialization.jsonObject(with: id) as? [String: Any])
        var record = UserRecord(userID: try XCTUnwrap(content["userID"] as? String), backend: player.url)
        let share = SecretHex(try XCTUnwrap(SecretBytes(hex: Array(point.utf8).span)))
        record.state = UserState.registered.name
        record.mpinID = mpinID
        record.token = share
        record.mapping = .decimal6
        record.permit = name.hasPrefix("std") ? UserRecord.CachedPermit(date: 20778, share: share) : nil
        let store = UserStore(storage: FileStorage(path: path), key: try KeyFile.loadOrCreate(path + ".key"))
        _ = try store.update(record.key) { $0 = record }
        return try XCTUnwrap(try sdk.user(record.userID))
    }

    private func permit(of user: User) throws -> Exchange {
        let answer: [String: Any] = ["date": 20778, "timePermit": point, "signature": "00", "storageId": "00"]
        return Exchange(
            method: "GET", target: "/rps/timePermit/\(user.mpinID)", body: Data(), answer: .json(200, answer))
    }
}
