import LoopbackServer
import MPinHTTP
import XCTest

/// What happens to a request whose kept connection the server closes after it has read the request.
final class SentOnceTests: XCTestCase {
    /// Closes the connection without an answer at the first request to `/die`, answers all others.
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

    /// The number of times that the server has read the request, and whether there was an answer.
    private func send(_ method: HTTPRequest.Method, body: [UInt8]?, mayRepeat: Bool? = nil) throws -> (Int, Bool) {
        let server = try server()
        let transport = CurlTransport()
        let deadline = Deadline.after(milliseconds: 20_000)
        // Leaves a connection to be kept.
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

    /// So the kept connection was used, and the others would have been sent twice on it.
    func testAnyOtherGETIsSentAgain() throws {
        let (count, isAnswered) = try send(.get, body: nil)
        XCTAssertEqual(count, 2)
        XCTAssertTrue(isAnswered)
        let (posts, _) = try send(.post, body: [1], mayRepeat: true)
        XCTAssertEqual(posts, 2)
    }
}
