import Foundation
import LoopbackServer
import MPinSDK
import XCTest

/// Tests each row of wire section 13, and each status for which that section has only a general rule.
final class HTTPStatusTests: FlowTestCase {
    /// These tests repeat hundreds of requests, so the pauses between two tries are short. RetriesTests tests the
    /// lengths of the pauses.
    override var environment: Environment {
        var result = Environment()
        result.retryMilliseconds = 1
        return result
    }

    private let statuses = [
        201, 202, 204, 206, 300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411,
        412, 413, 414, 415, 418, 422, 425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 507, 511, 599,
    ]

    private static let verdicts: [Int: Status] = [
        401: .incorrectPIN, 410: .incorrectPIN, 408: .requestExpired, 412: .incorrectAccessNumber,
        403: .identityNotAuthorized, 409: .clientSecretExpired,
    ]

    private let exceptions: [MilagroServer.Call: [Int: Status]] = [
        .clientSettings: [:],
        .service: [412: .badClientVersion],
        .register: [403: .identityNotAuthorized],
        .signature: [400: .identityNotVerified, 401: .identityNotVerified],
        .secondClientSecret: [408: .requestExpired],
        .timePermit: [410: .revoked],
        .secondTimePermit: [410: .revoked],
        .codeStatus: [:],
        .authorize: [:],
        .pass1: [:],
        .pass2: [:],
        .authenticate: verdicts,
        .mobileAuthenticate: verdicts,
        .logout: [:],
        .signingRegister: [408: .requestExpired],
        .secondSigningShare: [408: .requestExpired],
    ]

    private func isVerdict(_ call: MilagroServer.Call) -> Bool { call == .authenticate || call == .mobileAuthenticate }

    private func isVerification(_ call: MilagroServer.Call) -> Bool {
        call == .verification || call == .verificationConfirmation
    }

    private func expected(_ call: MilagroServer.Call, _ status: Int) -> Status {
        if let exception = exceptions[call]?[status] { return exception }
        switch status {
        case 406: return .badUserAgent
        case 429: return .tooManyRequests
        case 400..<500 where isVerification(call): return .verificationFailed
        case 200..<300: return .responseParseError
        case 300..<400: return .networkError
        case 400..<500: return .httpRequestError
        default: return .httpServerError
        }
    }

    /// Returns a user for whom the request can be sent: `old` if it is still usable, otherwise a new user.
    private func prepare(_ call: MilagroServer.Call, _ old: User? = nil) throws -> User {
        server.fail(call, status: nil)
        // After a request for the second share, a new user is needed, because the first share is given out only once.
        let isAsItWas = old?.state != .blocked && call != .secondClientSecret
        let user = if let old, isAsItWas { old } else { try newUser(call) }
        switch call {
        case .pass1, .pass2, .authenticate, .mobileAuthenticate: try sdk.startAuthentication(user)
        case .logout:
            let pin = Array("1234".utf8)
            try sdk.startAuthentication(user)
            try sdk.finishAuthenticationAN(user, pin: pin.span, accessNumber: "2741539")
        default: break
        }
        return user
    }

    private func newUser(_ call: MilagroServer.Call) throws -> User {
        if let old = try sdk.user("alice@example.com") { try sdk.deleteUser(old) }
        let user = try sdk.makeNewUser("alice@example.com")
        switch call {
        case .clientSettings, .register, .service, .codeStatus, .authorize, .verification: break
        case .verificationConfirmation: try sdk.startVerification(user, clientID: "c")
        case .signature, .secondClientSecret: try sdk.startRegistration(user)
        default: try registered()
        }
        return user
    }

    /// Runs the operation that sends this request, and returns its status; nil if it succeeds.
    private func run(_ call: MilagroServer.Call, _ user: User) -> Status? {
        failure { () throws(SDKError) in
            let pin = Array("1234".utf8)
            switch call {
            case .clientSettings: try sdk.setBackend(server.url)
            case .service: _ = try sdk.serviceDetails(server.url)
            case .verification: try sdk.startVerification(user, clientID: "c")
            case .verificationConfirmation: _ = try sdk.finishVerification(user, code: "123456")
            case .register: try sdk.startRegistration(user)
            case .signature, .secondClientSecret: try sdk.confirmRegistration(user)
            case .timePermit, .permitStorage, .secondTimePermit: try sdk.startAuthentication(user)
            case .codeStatus: _ = try sdk.sessionDetails("2741539")
            case .authorize: _ = try sdk.accessCode(authorizeURL: server.url + "/authorize")
            case .pass1, .pass2, .authenticate: _ = try finishAuthentication(user, "1234")
            case .mobileAuthenticate:
                try sdk.finishAuthenticationAN(user, pin: pin.span, accessNumber: "2741539")
            case .logout: try sdk.logout(user)
            case .signingRegister, .secondSigningShare: try sdk.startRegistrationDVS(user, pin: pin.span)
            }
        }
    }

    func testEveryStatusOfEveryRequest() throws {
        var rows = 0
        for call in MilagroServer.Call.allCases where call != .permitStorage {
            var last: User?
            for status in statuses {
                let user = try prepare(call, last)
                last = user
                let before = user.state
                server.fail(
                    call, status: status, message: "line 1\r\nline\u{7} 2 " + String(repeating: "x", count: 900))
                XCTAssertEqual(run(call, user), expected(call, status), "\(call) \(status)")
                let error = try XCTUnwrap(sdk.lastError)
                XCTAssertEqual(error.httpStatus, status)
                XCTAssertTrue(error.text.contains("HTTP \(status)"), error.text)
                // A 204 answer has no body.
                XCTAssertEqual(error.text.contains("line 1  line  2 xx"), status != 204, error.text)
                XCTAssertLessThan(error.text.utf8.count, 400)
                XCTAssertEqual(
                    user.state, isVerdict(call) && status == 410 ? .blocked : before, "\(call) \(status)")
                rows += 1
            }
        }
        XCTAssertEqual(rows, 18 * statuses.count)
    }

    /// Errors contain the server's message as one line. It must contain no control characters and no characters that
    /// change the direction of text.
    func testTheServersTextBecomesOneLineWithoutControlCharacters() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        let message = "a\u{9b}31mb\u{85}c\u{2028}d\u{2029}e\u{202e}f\u{200b}g\u{7f}h ü 字"
        server.fail(.register, status: 400, message: message)
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistration(user) }, .httpRequestError)
        XCTAssertEqual(sdk.lastError?.server.text, "a 31mb c d e f g h ü 字")
    }

    /// Tests the same request as ``MilagroServer/Call/register``, but sent in the form for MIRACL servers.
    func testEveryStatusOfARegistrationAtAMIRACLServer() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        for status in statuses {
            server.fail(.register, status: status)
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.startRegistrationMFA(user) },
                status == 404 ? .registrationExpired : expected(.register, status), "\(status)")
            XCTAssertEqual(user.state, .invalid)
        }
    }

    func testEveryStatusOfAFirstShareAtAMIRACLServer() throws {
        server.state.withLock { $0.namesCustomers = true }
        try sdk.setClientID("blue")
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistrationMFA(user)
        for status in statuses {
            server.fail(.signature, status: status)
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.confirmRegistration(user) },
                status == 404 ? .registrationExpired : expected(.signature, status), "\(status)")
            XCTAssertEqual(user.state, .activated)
        }
    }

    /// The client understands 404 as the end of a registration if the registration was started in the form for MIRACL
    /// servers, even if the server names no customer.
    func testARegistrationIsOverAtAMIRACLServerThatNamesNoCustomer() throws {
        server.state.withLock { $0.isForced = false }
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistrationMFA(user)
        let other = try newSDK()
        let same = try self.user(in: other)
        server.fail(.signature, status: 404)
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.confirmRegistration(user) }, .registrationExpired)
        XCTAssertEqual(
            failure { () throws(SDKError) in try other.confirmRegistration(same) }, .registrationExpired)
        server.fail(.register, status: 404)
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.restartRegistration(user) }, .registrationExpired)
        XCTAssertEqual(user.state, .startedRegistration)
    }

    private let milagro: [Call] = [
        .clientSettings, .service, .authorize, .verification, .verificationConfirmation, .register, .registerMFA,
        .signature, .signatureMFA, .secondClientSecret, .setupDone, .timePermit, .permitStorage, .secondTimePermit,
        .codeStatus, .pass1, .pass2, .authenticate, .logout, .signingRegister, .secondSigningShare,
    ]
    private let trust: [Call] = [
        .trustVerification, .trustConfirmation, .trustRegistration, .trustShare, .trustSession, .trustPass1,
        .trustPass2, .trustAuthenticate, .trustQuickCode,
    ]

    /// Tests that every HTTP status of every request has a meaning: only 200 is a success, at MIRACL Trust every 2xx, and
    /// each status without a meaning of its own gives one of the general errors.
    func testEveryStatusHasAMeaning() {
        for (calls, successes) in [(milagro, 200..<201), (trust, 200..<300)] {
            for call in calls {
                for status in 100...999 {
                    let meaning = call.status(http: status)
                    let isSuccess = successes ~= status
                    XCTAssertEqual(meaning == .ok, isSuccess, "\(call) \(status)")
                    let isGeneral = [.networkError, .responseParseError, .httpRequestError, .httpServerError].contains(
                        meaning)
                    XCTAssertTrue(
                        isGeneral || isSuccess || (400..<430).contains(status) || meaning == .verificationFailed)
                }
            }
        }
    }

    func testEveryKindOfBadAnswerToEveryRequest() throws {
        let bad: [(reply: Reply, status: Status)] = [
            (.reset(), .networkError), (.raw([]), .networkError), (.raw(Array("HTTP/1.1 200".utf8)), .networkError),
            (.raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".utf8)), .networkError),
            (.text(200, "<html>"), .responseParseError), (.text(200, "\u{FEFF}{}"), .responseParseError),
            (.text(200, String(repeating: "[", count: 10_000)), .responseParseError),
            (.answer(200, body: [UInt8](repeating: 32, count: 2 << 20)), .responseParseError),
            (.answer(200, body: [0xFF]), .responseParseError),
        ]
        for call in MilagroServer.Call.allCases where call != .permitStorage {
            // The bodies of the answers to these two requests are not read, so a bad body must have no effect.
            let isRead = call != .logout && call != .verification
            for (number, answer) in bad.enumerated() where isRead || answer.status == .networkError {
                let user = try prepare(call)
                let before = user.state
                server.reply(call, answer.reply)
                XCTAssertEqual(run(call, user), answer.status, "\(call), answer \(number)")
                XCTAssertEqual(user.state, before, "\(call), answer \(number)")
            }
        }
    }

    func testAnswersWithoutAMemberOrWithAnother() throws {
        let members: [MilagroServer.Call: [String: Any]] = [
            .clientSettings: [
                "registerURL": "/u", "signatureURL": "/s", "certivoxURL": "/v3/", "timePermitsURL": "/t", "appID": "a",
                "mpinAuthServerURL": "/rps", "authenticateURL": "/x",
            ],
            .register: ["mpinId": "7b7d", "regOTT": "00"],
            .signature: ["clientSecretShare": "00", "params": ""],
            .secondClientSecret: ["clientSecret": "00"],
            .secondTimePermit: ["timePermit": "00"],
            .pass1: ["y": "00"],
        ]
        for (call, good) in members {
            for name in good.keys {
                for value in [nil, 7, [String](), NSNull()] as [Any?] {
                    let user = try prepare(call)
                    var answer = good
                    answer[name] = value
                    server.reply(call, .json(200, answer))
                    XCTAssertEqual(run(call, user), .responseParseError, "\(call) \(name) \(String(describing: value))")
                }
            }
        }
    }

    func testNoErrorTextHoldsASecret() throws {
        let url = server.url
        for call in MilagroServer.Call.allCases where call != .permitStorage {
            let user = try prepare(call)
            for reply in [
                Reply.reset(), .text(200, "{\"clientSecretShare\":\"00ff00ff\",\"y\":\"00ff00ff\"}"), .json(500, [:]),
            ] {
                server.reply(call, reply)
                guard run(call, user) != nil, let text = sdk.lastError?.text else { continue }
                for word in ["1234", "regOTT", "9ff3dd0a", "00ff00ff", "signature=", "?", "7b22", "\(url)/"] {
                    XCTAssertFalse(text.contains(word), "\(call): \(text)")
                }
            }
        }
    }
}
