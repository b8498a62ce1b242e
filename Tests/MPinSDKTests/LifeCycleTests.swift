import Foundation
import LoopbackServer
import MPinHTTP
import MPinSDK
import MPinSecrets
import XCTest

final class LifeCycleTests: FlowTestCase {
    private func bare() -> SDK { SDK() }

    func testBeforeInitialisationEverythingIsAFlowError() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        let sdk = bare()
        let results: [Status?] = [
            failure { () throws(SDKError) in try sdk.testBackend("http://127.0.0.1") },
            failure { () throws(SDKError) in try sdk.setBackend("http://127.0.0.1") },
            failure { () throws(SDKError) in _ = try sdk.clientParam("appID") },
            failure { () throws(SDKError) in _ = try sdk.makeNewUser("a") },
            failure { () throws(SDKError) in _ = try sdk.user("a") },
            failure { () throws(SDKError) in _ = try sdk.listUsers() },
            failure { () throws(SDKError) in _ = try sdk.listAllUsers() },
            failure { () throws(SDKError) in _ = try sdk.listBackends() },
            failure { () throws(SDKError) in try sdk.clearUsers() },
            failure { () throws(SDKError) in try sdk.deleteUser(user) },
            failure { () throws(SDKError) in try sdk.startRegistration(user) },
            failure { () throws(SDKError) in try sdk.restartRegistration(user) },
            failure { () throws(SDKError) in try sdk.confirmRegistration(user) },
            failure { () throws(SDKError) in try sdk.startAuthentication(user) },
            failure { () throws(SDKError) in try finishRegistration(user, "1234", sdk: sdk) },
            failure { () throws(SDKError) in _ = try finishAuthentication(user, "1234", sdk: sdk) },
        ]
        XCTAssertEqual(results, [Status?](repeating: .flowError, count: 16))
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.destroy() }, nil)
    }

    func testWithoutABackendUsersCannotBeMade() throws {
        let sdk = bare()
        try sdk.initialize(SDKConfig(storagePath: path))
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.makeNewUser("a") }, .flowError)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.listUsers() }, .flowError)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.clientParam("appID") }, .flowError)
        XCTAssertEqual(try sdk.listAllUsers().count, 0)
        try sdk.setBackend(server.url + "//")
        XCTAssertNotNil(try sdk.makeNewUser("a"))
    }

    func testInitialisingTwiceDoesNothing() throws {
        let user = try registered()
        try sdk.initialize(SDKConfig(storagePath: "/nowhere/store"))
        XCTAssertTrue(try sdk.user(user.id) === user)
    }

    func testAFailedInitialisationLeavesTheObjectAsNew() throws {
        let sdk = bare()
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.initialize(SDKConfig(storagePath: "")) }, .invalidArgument)
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.initialize(SDKConfig(storagePath: folder + "/no/store")) },
            .storageError)
        let refused = SDKConfig(storagePath: path, backend: "http://127.0.0.1:1")
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.initialize(refused) }, .networkError)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.listAllUsers() }, .flowError)
        try sdk.initialize(config())
        XCTAssertNotNil(try sdk.makeNewUser("a"))
    }

    func testTheLogOfAFailedInitialisationIsNotUsedAgain() throws {
        let lines = Locked<[String]>([])
        let sdk = SDK(environment: Environment(log: { _, line in lines.withLock { $0.append(line) } }))
        let refused = SDKConfig(storagePath: path, backend: "http://127.0.0.1:1")
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.initialize(refused) }, .networkError)
        let told = lines.withLock { $0 }
        XCTAssertTrue(told.last?.hasPrefix("NETWORK_ERROR") ?? false, "\(told)")
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.addCustomHeader("a b", "x") }, .invalidArgument)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.listAllUsers() }, .flowError)
        XCTAssertEqual(lines.withLock { $0 }, told)
        try sdk.initialize(config())
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.testBackend("") }, .invalidArgument)
        XCTAssertTrue(lines.withLock { $0.last }?.hasPrefix("INVALID_ARGUMENT") ?? false)
    }

    func testDestroyForgetsAndAnotherInitialisationFindsEverything() throws {
        let user = try registered()
        try sdk.destroy()
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.listAllUsers() }, .flowError)
        try sdk.initialize(config())
        let same = try self.user(in: sdk)
        XCTAssertEqual(same.mpinID, user.mpinID)
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startAuthentication(user) }, .flowError)
        XCTAssertNoThrow(try logIn(same))
    }

    func testUsersOutliveTheirSDKWithoutTheirSecrets() throws {
        let user = try sdk.makeNewUser("alice")
        try sdk.startRegistration(user)
        var other: SDK? = try newSDK()
        let same = try self.user("alice", in: XCTUnwrap(other))
        XCTAssertTrue(same.isRegistrationTokenSet)
        try other?.destroy()
        XCTAssertFalse(same.isRegistrationTokenSet)
        try other?.initialize(config())
        let again = try self.user("alice", in: XCTUnwrap(other))
        XCTAssertTrue(again.isRegistrationTokenSet)
        other?.close()
        other = nil
        XCTAssertFalse(again.isRegistrationTokenSet)
        XCTAssertEqual(again.mpinID, user.mpinID)
    }

    func testAStoreThatCannotBeReadStaysSoUntilItCan() throws {
        let user = try registered()
        let blob = try read(path)
        try write(Array("mpin-store 7\n".utf8) + blob.dropFirst(13), path)
        server.forgetCalls()
        for _ in 0..<2 {
            XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.listAllUsers() }, .unsupportedFormat)
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .unsupportedFormat)
        }
        XCTAssertEqual(server.calls, [])
        try write(blob, path)
        XCTAssertNoThrow(try logIn(user))
    }

    func testALostKeyIsNotReplaced() throws {
        try registered()
        try FileManager.default.removeItem(atPath: path + ".key")
        let sdk = bare()
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.initialize(config()) }, .storageError)
        XCTAssertFalse(FileManager.default.fileExists(atPath: path + ".key"))
    }

    func testANewerStoreIsRefused() throws {
        try registered()
        let newer = Array("mpin-store 7\n".utf8) + (try read(path)).dropFirst(13)
        try write(newer, path)
        let sdk = bare()
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.initialize(config()) }, .unsupportedFormat)
        XCTAssertEqual(try read(path), newer)
    }

    func testADamagedRecordIsReportedAndTheOthersStay() throws {
        try registered("alice")
        try registered("bob")
        var blob = try read(path)
        blob[30] ^= 1
        try write(blob, path)
        let other = try newSDK()
        XCTAssertEqual(try other.damagedRecords(), 1)
        XCTAssertEqual(try other.listUsers().count, 1)
        XCTAssertNoThrow(try logIn(try other.listUsers()[0], sdk: other))
    }

    // MARK: Backends

    func testTestBackendKeepsNothing() throws {
        let sdk = bare()
        try sdk.initialize(SDKConfig(storagePath: path))
        try sdk.testBackend(server.url)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.clientParam("appID") }, .flowError)
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.testBackend(server.url, prefix: "other") }, .httpRequestError)
        XCTAssertEqual(server.received.last?.path, "/other/clientSettings")
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.testBackend("") }, .invalidArgument)
        for url in ["ftp://127.0.0.1", "127.0.0.1", "http://example.com", "http://10.1.2.3", "x"] {
            XCTAssertEqual(failure { () throws(SDKError) in try sdk.testBackend(url) }, .untrustedDomainError, url)
        }
    }

    func testAFailedSetBackendKeepsTheFormerOne() throws {
        let user = try registered()
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.setBackend("http://127.0.0.1:1") }, .networkError)
        XCTAssertEqual(try sdk.clientParam("appID"), "app 1")
        XCTAssertNoThrow(try logIn(user))
    }

    func testClientParamsAreText() throws {
        XCTAssertEqual(try sdk.clientParam("registerURL"), server.url + "/rps/user")
        XCTAssertEqual(try sdk.clientParam("certivoxURL"), server.url + "/v3/")
        XCTAssertEqual(try sdk.clientParam("cSum"), "1")
        XCTAssertEqual(try sdk.clientParam("useNFC"), "false")
        XCTAssertEqual(try sdk.clientParam("none"), "")
    }

    func testWebSocketURLsAndUnknownMembersAreTaken() throws {
        let settings: [String: Any] = [
            "registerURL": "ws://127.0.0.1/u", "signatureURL": "wss://127.0.0.1/s", "certivoxURL": "/v3/",
            "timePermitsURL": "/t", "appID": "a", "mpinAuthServerURL": "/rps", "authenticateURL": "/x",
            "useWebSocket": "maybe", "future": ["a": [1]],
        ]
        server.reply(.clientSettings, .json(200, settings))
        try sdk.setBackend(server.url)
        XCTAssertEqual(try sdk.clientParam("registerURL"), "http://127.0.0.1/u")
        XCTAssertEqual(try sdk.clientParam("signatureURL"), "https://127.0.0.1/s")
        XCTAssertEqual(try sdk.clientParam("future"), #"{"a":[1]}"#)
    }

    func testTheSameIDAtAnotherBackendIsAnotherUser() throws {
        let second = try MilagroServer()
        defer { second.stop() }
        let first = try registered()
        try sdk.setBackend(second.url)
        XCTAssertNil(try sdk.user(first.id))
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startAuthentication(first) }, .flowError)
        let other = try sdk.makeNewUser(first.id)
        XCTAssertFalse(other === first)
        try sdk.startRegistration(other)
        XCTAssertEqual(try sdk.listUsers().map(\.backend), [second.url])
        XCTAssertEqual(try sdk.listUsers(backend: server.url + "/").map(\.state), [.registered])
        XCTAssertEqual(try sdk.listAllUsers().count, 2)
        XCTAssertEqual(try sdk.listBackends(), [server.url, second.url].sorted())
        try sdk.setBackend(server.url)
        XCTAssertNoThrow(try logIn(first))
    }

    // MARK: Users

    func testUsersAreMadeOnceListedByIDAndFound() throws {
        let bob = try registered("bob")
        let alice = try registered("alice")
        let made = try sdk.makeNewUser("carol")
        XCTAssertTrue(try sdk.makeNewUser("bob") === bob)
        XCTAssertTrue(try sdk.makeNewUser("carol", deviceName: "phone") === made)
        XCTAssertEqual(made.deviceName, "phone")
        XCTAssertEqual(try sdk.listUsers().map(\.id), ["alice", "bob"])
        XCTAssertTrue(try sdk.user("alice") === alice)
        XCTAssertNil(try sdk.user("dave"))
        // The client sends an empty user id, as Milagro's cores did, and the server refuses it.
        let nobody = try sdk.makeNewUser("")
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistration(nobody) }, .httpRequestError)
        XCTAssertEqual(nobody.state, .invalid)
    }

    func testADeletedUserIsGoneEverywhere() throws {
        let user = try registered()
        server.forgetCalls()
        try sdk.deleteUser(user)
        XCTAssertEqual(server.calls, [])
        XCTAssertEqual(user.state, .invalid)
        XCTAssertEqual(user.mpinID, "")
        XCTAssertNil(try sdk.user(user.id))
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistration(user) }, .flowError)
        XCTAssertEqual(try newSDK().listAllUsers().count, 0)
        XCTAssertNil(failure { () throws(SDKError) in try sdk.deleteUser(user) })
    }

    func testClearedUsersStayStored() throws {
        try registered("alice")
        let carol = try sdk.makeNewUser("carol")
        try sdk.startRegistration(carol)
        XCTAssertTrue(carol.isRegistrationTokenSet)
        try sdk.clearUsers()
        XCTAssertFalse(carol.isRegistrationTokenSet)
        XCTAssertEqual(carol.state, .activated)
        XCTAssertEqual(try sdk.listAllUsers().count, 0)
        try registered("bob")
        XCTAssertEqual(try sdk.listAllUsers().map(\.id), ["bob"])
        XCTAssertEqual(try newSDK().listAllUsers().map(\.id), ["alice", "bob", "carol"])
        let other = try newSDK()
        XCTAssertTrue(try self.user("carol", in: other).isRegistrationTokenSet)
        try other.clearUsers()
    }

    func testAForgottenUserIsDeletedInTheStore() throws {
        let alice = try registered("alice")
        try registered("bob")
        try sdk.clearUsers()
        try sdk.deleteUser(alice)
        XCTAssertEqual(alice.state, .invalid)
        XCTAssertEqual(try newSDK().listAllUsers().map(\.id), ["bob"])
        // A cleared user can also be deleted through a new object with the same id.
        try sdk.deleteUser(try sdk.makeNewUser("bob"))
        XCTAssertEqual(try newSDK().listAllUsers().map(\.id), [])
        XCTAssertNoThrow(try logIn(try registered("alice")))
        XCTAssertEqual(try sdk.listAllUsers().map(\.id), ["alice"])
    }

    func testAForgottenUserThatIsMadeAnewIsNewUntilItRegisters() throws {
        let former = try registered("alice")
        try sdk.clearUsers()
        let alice = try sdk.makeNewUser("alice")
        try registered("bob")
        XCTAssertEqual(alice.state, .invalid)
        XCTAssertEqual(try sdk.listAllUsers().map(\.id), ["bob"])
        try registered("alice", pin: "5678")
        XCTAssertNotEqual(alice.mpinID, former.mpinID)
        try logIn(alice, "5678")
        // The object from before `clearUsers` no longer refers to the stored user, so deleting it has no effect.
        try sdk.deleteUser(former)
        XCTAssertEqual(alice.state, .registered)
        XCTAssertEqual(try newSDK().listAllUsers().map(\.mpinID), [alice.mpinID, try self.user("bob", in: sdk).mpinID])
    }

    func testAllUsersGoAtOnceAlsoThoseOfOtherBackendsAndForgottenOnes() throws {
        let elsewhere = try MilagroServer()
        defer { elsewhere.stop() }
        try registered("carol")
        try sdk.clearUsers()
        let alice = try registered("alice")
        try sdk.setBackend(elsewhere.url)
        try registered("bob")
        let other = try newSDK()
        XCTAssertEqual(try other.listAllUsers().count, 3)
        // A folder in the place of the temporary file makes writing the store fail. Then no user may be deleted.
        try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.deleteUsers() }, .storageError)
        XCTAssertEqual(alice.state, .registered)
        try FileManager.default.removeItem(atPath: path + ".new")

        elsewhere.forgetCalls()
        try sdk.deleteUsers()
        XCTAssertEqual(elsewhere.calls, [])
        XCTAssertEqual(alice.state, .invalid)
        XCTAssertEqual(try sdk.listAllUsers().count, 0)
        XCTAssertEqual(try other.listAllUsers().count, 0)
        XCTAssertEqual(try newSDK().listAllUsers().count, 0)
        XCTAssertEqual(try registered("carol").state, .registered)
    }

    func testWhatAnotherProcessStoresIsSeen() throws {
        let other = try newSDK()
        let user = try registered()
        XCTAssertEqual(try other.listUsers().map(\.id), [user.id])
        let same = try self.user(in: other)
        XCTAssertNoThrow(try logIn(same, sdk: other))
        for _ in 0..<3 { XCTAssertNotNil(failure { () throws(SDKError) in try logIn(same, "0000", sdk: other) }) }
        XCTAssertEqual(try sdk.listUsers().map(\.state), [.blocked])
        try other.deleteUser(same)
        XCTAssertEqual(try sdk.listUsers().count, 0)
        XCTAssertEqual(user.state, .invalid)
    }

    func testEveryOtherStateIsAFlowErrorAndSendsNothing() throws {
        server.state.withLock { $0.isForced = false }
        let fresh = try sdk.makeNewUser("fresh")
        let started = try sdk.makeNewUser("started")
        try sdk.startRegistration(started)
        server.state.withLock { $0.isForced = true }
        let active = try sdk.makeNewUser("active")
        try sdk.startRegistration(active)
        let done = try registered("done")
        server.forgetCalls()
        func run(_ name: String, _ user: User) throws(SDKError) {
            switch name {
            case "start": try sdk.startRegistration(user)
            case "restart": try sdk.restartRegistration(user)
            case "confirm": try sdk.confirmRegistration(user)
            case "finish": try finishRegistration(user, "1234")
            case "log in": try sdk.startAuthentication(user)
            default: try finishAuthentication(user, "1234")
            }
        }
        let refused: [(user: User, names: [String])] = [
            (fresh, ["restart", "confirm", "finish", "log in", "prove"]),
            (started, ["start", "finish", "log in", "prove"]),
            (active, ["start", "restart", "finish", "log in", "prove"]),
            (done, ["start", "restart", "confirm", "finish", "prove"]),
        ]
        for (user, names) in refused {
            for name in names {
                XCTAssertEqual(failure { () throws(SDKError) in try run(name, user) }, .flowError, "\(name) \(user.id)")
            }
        }
        XCTAssertEqual(server.calls, [])
    }

    // MARK: Time, threads, randomness

    func testDeadlineIsOverTheWholeOperation() throws {
        let user = try registered()
        let sdk = try newSDK(timeout: 700)
        let same = try self.user(in: sdk)
        for call in [MilagroServer.Call.timePermit, .secondTimePermit] {
            server.reply(call, .stall())
            let start = monotonicNanoseconds()
            XCTAssertEqual(failure { () throws(SDKError) in try sdk.startAuthentication(same) }, .timedOut)
            let milliseconds = (monotonicNanoseconds() - start) / 1_000_000
            // The timeout is 700 ms. The upper limit is high, because the machine may be busy.
            XCTAssertTrue((700..<7000).contains(milliseconds), "\(milliseconds) ms")
        }
        XCTAssertEqual(user.state, .registered)
    }

    func testCancelFromAnotherThreadEndsTheCallAndNotTheNext() throws {
        let user = try registered()
        server.reply(.timePermit, .stall())
        let sdk = sdk!
        Thread.detachNewThread { [server] in
            while server?.calls.last != .timePermit { usleep(1000) }
            sdk.cancel()
        }
        let start = monotonicNanoseconds()
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startAuthentication(user) }, .canceled)
        XCTAssertLessThan((monotonicNanoseconds() - start) / 1_000_000, 8000)
        server.fail(.timePermit, status: nil)
        sdk.cancel()
        XCTAssertNoThrow(try logIn(user))
    }

    func testOtherThreadsWaitForTheirTurn() throws {
        let users = try (0..<8).map { try registered("user\($0)") }
        let sdk = sdk!
        let failures = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 64) { index in
            let digits = Array("1234".utf8)
            let user = users[index % 8]
            do throws(SDKError) {
                try sdk.startAuthentication(user)
                _ = try sdk.finishAuthentication(user, pin: digits.span)
            } catch {
                // `flowError` is allowed here, because another thread may have finished this user's login after the
                // start.
                if error.status != .flowError { failures.withLock { $0 += 1 } }
            }
        }
        XCTAssertEqual(failures.withLock { $0 }, 0)
    }

    func testAWaitingCallEndsAtItsDeadline() throws {
        try registered()
        let (entered, go, done) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        // The store also needs random bytes, so the test delays only those for the login.
        let isLogin = Locked(false)
        let environment = Environment(random: { bytes in
            guard isLogin.withLock({ $0 }) else { return systemRandom(&bytes) }
            entered.signal()
            go.wait()
            // Signals again at once, because the login may ask for random bytes more than once.
            go.signal()
            return systemRandom(&bytes)
        })
        let sdk = try newSDK(timeout: 1000, environment)
        let same = try self.user(in: sdk)
        try sdk.startAuthentication(same)
        isLogin.withLock { $0 = true }
        Thread.detachNewThread {
            let digits = Array("1234".utf8)
            _ = try? sdk.finishAuthentication(same, pin: digits.span)
            done.signal()
        }
        entered.wait()
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.listUsers() }, .timedOut)
        XCTAssertEqual(same.state, .registered)
        go.signal()
        done.wait()
        XCTAssertEqual(try sdk.listUsers().count, 1)
    }

    func testACancelEndsTheWaitForTheStore() throws {
        let sdk = sdk!
        let server = server!
        let user = try sdk.makeNewUser("alice@example.com")
        let lock = open(path + ".lock", O_RDWR | O_CREAT, 0o600)
        XCTAssertEqual(flock(lock, LOCK_EX), 0)
        Thread.detachNewThread {
            while server.calls.last != .register { usleep(1000) }
            // Cancels the call, whether it still waits for the answer or already for the lock of the store.
            sdk.cancel()
        }
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistration(user) }, .canceled)
        XCTAssertEqual(user.state, .invalid)
        close(lock)
        XCTAssertNoThrow(try logIn(try registered()))
    }

    func testCloseCancelsWhatIsUnderWayAndRefusesTheRest() throws {
        let user = try registered()
        server.reply(.timePermit, .stall())
        let sdk = sdk!
        let result = Locked<Status?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do throws(SDKError) { try sdk.startAuthentication(user) } catch { result.withLock { $0 = error.status } }
            done.signal()
        }
        while server.calls.last != .timePermit { usleep(1000) }
        sdk.close()
        done.wait()
        XCTAssertEqual(result.withLock { $0 }, .canceled)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.listUsers() }, .canceled)
    }

    func testACallFromWithinACallIsAFlowErrorAndGettersAnswer() throws {
        let user = try registered()
        let inner = Locked<SDK?>(nil)
        let seen = Locked<[Status?]>([])
        let environment = Environment(random: { bytes in
            if let sdk = inner.withLock({ $0 }) {
                do throws(SDKError) { _ = try sdk.listUsers() } catch { seen.withLock { $0.append(error.status) } }
                sdk.cancel()
                seen.withLock { $0.append(sdk.lastError?.status) }
            }
            return systemRandom(&bytes)
        })
        let sdk = try newSDK(environment)
        let same = try self.user(in: sdk)
        try sdk.startAuthentication(same)
        inner.withLock { $0 = sdk }
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try finishAuthentication(same, "1234", sdk: sdk) }, .canceled)
        inner.withLock { $0 = nil }
        XCTAssertEqual(seen.withLock { Array($0.prefix(2)) }, [.flowError, .flowError])
        XCTAssertEqual(user.state, .registered)
    }

    func testGettersAnswerWheneverTheGeneratorIsAsked() throws {
        try registered()
        let current = Locked<User?>(nil)
        let asked = Locked(0)
        let environment = Environment(random: { bytes in
            if let user = current.withLock({ $0 }), user.state == .registered { asked.withLock { $0 += 1 } }
            return systemRandom(&bytes)
        })
        let sdk = try newSDK(environment)
        let same = try self.user(in: sdk)
        current.withLock { $0 = same }
        let done = expectation(description: "the login ends")
        Thread.detachNewThread {
            let digits = Array("1234".utf8)
            do throws(SDKError) {
                try sdk.startAuthentication(same)
                _ = try sdk.finishAuthentication(same, pin: digits.span)
            } catch { XCTFail("\(error)") }
            done.fulfill()
        }
        wait(for: [done], timeout: 30)
        XCTAssertGreaterThan(asked.withLock { $0 }, 1)
    }

    func testAFailingGeneratorIsReportedAndNothingSent() throws {
        let user = try registered()
        let sdk = try newSDK(Environment(random: { _ in false }))
        let same = try self.user(in: sdk)
        try sdk.startAuthentication(same)
        server.forgetCalls()
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try finishAuthentication(same, "1234", sdk: sdk) }, .randomFailed)
        XCTAssertEqual(server.calls, [])
        XCTAssertEqual(user.state, .registered)
    }

    func testLastErrorStaysHoweverManyThreadsFail() throws {
        let sdk = sdk!
        _ = failure { () throws(SDKError) in try sdk.setBackend("http://127.0.0.1:1") }
        for _ in 0..<300 {
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                sdk.record(SDKError(.flowError, "the thread's"))
                done.signal()
            }
            done.wait()
        }
        XCTAssertEqual(sdk.lastError?.status, .networkError)
    }

    func testLastErrorIsTheThreadsOwn() throws {
        let sdk = sdk!
        XCTAssertNil(sdk.lastError)
        _ = failure { () throws(SDKError) in try sdk.setBackend("http://127.0.0.1:1") }
        XCTAssertEqual(sdk.lastError?.status, .networkError)
        let other = Locked<SDKError?>(SDKError(.ok, ""))
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            other.withLock { $0 = sdk.lastError }
            done.signal()
        }
        done.wait()
        XCTAssertNil(other.withLock { $0 })
        _ = try sdk.listUsers()
        XCTAssertEqual(sdk.lastError?.status, .networkError)
    }
}
