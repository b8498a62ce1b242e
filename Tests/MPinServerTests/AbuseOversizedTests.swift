import Foundation
import MPinServer
import XCTest

/// Tests requests that are too large. Each is refused at its limit, and the server does not read what comes after the
/// limit.
final class AbuseOversizedTests: XCTestCase {
    private let limits = Limits()
    /// More bytes than the system buffers for a server that does not read.
    private let unreadBytes = 8_000_000
    /// The number of bytes that a test sends if nothing stops it.
    private let floodBytes = 16_000_000

    private func running() throws -> InProcess { try InProcess().keep(in: self) }

    private func registration(_ count: Int) -> String {
        let body = "{\"userId\":\"alice@example.com\"}"
        return body + String(repeating: " ", count: count - body.utf8.count)
    }

    private func chunked(_ body: String) -> Data {
        Data(
            ("PUT /rps/user HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                + String(body.utf8.count, radix: 16) + "\r\n\(body)\r\n0\r\n\r\n").utf8)
    }

    func testABodyOf64KiBIsReadAndOneByteMoreIsNot() throws {
        let backend = try running().backend
        for (count, status) in [(limits.bodyBytes, 200), (limits.bodyBytes + 1, 413)] {
            let body = registration(count)
            XCTAssertEqual(try backend.call("PUT", "/rps/user", body).status, status, "\(count) bytes")
            XCTAssertEqual(try Sockets.raw(backend.port, chunked(body)).status, status, "\(count) bytes in a chunk")
        }
        XCTAssertEqual(limits.bodyBytes, 65_536)
    }

    func testHeadersOf16KiBOrAThousandAreTheEndOnEveryListener() throws {
        let backend = try running().backend
        let ports = [backend.port, backend.privatePort, backend.dta1Port, backend.dta2Port]
        func status(_ port: Int, _ fields: String) throws -> Int {
            let head = "GET /nope HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" + fields + "\r\n"
            return try Sockets.raw(port, Data(head.utf8)).status
        }
        let many = { (count: Int) in (0..<count).map { "X-\($0): 1\r\n" }.joined() }
        let large = { (count: Int) in "X-Large: " + String(repeating: "a", count: count - 7) + "\r\n" }
        for port in ports {
            // `head` already contains two header fields.
            XCTAssertEqual(try status(port, many(limits.headerCount - 2)), 404)
            XCTAssertEqual(try status(port, many(limits.headerCount - 1)), 400)
            XCTAssertEqual(try status(port, many(1000)), 400)
            XCTAssertEqual(try status(port, large(limits.headerBytes - 64)), 404)
            XCTAssertEqual(try status(port, large(limits.headerBytes + 1)), 400)
            let eight = (0..<8).map { "X-\($0): " + String(repeating: "a", count: 2046) + "\r\n" }.joined()
            XCTAssertEqual(try status(port, eight), 400, "none of them is large, all together are")
        }
        XCTAssertEqual(limits.headerBytes, 16_384)
    }

    func testWhatLiesBeyondTheLimitsIsNotRead() throws {
        let backend = try running().backend
        let put = "PUT /rps/user HTTP/1.1\r\nHost: h\r\n"
        let members = (0..<1_000_000).map { "\"k\($0)\":0," }.joined()
        let floods = [
            ("a million members", put + "Content-Length: \(members.utf8.count)\r\n\r\n{", members, 413),
            (
                "a million members in chunks", put + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
                "1000\r\n" + String(repeating: "\"k\":0,\"m\":0,\"n:\"", count: 256) + "\r\n", 413
            ),
            ("one chunk without an end", put + "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n", " ", 413),
            ("headers without an end", put, "X-Header: 1\r\n", 400),
            ("a header without an end", put + "X-Header: ", "a", 400),
            ("a method without an end", "", "A", 400),
        ]
        for (name, head, piece, status) in floods {
            let (sent, answer) = try flood(backend.port, head, piece)
            XCTAssertEqual(answer.status, status, name)
            XCTAssertLessThan(sent, unreadBytes, name)
        }
        XCTAssertEqual(try backend.call("GET", "/rps/clientSettings").status, 200)
    }

    /// Sends `head`, then `piece` again and again until the server has closed the connection. Returns the number of
    /// bytes sent, and the answer.
    private func flood(_ port: Int, _ head: String, _ piece: String) throws -> (sent: Int, Answer) {
        let file = try Sockets.connect(port)
        defer { close(file) }
        var size: Int32 = 65_536
        setsockopt(file, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        let bytes = Array(String(repeating: piece, count: max(1, 65_536 / piece.utf8.count)).utf8)
        Sockets.send(file, Data(head.utf8))
        var (sent, answer, deadline) = (head.utf8.count, Data(), Date(timeIntervalSinceNow: 60))
        while sent < floodBytes, Date() < deadline {
            var entry = pollfd(fd: file, events: Int16(POLLIN | POLLOUT), revents: 0)
            guard poll(&entry, 1, 1000) > 0 else { continue }
            if entry.revents & Int16(POLLIN) != 0 {
                guard let piece = Sockets.receive(file) else { break }
                answer += piece
            }
            guard entry.revents & Int16(POLLERR | POLLHUP) == 0 else { break }
            guard entry.revents & Int16(POLLOUT) != 0 else { continue }
            let start = (sent - head.utf8.count) % bytes.count
            let count = bytes[start...].withUnsafeBytes {
                send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            guard count > 0 || errno == EAGAIN else { break }
            sent += max(0, count)
            deadline = Date(timeIntervalSinceNow: 60)
        }
        return (sent, Sockets.parse(answer + Sockets.receiveAll(file)))
    }

    /// A body with as many members or nested brackets as possible must be read in no noticeable time.
    func testABodyFullOfMembersOrBracketsTakesNoTime() throws {
        let backend = try running().backend
        let members = (0..<5_800).map { "\"k\($0)\":0," }.joined()
        let bodies = [
            ("{\(members)\"userId\":\"alice@example.com\"}", 200),
            ("{\"userId\":\"alice@example.com\",\"userData\":\"\(String(repeating: "\\u0041", count: 10_000))\"}", 200),
            (String(repeating: "[", count: limits.bodyBytes), 400),
            (String(repeating: "{\"a\":", count: limits.bodyBytes / 5), 400),
        ]
        for (body, status) in bodies {
            XCTAssertLessThanOrEqual(body.utf8.count, limits.bodyBytes)
            let start = Date()
            XCTAssertEqual(try backend.call("PUT", "/rps/user", body).status, status, String(body.prefix(20)))
            XCTAssertLessThan(Date().timeIntervalSince(start), 5)
        }
    }

    /// The server never decompresses a body. It must refuse compressed ones, because their bytes are not JSON.
    func testABodyInACodingIsNotInflated() throws {
        let server = try running()
        let body = "{\"userId\":\"alice@example.com\"}"
        let small = try gzip(body)
        let bomb = try gzip(registration(50_000_000))
        XCTAssertLessThan(bomb.count, limits.bodyBytes)
        // Two gzip files in a row are also a valid gzip file.
        let larger = bomb + bomb
        XCTAssertGreaterThan(larger.count, limits.bodyBytes)
        for coding in ["gzip", "x-gzip", "deflate", "gzip, gzip"] {
            for (data, status) in [(small, 400), (bomb, 400), (larger, 413)] {
                let answer = try server.backend.call("PUT", "/rps/user", data, headers: ["Content-Encoding": coding])
                XCTAssertEqual(answer.status, status, "\(coding), \(data.count) bytes")
            }
        }
        XCTAssertThrowsError(try server.backend.link(to: "alice@example.com"), "nobody was registered")
        let pass1 = try server.backend.call("POST", "/rps/pass1", small, headers: ["Content-Encoding": "gzip"])
        XCTAssertEqual(pass1.status, 403)
        // The same body without compression is accepted, which shows that it was refused because of the compression.
        XCTAssertEqual(try server.backend.call("PUT", "/rps/user", body).status, 200)
    }

    private func gzip(_ text: String) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/gzip")
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        Thread.detachNewThread {
            try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try? input.fileHandleForWriting.close()
        }
        return try output.fileHandleForReading.readToEnd() ?? Data()
    }
}
