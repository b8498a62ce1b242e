import Foundation
import XCTest

/// Tests how the real program ends: it must answer every request that has arrived.
final class ShutdownTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    /// Stops the process (SIGSTOP) while the test opens connections, sends requests and gives the signal to end. When
    /// the process continues, it finds the requests and the signal at the same time.
    func testSIGTERMResetsNoRequestThatHasArrived() throws {
        for _ in 0..<3 {
            let mpind = try Mpind(backend)
            try mpind.waitUntilReady()
            let known = try (0..<20).map { _ in try keptConnection() }
            kill(mpind.process.processIdentifier, SIGSTOP)
            let fresh = try (0..<60).map { _ in try Sockets.connect(backend.port) }
            for file in known + fresh { ask(file) }
            kill(mpind.process.processIdentifier, SIGTERM)
            kill(mpind.process.processIdentifier, SIGCONT)
            for file in known + fresh {
                XCTAssertEqual(Sockets.parse(Sockets.receiveAll(file)).status, 200)
                close(file)
            }
            let start = Date()
            XCTAssertEqual(mpind.stop(SIGTERM), 0)
            XCTAssertLessThan(Date().timeIntervalSince(start), 10)
        }
    }

    /// While the program waits for the last requests, it must refuse new connections at once.
    func testNoNewConnectionIsTakenDuringTheEnd() throws {
        let mpind = try Mpind(backend)
        try mpind.waitUntilReady()
        let late = try Sockets.connect(backend.port)
        let body = "{\"userId\":\"alice@example.com\"}"
        let head = "PUT /rps/user HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.utf8.count)\r\n"
        Sockets.send(late, Data((head + "Expect: 100-continue\r\n\r\n").utf8))
        XCTAssertEqual(Sockets.parse(try XCTUnwrap(Sockets.receive(late))).statuses, [100])
        kill(mpind.process.processIdentifier, SIGTERM)
        let end = Date(timeIntervalSinceNow: 8)
        while let file = try? Sockets.connect(backend.port) {
            close(file)
            guard Date() < end else { return XCTFail("connections are still taken") }
        }
        Sockets.send(late, Data(body.utf8))
        XCTAssertEqual(Sockets.parse(Sockets.receiveAll(late)).status, 200)
        close(late)
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// Connections that wait for their next request must be closed, and must not delay the end.
    func testSIGTERMClosesConnectionsThatHaveNothingToDo() throws {
        let mpind = try Mpind(backend)
        try mpind.waitUntilReady()
        let idle = try (0..<20).map { _ in try keptConnection() }
        defer { idle.forEach { close($0) } }
        let start = Date()
        XCTAssertEqual(mpind.stop(SIGTERM), 0, mpind.logText)
        XCTAssertLessThan(Date().timeIntervalSince(start), 8, "sooner than the time for running requests")
        for file in idle { XCTAssertNil(Sockets.receive(file), "closed, and nothing said") }
    }

    /// Returns a connection that has got one answer and is still open.
    private func keptConnection() throws -> Int32 {
        let file = try Sockets.connect(backend.port)
        ask(file)
        XCTAssertEqual(Sockets.parse(try XCTUnwrap(Sockets.receive(file))).status, 200)
        return file
    }

    private func ask(_ file: Int32) {
        Sockets.send(file, Data("GET /rps/clientSettings HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
    }
}
