import Foundation
import MPinServer
import XCTest

/// Tests the part of the admin API for the audit log.
final class AdminAuditTests: AdminAPITestCase {
    func testTheAuditLogIsReadByNumbersAcrossItsFiles() throws {
        let server = try start()
        let token = try token(server, "watch", [.audit])
        let state = server.backend.stateFolder
        let place = try AuditPlace(log: state + "/audit/audit.jsonl", keyFile: state + "/audit.key")
        let log = try AuditLog(place)
        // The lines fill several pieces that the reader reads at once, in each of three files.
        let long = String(repeating: "x", count: 1000)
        for file in 1...3 {
            for number in 0..<400 { try log.append(.command("\(file) \(number)", [("long", long)]), part: "test") }
            if file < 3 { try log.rotate(suffix: "\(file)") }
        }
        func page(_ query: String) throws -> (numbers: [Int], next: Int, last: Int) {
            // The tags of the lines look like secrets to those who search the traffic for them, so it is not noted.
            let head = "GET /audit\(query) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
            let answer = try Sockets.raw(Self.port, Data((head + "Connection: close\r\n\r\n").utf8))
            XCTAssertEqual(answer.status, 200, answer.text)
            let lines = answer.object["lines"] as? [[String: Any]] ?? []
            return (
                lines.compactMap { $0["n"] as? Int }, answer.object["next"] as? Int ?? 0,
                answer.object["last"] as? Int ?? 0
            )
        }
        let last = try page("").last
        XCTAssertGreaterThan(last, 1200)
        XCTAssertEqual(try page("").numbers, Array(last - 49...last))
        XCTAssertEqual(try page("?limit=3").numbers, Array(last - 2...last))
        XCTAssertEqual(try page("?from=1&limit=500").numbers, Array(1...500))
        var (next, seen): (Int, [Int]) = (1, [])
        while next <= last {
            let found = try page("?from=\(next)&limit=333")
            seen += found.numbers
            guard found.next > next else { break }
            next = found.next
        }
        XCTAssertEqual(seen, Array(1...last))
        for number in [2, 399, 400, 401, 405, 777, 1199, last] {
            XCTAssertEqual(try page("?from=\(number)&limit=1").numbers, [number])
        }
        let after = try page("?from=\(last + 1)")
        XCTAssertEqual([after.numbers.count, after.next], [0, last + 1])
        try log.append(.command("one more"), part: "test")
        XCTAssertEqual(try page("?from=\(last + 1)").numbers, [last + 1], "what was not there yet")
        for query in ["from=0", "from=-1", "from=x", "limit=501"] {
            XCTAssertEqual(try ask(server, "GET", "/audit?" + query, token: token).status, 400, query)
        }
    }
}
