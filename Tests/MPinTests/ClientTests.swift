import Foundation
import LoopbackServer
import MPin
import XCTest

final class ClientTests: XCTestCase {
    private var folder = ""

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpin-client-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

    private func client(_ backend: String? = nil) async throws -> MPinClient {
        try await MPinClient(Configuration(storagePath: folder + "/store", backend: backend))
    }

    /// Starts a server that sends client settings after `asked` has returned.
    private func server(asked: @escaping @Sendable () -> Void = {}) throws -> LoopbackServer {
        try LoopbackServer { _ in
            asked()
            return .json(
                200,
                [
                    "appID": "c0ffee", "registerURL": "/u", "signatureURL": "/s", "certivoxURL": "/d/",
                    "timePermitsURL": "/t", "mpinAuthServerURL": "/rps", "authenticateURL": "/a",
                ])
        }
    }

    /// A call waits while another one is running. Cancelling the waiting call must not end the running one.
    func testACancelEndsNoOtherTasksCall() async throws {
        let (asked, questions) = AsyncStream<Void>.makeStream()
        let server = try server {
            questions.yield()
            // Delays the answer for longer than the 50 ms after which a running call checks whether it was cancelled.
            Thread.sleep(forTimeInterval: 0.5)
        }
        defer { server.stop() }
        let client = try await client()
        let url = server.url
        let running = Task { await failure { () throws(MPinError) in try await client.testBackend(url) } }
        for await _ in asked { break }
        let waiting = Task { await failure { () throws(MPinError) in try await client.testBackend(url) } }
        waiting.cancel()
        let (first, second) = (await running.value, await waiting.value)
        XCTAssertNil(first)
        XCTAssertEqual(second?.code, .canceled)
        XCTAssertEqual(server.received.count, 1)
    }

    func testACancelEndsItsOwnCall() async throws {
        let (asked, questions) = AsyncStream<Void>.makeStream()
        let isOver = DispatchSemaphore(value: 0)
        let server = try server {
            questions.yield()
            isOver.wait()
        }
        defer { server.stop() }
        let client = try await client()
        let url = server.url
        let running = Task { await failure { () throws(MPinError) in try await client.testBackend(url) } }
        for await _ in asked { break }
        running.cancel()
        let result = await running.value
        isOver.signal()
        XCTAssertEqual(result?.code, .canceled)
    }

    func testNoFactorIsLeftOfACallThatWasRefusedOneOfThem() async throws {
        let server = try server()
        defer { server.stop() }
        let client = try await client(server.url)
        let user = try await client.makeUser("alice")
        let good = [PIN](repeating: PIN("567890"), count: 7)
        let refused = await failure { () throws(MPinError) in
            try await client.finishRegistration(user, pin: PIN("1234"), factors: good + [PIN("12")])
        }
        XCTAssertEqual(refused?.code, .pinInvalid)
        // Eight factors are allowed. If the seven good factors of the refused call were still there, these two would be
        // too many.
        let second = await failure { () throws(MPinError) in
            try await client.finishRegistration(user, pin: PIN("1234"), factors: Array(good.prefix(2)))
        }
        XCTAssertEqual(second?.code, .flowError)
        XCTAssertEqual(second?.text.contains("factors"), false, second?.text ?? "")
    }
}

private func failure(_ work: () async throws(MPinError) -> Void) async -> MPinError? {
    do throws(MPinError) {
        try await work()
        return nil
    } catch { return error }
}
