import Foundation
import LoopbackServer
import MPinSDK
import XCTest

/// A test case with a client core, its own store and its own server.
class FlowTestCase: FolderTestCase {
    private(set) var server: MilagroServer!
    private(set) var sdk: SDK!

    override func setUpWithError() throws {
        try super.setUpWithError()
        server = try MilagroServer()
        sdk = try newSDK(environment)
    }

    override func tearDownWithError() throws {
        server.stop()
        server = nil
        sdk = nil
        try super.tearDownWithError()
    }

    /// The environment with which ``sdk`` is made. Subclasses override it, for example to shorten pauses.
    var environment: Environment { Environment() }

    func config(timeout: UInt32 = 10_000) -> SDKConfig {
        SDKConfig(storagePath: path, backend: server.url, timeoutMilliseconds: timeout)
    }

    /// Makes another client core on the same store, as after a restart or in another process.
    func newSDK(timeout: UInt32 = 10_000, _ environment: Environment = Environment()) throws -> SDK {
        let sdk = SDK(environment: environment)
        // A short timeout is meant for later calls. On a busy machine `initialize` may take longer, so it is tried
        // again.
        var tries = 20
        while true {
            do throws(SDKError) {
                try sdk.initialize(config(timeout: timeout))
                return sdk
            } catch {
                tries -= 1
                guard error.status == .timedOut, tries > 0 else { throw error }
            }
        }
    }

    @discardableResult
    func registered(_ id: String = "alice@example.com", pin: String = "1234") throws -> User {
        let user = try sdk.makeNewUser(id)
        try sdk.startRegistration(user)
        try sdk.confirmRegistration(user)
        try finishRegistration(user, pin)
        return user
    }

    func finishRegistration(_ user: User, _ pin: String, sdk other: SDK? = nil) throws(SDKError) {
        let digits = Array(pin.utf8)
        try (other ?? sdk).finishRegistration(user, pin: digits.span)
    }

    @discardableResult
    func finishAuthentication(_ user: User, _ pin: String, sdk other: SDK? = nil) throws(SDKError) -> String {
        let digits = Array(pin.utf8)
        return try (other ?? sdk).finishAuthentication(user, pin: digits.span)
    }

    @discardableResult
    func logIn(_ user: User, _ pin: String = "1234", sdk other: SDK? = nil) throws(SDKError) -> String {
        try (other ?? sdk).startAuthentication(user)
        return try finishAuthentication(user, pin, sdk: other)
    }

    /// Returns the user with this id as another client core sees it.
    func user(_ id: String = "alice@example.com", in sdk: SDK) throws -> User { try XCTUnwrap(try sdk.user(id)) }
}
