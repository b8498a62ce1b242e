import Foundation
import Glibc
import LoopbackServer
import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinSession
import MPinWire
import XCTest

/// Renewals, logouts and what is stored.
final class LifeTests: SessionTestCase {
    private func expire() { later.withLock { $0 += 1_000_000 } }

    private func renewal(_ session: AppSession) -> SDKError? {
        failure { () throws(SDKError) in try session.renew() }
    }

    func testTokensAreKnownUntilTheyExpire() throws {
        let session = try loggedIn()
        XCTAssertEqual(try session.known()?.accessToken, "access-1")
        XCTAssertNil(try session.known(scope: "email"))
        XCTAssertNil(try session.known(minTTL: 601))
        XCTAssertTrue(try session.hasValid(minTTL: 500))
        XCTAssertTrue(try session.canRenew())
        XCTAssertEqual(server.requests("/token").count, 1)
        expire()
        XCTAssertNil(try session.known())
        XCTAssertFalse(try session.hasValid())
        XCTAssertEqual(try session.credentials().accessToken, "access-2")
        XCTAssertEqual(try session.credentials().refreshToken, "refresh-2")
        session.wake()
    }

    func testATokenOfUnknownLifetimeIsUsedUntilItIsRefused() throws {
        server.reply("/token", .json(200, ["access_token": "a", "refresh_token": "r"]))
        var callbacks = SessionCallbacks()
        callbacks.showCode = { _ in }
        let session = try open(nil, callbacks)
        try session.add(plain)
        try session.login("plain")
        expire()
        XCTAssertEqual(try session.credentials(minTTL: 1 << 50).accessToken, "a")
        XCTAssertEqual(try session.credentials().expiry, 0)
        XCTAssertEqual(try session.authorization(for: server.url, rejected: "Bearer a"), "Bearer access-1")
    }

    func testARenewalNeedsAnIDTokenOfTheSameUserIfItHasOne() throws {
        let session = try loggedIn()
        server.state.withLock { $0.claims = ["sub": "bob"] }
        XCTAssertEqual(renewal(session)?.status, .tokenInvalid)
        XCTAssertEqual(try session.stored()?.accessToken, "access-1")
        XCTAssertEqual(try session.stored()?.refreshToken, "refresh-2")
    }

    func testTheProvidersKeyMayChangeUnderTheSameName() throws {
        let session = try loggedIn()
        server.state.withLock { $0.key = .init() }
        XCTAssertNil(renewal(session))
        XCTAssertEqual(server.requests("/keys").count, 2)
        XCTAssertNil(renewal(session))
        XCTAssertEqual(server.requests("/keys").count, 2)
        server.reply("/keys", .json(200, ["keys": "none"]))
        server.state.withLock { $0.key = .init() }
        XCTAssertEqual(renewal(session)?.status, .responseParseError)
    }

    func testFailuresOfTheProviderEndNoSession() throws {
        let session = try loggedIn()
        let answers: [(Reply, Status)] = [
            (.text(429, ""), .tooManyRequests), (.text(500, ""), .httpServerError), (.text(302, ""), .networkError),
            (.json(400, ["error": "invalid_request"]), .renewFailed), (.text(200, "{}"), .responseParseError),
            (.json(200, ["access_token": "a\nb"]), .responseParseError),
            (.answer(200, body: [UInt8](repeating: 32, count: 2 << 20)), .responseParseError),
        ]
        for (answer, status) in answers {
            server.reply("/token", answer)
            XCTAssertEqual(renewal(session)?.status, status)
            XCTAssertEqual(try session.state(), .signedIn)
        }
        XCTAssertNil(renewal(session))
    }

    func testASilentProviderEndsACallInTime() throws {
        let session = try loggedIn()
        server.reply("/token", .stall(), .stall())
        XCTAssertEqual(renewal(try open(newSDK(timeout: 1_000)))?.status, .timedOut)
        XCTAssertEqual(try session.state(), .signedIn)
    }

    /// The answer may be lost on the way. The provider accepts the same refresh token again, but not for long.
    func testAnAnswerThatDoesNotComeIsNotWaitedForTillTheEnd() throws {
        _ = try loggedIn()
        server.reply("/token", .stall())
        XCTAssertNil(renewal(try open(newSDK(timeout: 8_000))))
        let forms = server.forms("/token").dropFirst()
        XCTAssertEqual(forms.count, 2)
        XCTAssertEqual(Set(forms).count, 1)
    }

    func testAProviderThatWantsAPauseGetsIt() throws {
        let session = try loggedIn()
        for (status, expected) in [(429, Status.tooManyRequests), (503, .httpServerError)] {
            server.reply("/token", .answer(status, headers: [("Retry-After", "3600")], body: []))
            let before = server.requests("/token").count
            for _ in 0..<2 {
                let error = renewal(session)
                XCTAssertEqual(error?.status, expected)
                XCTAssertEqual(error?.server.retryAfter, 3600)
            }
            XCTAssertEqual(server.requests("/token").count, before + 1)
            XCTAssertEqual(try session.state(), .signedIn)
            XCTAssertNotNil(try session.known())
            // The pause is that of one session.
            try session.login("home")
            XCTAssertNil(renewal(session))
        }
    }

    /// One thread wants a longer time than there is. Those who wait meanwhile, and want less, get the new token.
    func testNobodyGetsTheFailureOfAnotherNeed() throws {
        let session = try loggedIn()
        expire()
        let isHeld = DispatchSemaphore(value: 0)
        server.state.withLock { $0.hold = isHeld }
        let (failures, threads) = (Locked<[Status]>([]), DispatchGroup())
        let call = { (minTTL: Int64) in
            DispatchQueue.global().async(group: threads) {
                do throws(SDKError) { _ = try session.credentials(minTTL: minTTL) } catch {
                    failures.withLock { $0.append(error.status) }
                }
            }
        }
        call(100_000)
        while server.requests("/token").count < 2 { usleep(1000) }
        for _ in 0..<8 { call(60) }
        // The more of them wait already, the more this shows; it is right also if none does.
        usleep(200_000)
        server.state.withLock { $0.hold = nil }
        isHeld.signal()
        threads.wait()
        XCTAssertEqual(failures.withLock { $0 }, [.largeMinTTL])
    }

    /// Who asks after a renewal was cancelled may wait for its end, and then renews.
    func testACancelledRenewalIsNobodyElsesFailure() throws {
        let session = try loggedIn()
        expire()
        server.reply("/token", .stall())
        let (failures, thread) = (Locked<[Status]>([]), DispatchGroup())
        DispatchQueue.global().async(group: thread) {
            do throws(SDKError) { _ = try session.credentials() } catch {
                failures.withLock { $0.append(error.status) }
            }
        }
        while server.requests("/token").count < 2 { usleep(1000) }
        session.cancel()
        // The sooner this comes, the more it shows; it is right also if it comes late.
        XCTAssertEqual(try session.credentials().accessToken, "access-2")
        thread.wait()
        XCTAssertEqual(failures.withLock { $0 }, [.canceled])
    }

    func testOnlyARefusedRefreshTokenEndsTheSession() throws {
        let session = try loggedIn()
        server.reply("/token", .json(400, ["error": "invalid_grant"]))
        XCTAssertEqual(renewal(session)?.status, .loginRequired)
        XCTAssertEqual(try session.state(), .revoked)
        XCTAssertEqual(try session.profile().sub, "ann")
        XCTAssertEqual(renewal(session)?.status, .loginRequired)
        // The provider has no logins by PIN, so asking the user is of no use.
        let error = failure { () throws(SDKError) in _ = try session.credentials(mayInteract: true) }
        XCTAssertEqual(error?.status, .loginRequired)
    }

    func testASessionWithoutARefreshTokenExpires() throws {
        server.reply("/token", .json(200, ["access_token": "a", "expires_in": 600]))
        var callbacks = SessionCallbacks()
        callbacks.showCode = { _ in }
        let session = try open(nil, callbacks)
        try session.add(plain)
        try session.login("plain")
        expire()
        XCTAssertEqual(try session.state(), .expired)
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try session.credentials() }?.status, .noRefreshToken)
        try session.revoke()
        XCTAssertEqual(try session.state(), .signedOut)
    }

    // MARK: Logouts

    func testALogoutEverywhereOpensTheProvidersPage() throws {
        let pages = Locked<[String]>([])
        let isOpen = Locked(true)
        let session = try loggedIn()
        var callbacks = SessionCallbacks()
        callbacks.openBrowser = { url in
            pages.withLock { $0.append(url) }
            return isOpen.withLock { $0 }
        }
        let other = try open(nil, callbacks)
        let token = try XCTUnwrap(try other.stored()?.idToken?.plainText)
        try other.logout(everywhere: true)
        XCTAssertEqual(
            pages.withLock { $0 }, ["\(server.url)/logout?id_token_hint=\(token)&client_id=app"])
        XCTAssertEqual(try session.state(), .signedOut)
        try session.login("home")
        isOpen.withLock { $0 = false }
        let error = failure { () throws(SDKError) in try other.logout(everywhere: true) }
        XCTAssertEqual(error?.status, .interactionNotAllowed)
        XCTAssertEqual(try session.state(), .signedOut)
        // An app that can open no browser is told that the provider's session goes on.
        try session.login("home")
        let silent = try open()
        let refusal = failure { () throws(SDKError) in try silent.logout(everywhere: true) }
        XCTAssertEqual(refusal?.status, .interactionNotAllowed)
        XCTAssertEqual(try session.state(), .signedOut)
        XCTAssertEqual(
            server.forms("/revoke").map { String($0.split(separator: "&")[0]) }, (1...3).map { "token=refresh-\($0)" })
        // A logout here leaves the provider's session, and needs no browser.
        try session.login("home")
        pages.withLock { $0 = [] }
        try other.logout()
        XCTAssertEqual(pages.withLock { $0 }, [])
    }

    func testALogoutIsToldUntilTheProviderHasHeard() throws {
        let session = try loggedIn()
        server.reply("/revoke", .text(503, ""), .text(429, ""), .text(400, ""))
        try session.logout()
        // A login tells, too.
        try session.login("home")
        try session.logout()
        try session.login("home")
        let told = server.forms("/revoke").map { String($0.split(separator: "&")[0]) }
        XCTAssertEqual(told, ["token=refresh-1", "token=refresh-1", "token=refresh-1", "token=refresh-2"])
    }

    func testOfManyEndedSessionsTheNewestAreTold() throws {
        let session = try loggedIn()
        server.state.withLock { $0.replies["/revoke"] = [Reply](repeating: .text(503, ""), count: 1000) }
        for _ in 0..<18 { try session.login("home") }
        server.state.withLock { $0.replies["/revoke"] = [] }
        let before = server.forms("/revoke").count
        try session.logout()
        let told = server.forms("/revoke").dropFirst(before).map { String($0.split(separator: "&")[0]) }
        XCTAssertEqual(told, (4...19).map { "token=refresh-\($0)" })
    }

    func testAFailedRevocationKeepsTheSession() throws {
        let session = try loggedIn()
        server.reply("/revoke", .text(400, ""))
        XCTAssertEqual(failure { () throws(SDKError) in try session.revoke() }?.status, .revokeFailed)
        XCTAssertEqual(try session.state(), .signedIn)
        try session.clear()
        XCTAssertEqual(try session.state(), .signedOut)
        XCTAssertEqual(server.forms("/revoke").count, 1)
        try session.clear()
        try session.revoke()
        try session.logout()
    }

    // MARK: Files, locks and parts that fail

    func testAnotherProcessThatRenewsIsWaitedForAndNotForEver() throws {
        let session = try loggedIn()
        let lock = Glibc.open(folder + "/store.session.renewal", O_RDWR | O_CREAT, 0o600)
        defer { close(lock) }
        XCTAssertEqual(flock(lock, LOCK_EX), 0)
        XCTAssertEqual(renewal(try open(newSDK(timeout: 1_000)))?.status, .timedOut)
        XCTAssertEqual(server.requests("/token").count, 1)
        flock(lock, LOCK_UN)
        XCTAssertNil(renewal(session))
    }

    func testWaitingForAnotherProcessCanBeCancelled() throws {
        let session = try loggedIn()
        let lock = Glibc.open(folder + "/store.session.renewal", O_RDWR | O_CREAT, 0o600)
        defer { close(lock) }
        XCTAssertEqual(flock(lock, LOCK_EX), 0)
        let isOver = Locked(false)
        // A cancel ends the calls that are under way, and the renewal may not have begun yet.
        Thread.detachNewThread {
            while !isOver.withLock({ $0 }) {
                session.cancel()
                usleep(1000)
            }
        }
        let error = renewal(session)
        isOver.withLock { $0 = true }
        XCTAssertEqual(error?.status, .canceled)
        XCTAssertEqual(server.requests("/token").count, 1)
    }

    func testWithoutItsFilesThereIsNoSession() throws {
        let session = try loggedIn()
        try FileManager.default.createDirectory(
            atPath: folder + "/store.session.renewal", withIntermediateDirectories: false)
        XCTAssertEqual(renewal(session)?.status, .storageError)
        let (sdk, path) = (try newSDK(), folder + "/none/session")
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try AppSession(sdk, path: path) }?.status, .storageError)
    }

    /// What somebody does to the files beside the session, while two processes have it open.
    func testNoHarmToOtherFilesHidesALogout() throws {
        let (session, other) = (try loggedIn(), try open())
        for harm in [
            "rm -f store.session.*", "for file in store.session.*; do : >$file; done",
            "rm -f store.session.*; ln -s /dev/full store.session.generation",
            "rm store.session.generation; mkdir store.session.generation",
            "rm -r store.session.generation; cp store.session new; mv new store.session",
        ] {
            XCTAssertEqual(try other.state(), .signedIn)
            XCTAssertEqual(shell(harm), 0, harm)
            XCTAssertEqual(try other.state(), .signedIn, harm)
            XCTAssertNil(failure { () throws(SDKError) in try session.logout() }, harm)
            XCTAssertEqual(try other.state(), .signedOut, harm)
            try session.login("home")
        }
    }

    /// A session's own file that is cut, emptied, removed or replaced is seen at once, and ends nobody.
    func testHarmToTheSessionsFileIsSeen() throws {
        let session = try loggedIn()
        XCTAssertEqual(shell("cp store.session kept"), 0)
        for (harm, state) in [
            (": >store.session", SessionState.signedOut), ("cat kept >store.session", .signedIn),
            ("rm store.session", .signedOut), ("cp kept new; mv new store.session", .signedIn),
            ("head -c 60 kept >store.session", .signedOut),
        ] {
            XCTAssertEqual(shell(harm), 0, harm)
            XCTAssertEqual(try session.state(), state, harm)
        }
    }

    func testNoLinkIsFollowedToALock() throws {
        let session = try loggedIn()
        XCTAssertEqual(shell("echo precious >victim; rm -f store.session.*; ln -s victim store.session.renewal"), 0)
        XCTAssertEqual(renewal(session)?.status, .storageError)
        XCTAssertEqual(shell("rm store.session.renewal; ln -s missing store.session.lock"), 0)
        let error = failure { () throws(SDKError) in try session.logout() }
        XCTAssertEqual(error?.status, .storageError)
        XCTAssertTrue(error?.text.hasSuffix("store.session.lock: not a regular file") ?? false, error?.text ?? "")
        XCTAssertEqual(try String(contentsOfFile: folder + "/victim", encoding: .utf8), "precious\n")
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder + "/missing"))
    }

    /// Processes of libmpin 1.0 see a change by the number in a file that they have mapped; an odd one is that of a
    /// writer that has died.
    func testProcessesOfTheVersionBeforeSeeChanges() throws {
        let session = try loggedIn(), path = folder + "/store.session.generation"
        XCTAssertFalse(FileManager.default.fileExists(atPath: path))
        for before in [0, 7, UInt64.max] {
            try session.login("home")
            try withUnsafeBytes(of: before) { try Data($0).write(to: URL(fileURLWithPath: path)) }
            try session.clear()
            let now = try Data(contentsOf: URL(fileURLWithPath: path))
            XCTAssertEqual([now.count, now.first.map { Int($0 & 1) }], [8, 0], "even")
            XCTAssertNotEqual(now, withUnsafeBytes(of: before) { Data($0) })
        }
        // A file that is not such a file is left alone.
        for (name, words) in [("a longer file", "link"), ("8 bytes!", "hard link")] {
            XCTAssertEqual(shell("printf '\(name)' >victim; rm store.session.generation"), 0)
            XCTAssertEqual(shell("ln \(words == "link" ? "-s" : "") victim store.session.generation"), 0)
            try session.clear()
            XCTAssertEqual(try String(contentsOfFile: folder + "/victim", encoding: .utf8), name, words)
        }
    }

    /// Runs a command in the folder of the test, and returns its exit status.
    private func shell(_ command: String) -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "cd '\(folder)' && " + command]
        do { try process.run() } catch { return -1 }
        process.waitUntilExit()
        return process.terminationStatus
    }

    func testAFileOfALaterVersionIsNotTouched() throws {
        let session = try loggedIn()
        try Data("mpin-session 99\n00\n".utf8).write(to: URL(fileURLWithPath: folder + "/store.session"))
        let other = try open()
        XCTAssertEqual(failure { () throws(SDKError) in _ = try other.state() }?.status, .unsupportedFormat)
        XCTAssertEqual(failure { () throws(SDKError) in try session.login("home") }?.status, .unsupportedFormat)
    }

    func testNoLoginWithoutARandomGenerator() throws {
        let works = Locked(true)
        let sdk = try newSDK(random: { bytes in works.withLock { $0 } && systemRandom(&bytes) })
        let session = try browsing(sdk)
        works.withLock { $0 = false }
        XCTAssertEqual(failure { () throws(SDKError) in try session.login("home") }?.status, .randomFailed)
        XCTAssertEqual(try session.state(), .signedOut)
    }

    func testAClosedSessionRefusesCalls() throws {
        let session = try loggedIn()
        session.close()
        XCTAssertEqual(renewal(session)?.status, .canceled)
        XCTAssertEqual(failure { () throws(SDKError) in try session.login("home") }?.status, .canceled)
        XCTAssertEqual(session.lastError?.status, .canceled)
        session.record(SDKError(.flowError, "x"))
        XCTAssertEqual(session.lastError?.status, .flowError)
    }

    // MARK: Descriptions of providers

    func testADescriptionMustBeWhole() throws {
        let session = try open()
        var nameless = home, clientless = home, nowhere = home, wrong = home
        nameless.name = ""
        clientless.clientID = ""
        nowhere.issuer = nil
        wrong.origins = ["api"]
        for provider in [nameless, clientless, nowhere, wrong] {
            let error = failure { () throws(SDKError) in try session.add(provider) }
            XCTAssertEqual(error?.status, .invalidArgument)
        }
        XCTAssertEqual(failure { () throws(SDKError) in try session.login("other") }?.status, .providerUnknown)
    }

    func testADiscoveryDocumentMustBeThatOfTheIssuer() throws {
        let session = try browsing()
        for wrong in [["issuer": "https://evil.example"], ["token_endpoint": ""], ["jwks_uri": ""]] {
            server.state.withLock { $0.discovery = wrong }
            XCTAssertEqual(
                failure { () throws(SDKError) in try session.login("home") }?.status, .responseParseError)
        }
        server.state.withLock { $0.discovery = [:] }
        try session.login("home")
    }

    func testTheClaimsOfAProfile() throws {
        server.state.withLock {
            $0.claims = ["email_verified": true, "updated_at": 7, "email": "ann@example.com"]
        }
        let profile = try loggedIn().profile()
        let names = ["sub", "name", "email", "email_verified", "picture", "updated_at", "shoe_size"]
        XCTAssertEqual(names.map { profile[$0] }, ["ann", "Ann", "ann@example.com", "true", "", "7", ""])
    }
}
