import Foundation
import MPinWire
import Synchronization
import XCTest

/// A browser that shows an access number or a QR code, and the RPA behind it.
struct TestBrowser {
    let backend: Backend
    /// The access number, or the id in the QR code, which the phone reads from the screen.
    let wid: String
    let webOTT: String

    /// Opens a browser that shows an access number.
    init(_ backend: Backend) throws {
        let answer: WaitingBrowserResponse = try backend.call("POST", "/rps/getAccessNumber", "").json()
        self.init(backend: backend, wid: try XCTUnwrap(answer.accessNumber), webOTT: answer.webOTT)
    }

    /// Opens a browser that shows a QR code.
    init(code backend: Backend) throws {
        let answer: WaitingBrowserResponse = try backend.call("POST", "/rps/getQrUrl", "").json()
        let id = try XCTUnwrap(answer.qrUrl?.split(separator: "#").last)
        self.init(backend: backend, wid: String(id), webOTT: answer.webOTT)
    }

    private init(backend: Backend, wid: String, webOTT: String) {
        self.backend = backend
        self.wid = wid
        self.webOTT = webOTT
    }

    func poll(_ more: String = "") throws -> AccessResponse {
        try backend.call("POST", "/rps/access", "{\"webOTT\":\"\(webOTT)\"\(more)}").json()
    }

    /// Polls until the phone has logged in. Returns the token for the browser.
    func awaitToken() throws -> String {
        let end = Date(timeIntervalSinceNow: 30)
        while Date() < end {
            let answer = try poll(",\"wait\":1")
            if answer.status == "authenticate" { return answer.authOTT }
        }
        throw Sockets.Failure(text: "no login on \(wid)")
    }

    /// Sends the RPA's request that redeems the token of a browser.
    func redeem(_ authOTT: String, _ more: String = "") throws -> Answer {
        try backend.callPrivate("POST", "/authenticate", "{\"authOTT\":\"\(authOTT)\"\(more)}")
    }

    /// Sends the RPA's report of its verdict.
    func report(_ authOTT: String, _ status: Int, _ more: String = "") throws -> Answer {
        try backend.callPrivate("POST", "/loginResult", "{\"authOTT\":\"\(authOTT)\",\"status\":\(status)\(more)}")
    }
}

extension TestClient {
    /// Sends pass 1 and pass 2 for a browser. Returns the one-time token.
    func prove(_ user: User, pin: String = "1234", wid: String) throws -> String {
        let answer = try pass2(pass1(user, pin: pin, permit: timePermit(user)), wid: wid)
        guard let authOTT = answer.object["authOTT"] as? String else {
            throw Sockets.Failure(text: "pass2: \(answer.status) \(answer.text)")
        }
        return authOTT
    }

    /// Sends the phone's last request, which waits until the browser has redeemed the token.
    func authenticateMobile(_ authOTT: String) throws -> Answer {
        try backend.call("POST", "/rps/authenticate", "{\"mpinResponse\":{\"pass\":2,\"authOTT\":\"\(authOTT)\"}}")
    }
}

/// A result that another thread computes.
final class Later<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ work: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread { [self] in
            let value = Result { try work() }
            result.withLock { $0 = value }
            done.signal()
        }
    }

    /// Waits for the result and returns it.
    func get() throws -> Value {
        guard done.wait(timeout: .now() + 600) == .success else { throw Sockets.Failure(text: "no result in time") }
        return try XCTUnwrap(result.withLock { $0 }).get()
    }
}
