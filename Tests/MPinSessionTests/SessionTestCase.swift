import Foundation
import LoopbackServer
import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinSession
import MPinWire
import XCTest

/// A test case with a provider, an app's folder and a clock that a test can set.
class SessionTestCase: XCTestCase {
    private(set) var folder = ""
    private(set) var server: ProviderServer!
    /// How far the clock of the device is ahead, in milliseconds.
    let later = Locked<Int64>(0)

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpin-session-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        server = try ProviderServer()
    }

    override func tearDownWithError() throws {
        server.stop()
        server = nil
        try FileManager.default.removeItem(atPath: folder)
    }

    func newSDK(timeout: UInt32 = 20_000, random: @escaping RandomSource = systemRandom) throws -> SDK {
        let later = later
        let now: Clock = { () throws(SDKError) in try systemClock() + later.withLock { $0 } }
        let sdk = SDK(environment: Environment(random: random, now: now))
        try sdk.initialize(SDKConfig(storagePath: folder + "/store", timeoutMilliseconds: timeout))
        return sdk
    }

    /// Opens the session that is stored in the folder, with the provider `home`, an OpenID provider with logins in the
    /// browser. `callbacks` are those of the app.
    func open(
        _ sdk: SDK? = nil, _ callbacks: SessionCallbacks = SessionCallbacks(), loginMilliseconds: UInt32 = 60_000
    ) throws -> AppSession {
        let session = try AppSession(
            try sdk ?? newSDK(), loginMilliseconds: loginMilliseconds, callbacks: callbacks)
        try session.add(home)
        addTeardownBlock { session.close() }
        return session
    }

    var home: Provider {
        var provider = Provider(
            name: "home", login: .browser, clientID: "app", issuer: server.url, origins: [server.url])
        provider.redirectURI = "com.example.app:/callback"
        return provider
    }

    /// The same provider as one of OAuth, without OpenID.
    var plain: Provider {
        var provider = Provider(name: "plain", login: .deviceCode, clientID: "app", origins: [server.url])
        provider.endpoints.token = server.url + "/token"
        provider.endpoints.device = server.url + "/device"
        provider.endpoints.revocation = server.url + "/revoke"
        return provider
    }

    /// A session that nobody has logged in to yet. The browser comes back to the redirect URI with what `answer` makes
    /// of the members of the authorization request.
    func browsing(
        _ sdk: SDK? = nil, loginMilliseconds: UInt32 = 60_000,
        _ answer: @escaping @Sendable ([String: String]) -> String = { "code=1&state=\($0["state"] ?? "")" }
    ) throws -> AppSession {
        let (opened, server) = (Locked<AppSession?>(nil), server!)
        var callbacks = SessionCallbacks()
        callbacks.openBrowser = { url in
            let items = URLComponents(string: url)?.queryItems ?? []
            let members = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
            guard members["response_type"] == "code" else { return true }
            server.state.withLock { $0.nonce = members["nonce"] ?? "" }
            do throws(SDKError) {
                try opened.withLock { $0 }?.resume("com.example.app:/callback?\(answer(members))")
                return true
            } catch { return false }
        }
        let session = try open(sdk, callbacks, loginMilliseconds: loginMilliseconds)
        opened.withLock { $0 = session }
        addTeardownBlock { opened.withLock { $0 = nil } }
        return session
    }

    /// A session with a login at `home`.
    func loggedIn(_ sdk: SDK? = nil) throws -> AppSession {
        let session = try browsing(sdk)
        try session.login("home")
        return session
    }

    func failure(_ body: () throws(SDKError) -> Void) -> SDKError? {
        do throws(SDKError) { try body() } catch { return error }
        return nil
    }

    func request(_ method: HTTPRequest.Method = .get, body: String? = nil, _ path: String = "/api") -> HTTPRequest {
        HTTPRequest(
            method: method, url: server.url + path, headers: [("authorization", "Basic eA=="), ("X-Order", "7")],
            body: body.map { Array($0.utf8) }, deadline: .after(milliseconds: 0))
    }
}
