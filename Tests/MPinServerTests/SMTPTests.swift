import Foundation
import LoopbackServer
import MPinServer
import Synchronization
import XCTest

/// Tests the activation mail over SMTP. A small server in the test receives it.
final class SMTPTests: XCTestCase {
    func testTheActivationLinkComesByMail() throws {
        let sink = try MailSink()
        let server = try InProcess {
            $0.delivery = .smtp(url: "smtp://127.0.0.1:\(sink.port)", from: "mpin@example.com")
        }
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        let mail = try XCTUnwrap(sink.wait())
        XCTAssertTrue(mail.contains("MAIL FROM:<mpin@example.com>"), mail)
        XCTAssertTrue(mail.contains("RCPT TO:<alice@example.com>"))
        let link = try XCTUnwrap(mail.components(separatedBy: "\r\n").first { $0.hasPrefix("http://") })
        let path = "/" + (link.components(separatedBy: "/").last ?? "")
        XCTAssertEqual(try server.backend.call("POST", path, "").status, 200)
        let user = try client.finishRegistration(registration, pin: "1234")
        XCTAssertEqual(try client.login(user, pin: "1234").status, 200)
    }

    func testWithoutAMailServerTheRegistrationFailsAndLeavesNothingPending() throws {
        let port = freePorts(1)[0]
        let server = try InProcess { $0.delivery = .smtp(url: "smtp://127.0.0.1:\(port)", from: "mpin@example.com") }
        let answer = try server.backend.call("PUT", "/rps/user", "{\"userId\":\"alice@example.com\"}")
        XCTAssertEqual(answer.status, 500)
        XCTAssertEqual(try server.backend.call("GET", "/rps/clientSettings").status, 200)
    }
}

/// An SMTP server that receives one mail and stores the whole dialogue.
private final class MailSink: Sendable {
    let port: Int
    private let said = Mutex("")
    private let done = DispatchSemaphore(value: 0)

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, size)
                _ = getsockname(listener, $0, &size)
            }
        }
        guard listen(listener, 1) == 0 else { throw Sockets.Failure(text: "listen") }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in serve(listener) }
    }

    func wait() -> String? { done.wait(timeout: .now() + 10) == .success ? said.withLock { $0 } : nil }

    private func serve(_ listener: Int32) {
        let file = accept(listener, nil, nil)
        defer {
            close(file)
            close(listener)
        }
        func say(_ line: String) { Sockets.send(file, Data((line + "\r\n").utf8)) }
        say("220 sink")
        var isBody = false
        while let piece = Sockets.receive(file) {
            let text = String(decoding: piece, as: UTF8.self)
            said.withLock { $0 += text }
            if isBody {
                guard text.hasSuffix("\r\n.\r\n") || said.withLock({ $0.hasSuffix("\r\n.\r\n") }) else { continue }
                isBody = false
                say("250 taken")
                done.signal()
            } else if text.hasPrefix("DATA") {
                isBody = true
                say("354 go on")
            } else if text.hasPrefix("QUIT") {
                return say("221 bye")
            } else {
                say("250 sink")
            }
        }
    }
}
