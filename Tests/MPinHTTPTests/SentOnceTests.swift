import LoopbackServer
import MPinHTTP
import XCTest

/// Tests how often a request is sent if the server has read it and then closes the kept connection without an answer.
final class SentOnceTests: XCTestCase {
    /// A server that closes the connection without an answer at the first request for `/die`, and answers all others.
    private func server() throws -> LoopbackServer {
        let deaths = Locked(0)
        let server = try LoopbackServer { request in
            guard request.path == "/die" else { return .answer(200, body: []) }
            let isFirst = deaths.withLock { deaths -> Bool in
                deaths += 1
                return deaths == 1
            }
            return isFirst ? .raw([]) : .answer(200, body: [])
        }
        addTeardownBlock { server.stop() }
        return server
    }

    /// Returns how often the server has read the request, and whether there was an answer.
    private func send(_ method: HTTPRequest.Method, body: [UInt8]?, mayRepeat: Bool? = nil) throws -> (Int, Bool) {
        let server = try server()
        let transport = CurlTransport()
        let deadline = Deadline.after(milliseconds: 20_000)
        // Makes a request first, whose connection is kept for the next one.
        _ = try transport.execute(HTTPRequest(url: server.url, deadline: deadline))
        let request = HTTPRequest(
            method: method, url: server.url + "/die", body: body, deadline: deadline, mayRepeat: mayRepeat)
        let answer = try? transport.execute(request)
        return (server.received.filter { $0.path == "/die" }.count, answer != nil)
    }

    func testAPOSTOrPUTIsNeverSentTwice() throws {
        for method in [HTTPRequest.Method.post, .put] {
            for body in [[], Array("{}".utf8), [UInt8](repeating: 32, count: 200_000)] {
                let (count, isAnswered) = try send(method, body: body)
                XCTAssertEqual(count, 1, "\(method) \(body.count)")
                XCTAssertFalse(isAnswered)
            }
        }
    }

    func testAGETThatHandsSomethingOutOnceIsNeverSentTwice() throws {
        let (count, isAnswered) = try send(.get, body: nil, mayRepeat: false)
        XCTAssertEqual(count, 1)
        XCTAssertFalse(isAnswered)
    }

    /// Tests that other GET requests are sent again. This also shows that these tests do use the kept connection.
    func testAnyOtherGETIsSentAgain() throws {
        let (count, isAnswered) = try send(.get, body: nil)
        XCTAssertEqual(count, 2)
        XCTAssertTrue(isAnswered)
        let (posts, _) = try send(.post, body: [1], mayRepeat: true)
        XCTAssertEqual(posts, 2)
    }
}
