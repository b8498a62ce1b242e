import Foundation
import LoopbackServer
import MPinHTTP
import MPinSDK
import XCTest

/// Plays the recorded traffic of a client core of 2017 with the real MIRACL MFA service. The recording is divided into
/// parts that are called contexts. The player sends the recorded answers over a socket and compares the requests of our
/// client core with the recorded ones.
///
/// It compares methods, URLs and members. It does not compare points, because they are random, and headers, because the
/// recording has none. Two members differ on purpose. The recorded client sent `authzRequest` false; ours sends
/// `authzRequest` only if it asks for an authorization code. The recorded client sent `authOTT` alone; ours sends the
/// whole answer of pass 2, as the Milagro cores do.
final class MFATranscriptTests: FolderTestCase {
    private let backend = "https://api.dev.miracl.net"
    private let page = "https://mcl.dev.mpin.io"
    private var player: Player!
    private var sdk: SDK!

    override func setUpWithError() throws {
        try super.setUpWithError()
        player = try Player()
        sdk = try newSDK("store")
    }

    override func tearDownWithError() throws {
        player.stop()
        player = nil
        sdk = nil
        try super.tearDownWithError()
    }

    private func newSDK(_ name: String) throws -> SDK {
        let url = player.url
        var environment = Environment(makeTransport: { Detour(transport: CurlTransport(policy: $0), to: url) })
        environment.retryMilliseconds = 1
        let sdk = SDK(environment: environment)
        try sdk.initialize(SDKConfig(storagePath: "\(path).\(name)"))
        return sdk
    }

    // MARK: Steps

    /// Plays one context and checks that every exchange in it was requested. `isCutOff`: after its last recorded
    /// answer, the recorded client sent more requests that got none.
    private func play<Result>(_ context: String, isCutOff: Bool = false, _ body: () throws -> Result) throws -> Result {
        try player.load(context, isCutOff: isCutOff)
        let result = try body()
        XCTAssertEqual(player.problems, [], context)
        return result
    }

    private func fails(
        _ context: String, _ status: Status, isCutOff: Bool = false, _ body: () throws(SDKError) -> Void
    ) throws {
        try player.load(context, isCutOff: isCutOff)
        XCTAssertEqual(failure(body), status, context)
        XCTAssertEqual(player.problems, [], context)
    }

    private func setBackend(_ context: String) throws {
        try sdk.setClientID("nfoztuxb5dpn4")
        try play(context) { try sdk.setBackend(backend) }
    }

    private func accessCode(_ context: String) throws -> String {
        let url = try XCTUnwrap(player.recording[context]?.first?.url)
        return try play(context) { try sdk.accessCode(authorizeURL: url) }
    }

    private func registered(_ id: String, _ code: String, _ test: String) throws -> User {
        let user = try sdk.makeNewUser(id)
        try play("\(id)-\(code)-@\(test)") { try sdk.startRegistrationMFA(user, accessCode: code) }
        try play("\(id)@\(test)") { try sdk.confirmRegistration(user) }
        let digits = Array("1234".utf8)
        try sdk.finishRegistration(user, pin: digits.span)
        return user
    }

    private func finish(_ user: User, _ pin: String, _ code: String) throws(SDKError) {
        let digits = Array(pin.utf8)
        try sdk.finishAuthenticationAN(user, pin: digits.span, accessNumber: code)
    }

    private func start(_ user: User, _ code: String, _ test: String) throws {
        try play("\(user.id)-\(code)@\(test)") { try sdk.startAuthenticationMFA(user, accessCode: code) }
    }

    // MARK: The whole recording

    func testAMIRACLServersTrafficOf2017Whole() throws {
        try fails("@InitNoCID", .badUserAgent) { () throws(SDKError) in try sdk.setBackend(backend) }
        XCTAssertNil(player.lastHeaders["x-miracl-cid"])
        try setBackend("@Init")
        XCTAssertEqual(player.lastHeaders["x-miracl-cid"], "nfoztuxb5dpn4")
        try serviceAndSessions()
        try backends()
        try users()
        let alice = try registrations()
        try logins(alice)
        try trustedDomains()
        try cutOff()
        XCTAssertEqual(player.played, Set(1...104))
    }

    private func serviceAndSessions() throws {
        let test = "ServiceAndSessionDetails"
        let service = try play("@\(test)") { try sdk.serviceDetails(page) }
        XCTAssertEqual(service.name, "MIRACL Trust [dev]")
        XCTAssertEqual([service.backend, service.prefix], [backend, "rps"])
        try session(try accessCode("GetAccessCode001@\(test)"), test)
    }

    private func session(_ code: String, _ test: String) throws {
        let details = try play("\(code)-GetSessionDetails@\(test)") { try sdk.sessionDetails(code) }
        XCTAssertEqual(details.applicationName, "TCB Demo")
        XCTAssertEqual(details.customerID, "8b382b4e-6f35-4475-88c3-1548e4d3248f")
        XCTAssertEqual([details.proposedUserID, details.applicationIconURL], ["", ""])
        try play("\(code)-AbortSession@\(test)") { try sdk.abortSession(code) }
    }

    private func backends() throws {
        let nowhere = "https://blabla.certivox.org"
        try play("@TestBackend") {
            try sdk.testBackend("https://m-pindemo.certivox.org")
            XCTAssertEqual(failure { () throws(SDKError) in try sdk.testBackend(nowhere) }, .networkError)
        }
        try play("@SetBackend") {
            XCTAssertEqual(failure { () throws(SDKError) in try sdk.setBackend(nowhere) }, .networkError)
            try sdk.setBackend(backend)
        }
        XCTAssertEqual(try sdk.clientParam("timePermitsURL"), "")
    }

    private func users() throws {
        let user = try sdk.makeNewUser("testUser1@example.com")
        try fails("testUser1@example.com--@Users", .httpRequestError) { () throws(SDKError) in
            try sdk.startRegistrationMFA(user)
        }
        XCTAssertEqual(sdk.lastError?.server.text, "Invalid access id")
        let code = try accessCode("GetAccessCode002@Users")
        for name in ["1"] + (0...9).map({ "00\($0)" }) {
            let user = try sdk.makeNewUser("testUser\(name)@example.com")
            try play("\(user.id)-\(code)-@Users") { try sdk.startRegistrationMFA(user, accessCode: code) }
            XCTAssertEqual(user.state, .startedRegistration)
            XCTAssertEqual(user.customerID, "8b382b4e-6f35-4475-88c3-1548e4d3248f")
        }
        XCTAssertEqual(try sdk.listUsers().count, 11)
        try sdk.deleteUsers()
    }

    private func registrations() throws -> User {
        let test = "Registration"
        let code = try accessCode("GetAccessCode003@\(test)")
        let alice = try registered("testUser1@example.com", code, test)
        let bob = try sdk.makeNewUser("testUser2@example.com")
        try play("\(bob.id)-\(code)-@\(test)") { try sdk.startRegistrationMFA(bob, accessCode: code) }
        // The confirmation succeeds at once, because the user had opened the link in the mail when this was recorded.
        try play("\(bob.id)@\(test)") {
            try sdk.restartRegistration(bob)
            try sdk.confirmRegistration(bob)
        }
        let nobody = try sdk.makeNewUser("")
        try fails("-\(code)-@\(test)", .httpRequestError) { () throws(SDKError) in
            try sdk.startRegistrationMFA(nobody, accessCode: code)
        }
        XCTAssertEqual(sdk.lastError?.server.text, "UserId required")
        let carol = try sdk.makeNewUser("testUser3@example.com")
        try play("\(carol.id)-\(code)-@\(test)") { try sdk.startRegistrationMFA(carol, accessCode: code) }
        _ = try registered("testUser4@example.com", code, test)
        // Registers the same user on another device, which has its own store.
        let first: SDK = sdk
        defer { sdk = first }
        sdk = try newSDK("second")
        try play("@Init") { try sdk.setBackend(backend) }
        let again = try sdk.makeNewUser(alice.id)
        try play("\(alice.id)-\(code)-test@\(test)") {
            try sdk.startRegistrationMFA(again, accessCode: code, pushID: "test")
        }
        return alice
    }

    private func logins(_ user: User) throws {
        let test = "Authentication"
        var code = try accessCode("GetAccessCode004@\(test)")
        try start(user, code, test)
        try play("\(user.id)-1234-\(code)@\(test)") { try finish(user, "1234", code) }
        let answer = try JSONSerialization.jsonObject(with: Data(user.authData.utf8)) as? [String: Any]
        XCTAssertEqual(answer.map { NSDictionary(dictionary: $0) }, ["code": "", "message": "OK", "status": 200])
        code = try accessCode("GetAccessCode005@\(test)")
        try start(user, code, test)
        let digits = Array("1234".utf8)
        // In this recorded login, the service sent an empty authorization code.
        let authorization = try play("\(user.id)-1234-\(code)-AUTHZ@\(test)") {
            try sdk.finishAuthenticationMFA(user, pin: digits.span, accessCode: code)
        }
        XCTAssertEqual(authorization, "")
        let otp = try play("\(user.id)-1234-OTP@\(test)") {
            try sdk.startAuthenticationOTP(user)
            return try sdk.finishAuthenticationOTP(user, pin: digits.span)
        }
        XCTAssertEqual([otp.status.name, otp.code], ["OK", "157001"])
        XCTAssertEqual([otp.expireTime, otp.nowTime, Int64(otp.ttlSeconds)], [1_489_503_014, 1_489_502_924, 90])
        try wrongPINs(user, test)
    }

    private func wrongPINs(_ user: User, _ test: String) throws {
        var code = try accessCode("GetAccessCode006@\(test)")
        try start(user, code, test)
        try fails("\(user.id)-1111-\(code)@\(test)", .incorrectPIN) { () throws(SDKError) in
            try finish(user, "1111", code)
        }
        try play("\(user.id)-1234-\(code)@\(test)") { try finish(user, "1234", code) }
        try start(user, "1234", test)
        try fails("\(user.id)-1234-1234@\(test)", .incorrectAccessNumber) { () throws(SDKError) in
            try finish(user, "1234", "1234")
        }
        code = try accessCode("GetAccessCode007@\(test)")
        try start(user, code, test)
        for (pin, state) in [("1111", UserState.registered), ("2222", .registered), ("3333", .blocked)] {
            try fails("\(user.id)-\(pin)-\(code)@\(test)", .incorrectPIN) { () throws(SDKError) in
                try finish(user, pin, code)
            }
            XCTAssertEqual(user.state, state, pin)
        }
    }

    private func trustedDomains() throws {
        let test = "TrustedDomains"
        try sdk.addTrustedDomain("api.miracl.net")
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try sdk.serviceDetails(page) }, .untrustedDomainError)
        try sdk.addTrustedDomain("mpin.io")
        try sdk.addTrustedDomain("miracl.net")
        _ = try play("@\(test)") { try sdk.serviceDetails(page) }
        try session(try accessCode("GetAccessCode009@\(test)"), test)
        let code = try accessCode("GetAccessCode010@\(test)")
        let user = try registered("testUser5@example.com", code, test)
        try start(user, code, test)
        try play("\(user.id)-1234-\(code)@\(test)") { try finish(user, "1234", code) }
        try sdk.clearTrustedDomains()
    }

    /// Plays the parts in which the recorded client's tests switched off the network, so that no answers were recorded.
    private func cutOff() throws {
        let test = "Misc"
        try play("@\(test)") { try sdk.setBackend(backend) }
        var code = try accessCode("GetAccessCode011@\(test)")
        let bob = try sdk.makeNewUser("misc2@example.com")
        try play("\(bob.id)-\(code)-@\(test)") { try sdk.startRegistrationMFA(bob, accessCode: code) }
        try fails("\(bob.id)@\(test)", .networkError, isCutOff: true) { () throws(SDKError) in
            try sdk.confirmRegistration(bob)
        }
        code = try accessCode("GetAccessCode012@\(test)")
        let carol = try registered("misc3@example.com", code, test)
        try start(carol, try accessCode("GetAccessCode013@\(test)"), test)
        for number in 14...16 {
            code = try accessCode("GetAccessCode0\(number)@\(test)")
            try fails("\(carol.id)-1234-\(code)@\(test)", .networkError, isCutOff: true) { () throws(SDKError) in
                try finish(carol, "1234", code)
            }
            XCTAssertEqual(carol.state, .registered)
        }
    }

    // MARK: Member by member

    /// The members that the client requires. `absent`: the client's status if the member is missing or null. `empty`:
    /// the client's status if the member is an empty text (TRUST wire section 7.2).
    private static let needed: [String: (absent: Status, empty: Status?)] = [
        "settings.certivoxURL": (.responseParseError, .responseParseError),
        "settings.signatureURL": (.responseParseError, .responseParseError),
        "settings.registerURL": (.responseParseError, .responseParseError),
        "settings.mpinAuthServerURL": (.responseParseError, .responseParseError),
        "settings.authenticateURL": (.responseParseError, .responseParseError),
        "settings.mobileAuthenticateURL": (.flowError, .flowError),
        // Without this member the client assumes that time permits are used, and then requires a URL for them.
        "settings.usePermits": (.responseParseError, .responseParseError),
        "service.name": (.responseParseError, nil), "service.url": (.responseParseError, nil),
        "service.rps_prefix": (.responseParseError, nil), "service.logo_url": (.responseParseError, nil),
        "service.type": (.responseParseError, .responseParseError),
        "authorize.qrURL": (.responseParseError, .responseParseError),
        "register.mpinId": (.responseParseError, .responseParseError),
        "register.regOTT": (.responseParseError, .responseParseError),
        "signature.clientSecretShare": (.responseParseError, .responseParseError),
        "signature.params": (.responseParseError, nil),
        "secret.clientSecret": (.responseParseError, .responseParseError),
        "pass1.y": (.responseParseError, .responseParseError),
    ]

    func testEveryMemberOfAMIRACLServersAnswersAbsentNullAndEmpty() throws {
        let steps = [
            "settings": 2, "service": 3, "authorize": 38, "details": 5, "register": 25, "signature": 26, "secret": 27,
            "status": 39, "pass1": 40, "pass2": 41, "login": 42, "otpPass1": 48, "otpPass2": 49, "otp": 50,
        ]
        var cases = 0
        for (step, seq) in steps {
            let exchange = try XCTUnwrap(player.exchange(seq))
            let members = try XCTUnwrap(exchange.answer as? [String: Any], step)
            for name in members.keys {
                for value in [nil, NSNull(), ""] as [Any?] {
                    var answer = members
                    answer[name] = value
                    let what = "\(step).\(name) \(value.map { "\($0)" } ?? "absent")"
                    let needed = Self.needed["\(step == "otpPass1" ? "pass1" : step).\(name)"]
                    let expected = value as? String == "" ? needed?.empty : needed?.absent
                    let otp = try registerAndLogIn(seq, answer, expected, what)
                    if expected == nil { checkOTP(otp, step, name, what) }
                    cases += 1
                }
            }
        }
        XCTAssertEqual(cases, 3 * 72)
    }

    private func checkOTP(_ otp: OTP?, _ step: String, _ name: String, _ what: String) {
        let isTime = ["expireTime", "nowTime", "ttlSeconds"].contains(name)
        let status: Status = step == "otp" && isTime ? .responseParseError : .ok
        let isGone = step == "otpPass2" && name == "OTP"
        XCTAssertEqual(otp?.status, isGone ? .flowError : status, what)
        XCTAssertEqual(otp?.code, isGone ? "" : "157001", what)
    }

    /// Registers and logs in a user, with one answer replaced. Expects the error `status`; if it is nil, returns a
    /// one-time password.
    private func registerAndLogIn(
        _ seq: Int, _ answer: [String: Any], _ status: Status?, _ what: String
    ) throws -> OTP? {
        try? FileManager.default.removeItem(atPath: "\(path).member")
        let sdk = try newSDK("member")
        try sdk.setClientID("nfoztuxb5dpn4")
        try player.load([2, 3, 38, 5, 25, 26, 27, 39, 40, 41, 42, 48, 49, 50], replacing: seq, by: answer)
        let digits = Array("1234".utf8)
        do throws(SDKError) {
            try sdk.setBackend(backend)
            _ = try sdk.serviceDetails(page)
            let code = try sdk.accessCode(authorizeURL: "\(backend)/authorize")
            player.skip(5, unless: try !sdk.clientParam("codeStatusURL").isEmpty)
            _ = try sdk.sessionDetails(code)
            let user = try sdk.makeNewUser("testUser1@example.com")
            try sdk.startRegistrationMFA(user, accessCode: code)
            try sdk.confirmRegistration(user)
            try sdk.finishRegistration(user, pin: digits.span)
            player.skip(39, unless: try !sdk.clientParam("codeStatusURL").isEmpty)
            try sdk.startAuthenticationMFA(user, accessCode: code)
            try sdk.finishAuthenticationAN(user, pin: digits.span, accessNumber: code)
            try sdk.startAuthenticationOTP(user)
            let otp = try sdk.finishAuthenticationOTP(user, pin: digits.span)
            XCTAssertNil(status, what)
            return otp
        } catch {
            XCTAssertEqual(error.status, status, "\(what): \(error)")
            return nil
        }
    }
}

/// Sends every request to the player. The path of the request then contains the original URL.
private struct Detour: HTTPTransport {
    let transport: CurlTransport
    let to: String

    init(transport: CurlTransport, to url: String) {
        self.transport = transport
        to = url
    }

    func execute(
        _ request: HTTPRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(HTTPFailure) -> HTTPResponse {
        var request = request
        request.url = "\(to)/\(request.url)"
        return try transport.execute(request, isCancelled: isCancelled)
    }
}

private struct Recorded: @unchecked Sendable {
    let seq: Int
    let method: String
    let url: String
    let body: [String: Any]?
    let status: Int
    /// Whether the recorded request was answered.
    let isAnswered: Bool
    /// JSON members, or a text if the body was not JSON.
    var answer: Any
    let headers: [(String, String)]
    /// Whether the request must be the same as the recorded one.
    var isHeld = true

    init(_ exchange: [String: Any]) throws {
        let request = try XCTUnwrap(exchange["request"] as? [String: Any])
        let response = try XCTUnwrap(exchange["response"] as? [String: Any])
        seq = try XCTUnwrap(exchange["seq"] as? Int)
        method = try XCTUnwrap(request["method"] as? String)
        url = try XCTUnwrap(request["target"] as? String)
        body = request["body"] as? [String: Any]
        status = try XCTUnwrap(response["status"] as? Int)
        isAnswered = try XCTUnwrap(response["success"] as? Bool)
        answer = try XCTUnwrap(response["body"])
        headers = try XCTUnwrap(response["headers"] as? [String: String]).map { ($0.key, $0.value) }
    }

    var reply: Reply {
        guard isAnswered else { return .reset() }
        if let text = answer as? String { return .answer(status, headers: headers, body: Array(text.utf8)) }
        let data = (try? JSONSerialization.data(withJSONObject: answer)) ?? Data()
        return .answer(status, headers: headers, body: Array(data))
    }

    /// Describes how a request differs from the recorded one; nil if it does not.
    func fault(_ method: String, _ url: String, _ sent: [String: Any]) -> String? {
        guard isHeld else { return nil }
        guard method == self.method, url == self.url else {
            return "\(method) \(url) instead of \(self.method) \(self.url)"
        }
        var (sent, recorded) = (Self.masked(sent), Self.masked(body ?? [:]))
        if let response = recorded["mpinResponse"] as? [String: Any] {
            let whole = sent["mpinResponse"] as? [String: Any] ?? [:]
            guard whole["authOTT"] as? String == response["authOTT"] as? String else { return "\(url): authOTT" }
            (sent["mpinResponse"], recorded["mpinResponse"]) = (nil, nil)
            // Leaves out a member that the recorded client always sends and ours only if it asks for an authorization
            // code.
            (sent["authzRequest"], recorded["authzRequest"]) = (nil, nil)
        }
        let isEqual = NSDictionary(dictionary: sent) == NSDictionary(dictionary: recorded)
        return isEqual ? nil : "\(url): \(sent) instead of \(recorded)"
    }

    private static func masked(_ body: [String: Any]) -> [String: Any] {
        body.mapValues { value in
            guard let text = value as? String, text.count == 130, text.hasPrefix("04") else { return value }
            return "point"
        }
    }
}

/// Sends the recorded answers in order. A request that differs from the next recorded one gets the status 599.
private final class Player: Sendable {
    private struct State {
        var script: [Recorded] = []
        var isCutOff = false
        var problems: [String] = []
        var played: Set<Int> = []
        var headers: [String: String] = [:]
    }

    let recording: [String: [Recorded]]
    private let state = Locked(State())
    private let socket = Locked<LoopbackServer?>(nil)

    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/transcripts/mfa-recorded-2017.json")
        let whole = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let contexts = try XCTUnwrap(whole?["contexts"] as? [String: [[String: Any]]])
        recording = try contexts.mapValues { try $0.map(Recorded.init) }
        let server = try LoopbackServer { [weak self] request in self?.answer(request) ?? .reset() }
        socket.withLock { $0 = server }
    }

    var url: String { socket.withLock { $0?.url ?? "" } }
    func stop() { socket.withLock { $0?.stop() } }
    var played: Set<Int> { state.withLock { $0.played } }
    /// The headers of the last request, with names in lower case.
    var lastHeaders: [String: String] { state.withLock { $0.headers } }

    /// Requests that differ from the recorded ones, and exchanges that were not requested.
    var problems: [String] {
        state.withLock { state in
            state.problems + state.script.filter { !state.played.contains($0.seq) }.map { "not asked: \($0.url)" }
        }
    }

    func exchange(_ seq: Int) -> Recorded? { recording.values.joined().first { $0.seq == seq } }

    func load(_ context: String, isCutOff: Bool) throws {
        let script = try XCTUnwrap(recording[context], context)
        state.withLock { state in
            state.script = script
            state.isCutOff = isCutOff
            state.problems = []
        }
    }

    /// Loads these exchanges, with one answer replaced. Their requests are not compared.
    func load(_ script: [Int], replacing seq: Int, by answer: [String: Any]) throws {
        let exchanges = try script.map { number in
            var exchange = try XCTUnwrap(exchange(number))
            exchange.isHeld = false
            if number == seq { exchange.answer = answer }
            return exchange
        }
        state.withLock { $0.script = exchanges }
    }

    /// Removes an exchange from the script if the client will not request it.
    func skip(_ seq: Int, unless isAsked: Bool) {
        if !isAsked { state.withLock { $0.script.removeAll { $0.seq == seq } } }
    }

    private func answer(_ request: ReceivedRequest) -> Reply {
        state.withLock { state in
            state.headers = Dictionary(request.headers.map { ($0.0.lowercased(), $0.1) }) { first, _ in first }
            let url = String(request.target.dropFirst())
            // A recorded request without an answer stays in the script while the client repeats it. It is removed when
            // another request follows.
            while let next = state.script.first, !next.isAnswered, next.url != url { state.script.removeFirst() }
            guard let next = state.script.first else {
                if state.isCutOff { return .reset() }
                state.problems.append("too many: \(url)")
                return .json(599, [:])
            }
            if let fault = next.fault(request.method, url, request.json) {
                state.problems.append(fault)
                return .json(599, [:])
            }
            state.played.insert(next.seq)
            if next.isAnswered { state.script.removeFirst() }
            return next.reply
        }
    }
}
