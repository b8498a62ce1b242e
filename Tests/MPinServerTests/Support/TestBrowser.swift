import Foundation
import MPinWire
import Synchronization
import XCTest

/// A browser that shows an access number or a QR code, and the RPA behind it.
struct TestBrowser {
    let backend: Backend
    /// What the phone takes from the screen.
    let wid: String
    let webOTT: String

    /// With an access number.
    init(_ backend: Backend) throws {
        let answer: WaitingBrowserResponse = try backend.call("POST", "/rps/getAccessNumber", "").json()
        self.init(backend: backend, wid: try XCTUnwrap(answer.accessNumber), webOTT: answer.webOTT)
    }

    /// With a QR code.
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

    /// The token, once the phone has logged in.
    func awaitToken() throws -> String {
        let end = Date(timeIntervalSinceNow: 30)
        while Date() < end {
            let answer = try poll(",\"wait\":1")
            if answer.status == "authenticate" { return answer.authOTT }
        }
        throw Sockets.Failure(text: "no login on \(wid)")
    }

    /// What the RPA asks with the token that a browser brings.
    func redeem(_ authOTT: String, _ more: String = "") throws -> Answer {
        try backend.callPrivate("POST", "/authenticate", "{\"authOTT\":\"\(authOTT)\"\(more)}")
    }

    /// What the RPA says afterwards.
    func report(_ authOTT: String, _ status: Int, _ more: String = "") throws -> Answer {
        try backend.callPrivate("POST", "/loginResult", "{\"authOTT\":\"\(authOTT)\",\"status\":\(status)\(more)}")
    }
}

extension TestClient {
    /// Pass 1 and pass 2 for a browser; the one-time token.
    func prove(_ user: User, pin: String = "1234", wid: String) throws -> String {
        let answer = try pass2(pass1(user, pin: pin, permit: timePermit(user)), wid: wid)
        guard let authOTT = answer.object["authOTT"] as? String else {
            throw Sockets.Failure(text: "pass2: \(answer.status) \(answer.text)")
        }
        return authOTT
    }

    /// The phone's last request, which waits for the browser.
    func authenticateMobile(_ authOTT: String) throws -> Answer {
        try backend.call("POST", "/rps/authenticate", "{\"mpinResponse\":{\"pass\":2,\"authOTT\":\"\(authOTT)\"}}")
    }
}

/// A result that is worked on by a thread of its own.
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

    /// The result, as soon as it is there; once.
    func get() throws -> Value {
        guard done.wait(timeout: .now() + 60) == .success else { throw Sockets.Failure(text: "no result in time") }
        return try XCTUnwrap(result.withLock { $0 }).get()
    }
}
