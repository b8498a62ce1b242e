import Foundation
import LoopbackServer
import MPinHTTP
import MPinSDK
import Synchronization
import XCTest

/// Tests the client core with the real server (mpind), which is built together with the tests and runs as a separate
/// process.
final class RealServerTests: FolderTestCase {
    private var process: Process!
    private var url = ""
    private var sdk: SDK!
    private let browser = CurlTransport()

    override func tearDownWithError() throws {
        stop()
        try super.tearDownWithError()
    }

    /// Starts the server. By default every registration is confirmed at once.
    private func start(_ arguments: [String] = ["--force-activate"]) throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let ports = freePorts(4)
        url = "http://127.0.0.1:\(ports[0])"
        process = Process()
        process.executableURL = URL(fileURLWithPath: (tests as NSString).deletingLastPathComponent + "/mpind")
        process.arguments =
            [
                "--all-in-one", "--state-dir", folder + "/state", "--mail-dir", folder + "/mail", "--public-url", url,
                "--port", "\(ports[0])", "--private-port", "\(ports[1])", "--dta1-port", "\(ports[2])", "--dta2-port",
                "\(ports[3])",
            ] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        var environment = Environment()
        // Waits only 20 ms between tries, because the first requests are sent before the server is ready.
        environment.retryMilliseconds = 20
        sdk = SDK(environment: environment)
        try sdk.initialize(SDKConfig(storagePath: path))
        let end = Date(timeIntervalSinceNow: 60)
        while failure({ () throws(SDKError) in try sdk.setBackend(url) }) != nil {
            guard process.isRunning, Date() < end else { throw XCTestError(.failureWhileWaiting) }
        }
    }

    private func stop() {
        process?.terminate()
        process?.waitUntilExit()
        process = nil
        sdk = nil
    }

    private func registered(_ id: String, factors: [String] = []) throws -> User {
        let user = try sdk.makeNewUser(id, deviceName: "phone")
        try sdk.startRegistration(user, userData: "data")
        XCTAssertEqual(user.state, .activated)
        try sdk.confirmRegistration(user)
        try add(factors, to: user)
        let pin = Array("1234".utf8)
        try sdk.finishRegistration(user, pin: pin.span)
        return user
    }

    private func add(_ factors: [String], to user: User) throws {
        for factor in factors {
            let digits = Array(factor.utf8)
            try sdk.addFactor(user, factor: digits.span)
        }
    }

    @discardableResult
    private func logIn(_ user: User, _ pin: String = "1234") throws(SDKError) -> String {
        let digits = Array(pin.utf8)
        try sdk.startAuthentication(user)
        return try sdk.finishAuthentication(user, pin: digits.span)
    }

    /// Registers with a decomposed name (the accent is a separate character, as some systems type it). The composed
    /// name must find the same user.
    func testAUserIsFoundByAnyFormOfTheName() throws {
        try start()
        let user = try registered("jose\u{301}@example.com")
        XCTAssertTrue(try sdk.user("jos\u{e9}@example.com") === user)
        try logIn(user)
        let again = SDK()
        try again.initialize(SDKConfig(storagePath: path))
        try again.setBackend(url)
        XCTAssertEqual(try again.user("jos\u{e9}@example.com")?.state, .registered)
        XCTAssertEqual(try again.user("jose\u{301}@example.com")?.state, .registered)
    }

    /// Sends a request as a page of the website does.
    private func post(_ path: String, _ body: [String: Any]) throws -> [String: Any] {
        let text = Array(try JSONSerialization.data(withJSONObject: body))
        let answer = try browser.execute(
            HTTPRequest(
                method: .post, url: url + path, headers: [("Origin", url), ("Content-Type", "application/json")],
                body: text, deadline: .after(milliseconds: 15_000)))
        XCTAssertEqual(answer.status, 200, path)
        return try JSONSerialization.jsonObject(with: Data(answer.bytes)) as? [String: Any] ?? [:]
    }

    func testLoginsWrongPINsAndBlocking() throws {
        try start()
        let user = try registered("alice@example.com")
        XCTAssertGreaterThan(user.registrationExpiration.expireTime, user.registrationExpiration.nowTime)
        XCTAssertTrue(try logIn(user).hasPrefix("{"))
        for _ in 0..<3 {
            XCTAssertEqual(user.state, .registered)
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user, "4321") }, .incorrectPIN)
        }
        XCTAssertEqual(user.state, .blocked)
        XCTAssertNotEqual(sdk.lastError?.server.text, "")
        try sdk.deleteUser(user)
        XCTAssertNoThrow(try logIn(try registered("alice@example.com")))
    }

    /// The URL of a registration contains its token. Somebody who reads it later in a log must not be able to use it.
    func testTheURLOfARegistrationIsWorthNothingOnceTheClientHasItsToken() throws {
        try start()
        let recorder = Recorder()
        sdk = SDK(environment: Environment(makeTransport: { _ in recorder }))
        try sdk.initialize(SDKConfig(storagePath: path, backend: url))
        let user = try sdk.makeNewUser("erin@example.com")
        try sdk.startRegistration(user)
        try sdk.confirmRegistration(user)
        let logged = try XCTUnwrap(recorder.requests.last { $0.secretQuery != nil })
        XCTAssertTrue(logged.url.hasPrefix(url + "/rps/signature/"))
        func status() throws -> Int {
            var request = HTTPRequest(url: logged.url, deadline: .after(milliseconds: 15_000))
            request.secretQuery = logged.secretQuery
            return try browser.execute(request).status
        }
        XCTAssertEqual(try status(), 200, "no PIN was chosen yet: the client may lose its memory and come again")
        let pin = Array("1234".utf8)
        try sdk.finishRegistration(user, pin: pin.span)
        XCTAssertEqual(try status(), 400)
        XCTAssertNoThrow(try logIn(user))
    }

    /// Runs an operator's command of mpind on the files of the running server.
    private func operate(_ arguments: [String]) throws {
        let command = Process()
        command.executableURL = process.executableURL
        command.arguments = arguments + ["--state-dir", folder + "/state"]
        command.standardOutput = FileHandle.nullDevice
        try command.run()
        command.waitUntilExit()
        XCTAssertEqual(command.terminationStatus, 0, arguments.joined(separator: " "))
    }

    func testUnblockingBringsTheLoginBackWithoutARegistration() throws {
        try start()
        let id = "frank@example.com"
        var user = try registered(id)
        let mpinID = user.mpinID
        for _ in 0..<3 { XCTAssertEqual(failure { () throws(SDKError) in try logIn(user, "4321") }, .incorrectPIN) }
        XCTAssertEqual(user.state, .blocked)
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .incorrectPIN)
        XCTAssertEqual(user.state, .blocked, "nobody has unblocked it")
        try operate(["user", "unblock", id])
        // Uses another client core on the same store, as after a restart of the phone.
        sdk = SDK()
        try sdk.initialize(SDKConfig(storagePath: path, backend: url))
        user = try XCTUnwrap(sdk.user(id))
        XCTAssertEqual(user.state, .blocked)
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user, "4321") }, .incorrectPIN)
        XCTAssertEqual(user.state, .registered, "the server judges PINs again")
        XCTAssertNoThrow(try logIn(user))
        XCTAssertEqual([user.mpinID, user.state.name], [mpinID, "REGISTERED"])
        for _ in 0..<3 { XCTAssertEqual(failure { () throws(SDKError) in try logIn(user, "4321") }, .incorrectPIN) }
        XCTAssertEqual(user.state, .blocked)
        try operate(["user", "unblock", id])
        XCTAssertNoThrow(try logIn(user))
        XCTAssertEqual(user.state, .registered)
    }

    func testADeviceRegistersAnotherByItsCode() throws {
        try start()
        let user = try registered("grace@example.com")
        try sdk.startAuthenticationRegCode(user)
        let pin = Array("1234".utf8)
        let code = try sdk.finishAuthenticationRegCode(user, pin: pin.span)
        XCTAssertEqual([code.status, code.code.count == 6 ? .ok : .flowError], [.ok, .ok])
        let other = SDK()
        try other.initialize(SDKConfig(storagePath: path + ".other", backend: url))
        let same = try other.makeNewUser("grace@example.com")
        XCTAssertEqual(
            failure { () throws(SDKError) in try other.startRegistration(same, activateCode: "000000x") },
            .identityNotAuthorized)
        try other.startRegistration(same, activateCode: code.code)
        XCTAssertEqual(same.state, .activated)
        try other.confirmRegistration(same)
        try other.finishRegistration(same, pin: pin.span)
        try other.startAuthentication(same)
        XCTAssertNoThrow(try other.finishAuthentication(same, pin: pin.span))
    }

    /// Tests that the server describes itself as a service, because a phone may know only its public URL.
    func testTheServiceTellsOfItselfWhereAPublicURLIsSet() throws {
        try start()
        let details = try sdk.serviceDetails(url)
        XCTAssertEqual([details.backend, details.prefix], [url, "rps"])
        XCTAssertFalse(details.name.isEmpty)
    }

    func testRegistrationByMail() throws {
        try start([])
        let user = try sdk.makeNewUser("bob@example.com")
        try sdk.startRegistration(user)
        XCTAssertEqual(user.state, .startedRegistration)
        XCTAssertTrue(user.isRegistrationTokenSet)
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.confirmRegistration(user) }, .identityNotVerified)
        try sdk.restartRegistration(user)
        let mails = try FileManager.default.contentsOfDirectory(atPath: folder + "/mail").filter {
            $0.hasSuffix(".eml")
        }
        let newest = try XCTUnwrap(mails.sorted().last)
        let mail = try String(contentsOfFile: folder + "/mail/" + newest, encoding: .utf8)
        let link = try XCTUnwrap(mail.components(separatedBy: "\r\n").first { $0.hasPrefix(url) })
        let answer = try browser.execute(
            HTTPRequest(method: .post, url: link, body: [], deadline: .after(milliseconds: 5000)))
        XCTAssertEqual(answer.status, 200)
        try sdk.confirmRegistration(user)
        let pin = Array("123456".utf8)
        try sdk.finishRegistration(user, pin: pin.span)
        XCTAssertNoThrow(try logIn(user, "123456"))
    }

    func testFactorsAndAChangedPIN() throws {
        try start()
        let user = try registered("carol@example.com", factors: ["987654"])
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .incorrectPIN)
        try add(["987654"], to: user)
        XCTAssertNoThrow(try logIn(user))
        try add(["987654"], to: user)
        let (old, new) = (Array("1234".utf8), Array("9999".utf8))
        try sdk.changePIN(user, old: old.span, new: new.span)
        try add(["987654"], to: user)
        XCTAssertNoThrow(try logIn(user, "9999"))
    }

    func testABrowserIsLoggedInByItsNumberAndLoggedOut() throws {
        try start()
        let user = try registered("dave@example.com")
        let shown = try post("/rps/getAccessNumber", [:])
        let number = try XCTUnwrap(shown["accessNumber"] as? String)
        let webOTT = try XCTUnwrap(shown["webOTT"] as? String)
        XCTAssertNil(failure { () throws(SDKError) in try sdk.checkAccessNumber(number) })
        try sdk.startAuthentication(user)
        let result = Locked<Status?>(nil)
        let done = DispatchSemaphore(value: 0)
        let client = sdk!
        Thread.detachNewThread {
            let pin = Array("1234".utf8)
            do throws(SDKError) {
                try client.finishAuthenticationAN(user, pin: pin.span, accessNumber: number)
                result.withLock { $0 = .ok }
            } catch { result.withLock { $0 = error.status } }
            done.signal()
        }
        let end = Date(timeIntervalSinceNow: 10)
        var status: [String: Any] = [:]
        repeat {
            status = try post("/rps/access", ["webOTT": webOTT])
        } while status["status"] as? String != "authenticate" && Date() < end
        _ = try post("/mpinAuthenticate", ["mpinResponse": ["authOTT": status["authOTT"] ?? ""]])
        done.wait()
        XCTAssertEqual(result.withLock { $0 }, .ok)
        XCTAssertTrue(user.canLogout)
        XCTAssertNil(failure { () throws(SDKError) in try sdk.logout(user) })
        XCTAssertFalse(user.canLogout)
    }

    func testANumberThatNobodyShows() throws {
        try start()
        let user = try registered("erin@example.com")
        try sdk.startAuthentication(user)
        let pin = Array("1234".utf8)
        XCTAssertEqual(
            failure { () throws(SDKError) in
                try sdk.finishAuthenticationAN(user, pin: pin.span, accessNumber: "0000000")
            }, .incorrectAccessNumber)
        XCTAssertNoThrow(try logIn(user))
    }

    func testAPageLearnsThatItsCodeWasReadAndByWhom() throws {
        try start(["--force-activate", "--service-name", "Service ü"])
        let user = try registered("frank@example.com")
        let shown = try post("/rps/getQrUrl", [:])
        let qrURL = try XCTUnwrap(shown["qrUrl"] as? String)
        let code = try XCTUnwrap(qrURL.split(separator: "#").last.map(String.init))
        func page() throws -> [String: Any] { try post("/rps/access", ["webOTT": shown["webOTT"] ?? ""]) }
        XCTAssertEqual(try sdk.sessionDetails(code).applicationName, "Service ü")
        XCTAssertEqual(try page()["status"] as? String, "wid")
        try sdk.startAuthenticationMFA(user, accessCode: code)
        XCTAssertEqual(try page()["status"] as? String, "user")
        XCTAssertEqual(try page()["userId"] as? String, user.id)
        try sdk.abortSession(code)
        XCTAssertEqual(try page()["status"] as? String, "abort")
    }

    func testOneTimePasswords() throws {
        try start(["--force-activate", "--request-otp"])
        let user = try registered("grace@example.com")
        let pin = Array("1234".utf8)
        try sdk.startAuthenticationOTP(user)
        let otp = try sdk.finishAuthenticationOTP(user, pin: pin.span)
        XCTAssertEqual(otp.status, .ok)
        XCTAssertEqual(otp.code.count, 6)
        XCTAssertEqual(otp.expireTime - otp.nowTime, Int64(otp.ttlSeconds))
        XCTAssertLessThan(abs(otp.nowTime - Int64(Date().timeIntervalSince1970)), 60)
    }

    func testWithoutTimePermitsAndWithStoredOnes() throws {
        for option in ["--no-time-permits", "--store-permits"] {
            stop()
            try start(["--force-activate", option])
            let user = try registered("heidi@example.com")
            XCTAssertNoThrow(try logIn(user), option)
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user, "0000") }, .incorrectPIN)
            XCTAssertNoThrow(try logIn(user), option)
            try sdk.deleteUser(user)
        }
    }

    func testTheServiceLeadsToItsBackend() throws {
        let service = #"{"name":"n","url":"http://127.0.0.1:1","rps_prefix":"rps","logo_url":"/l","type":"online"}"#
        try write(Array(service.utf8), folder + "/service.json")
        try start(["--force-activate", "--mobile-service", folder + "/service.json"])
        let details = try sdk.serviceDetails(url)
        XCTAssertEqual(members(details), ["n", "http://127.0.0.1:1", "rps", "/l"])
    }

    /// Our server accepts the browser session and the push id that MFA clients send, but does not use them.
    func testARegistrationInTheMannerOfMIRACLMFA() throws {
        try start()
        let user = try sdk.makeNewUser("ivan@example.com")
        try sdk.startRegistrationMFA(user, accessCode: "00", activateCode: nil, pushID: "22")
        try sdk.confirmRegistration(user, pushID: "22")
        let pin = Array("1234".utf8)
        try sdk.finishRegistration(user, pin: pin.span)
        XCTAssertNoThrow(try logIn(user))
    }
}

/// A transport that sends requests and records them.
private final class Recorder: HTTPTransport {
    private let transport = CurlTransport()
    private let noted = Mutex<[HTTPRequest]>([])

    var requests: [HTTPRequest] { noted.withLock { $0 } }

    func execute(
        _ request: HTTPRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(HTTPFailure) -> HTTPResponse {
        noted.withLock { $0.append(request) }
        return try transport.execute(request, isCancelled: isCancelled)
    }
}
