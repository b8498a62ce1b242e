import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

/// Passes requests on to another server without a thread for any of them: thousands may wait for their answers.
///
/// One for the life of a process: its connections end with that.
struct OnwardClient: Sendable {
    /// Keeps connections for the next request.
    private static let keeping = client()
    /// A connection for each request: a kept one may be dead, and whether the server has read what was sent on it nobody
    /// knows.
    private static let fresh = client(uses: 1)

    /// Largest body of an answer in bytes.
    private static let answerBytes = 1 << 20

    private static func client(uses: Int? = nil) -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.requireForwardSecrecy()
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.decompression = .disabled
        configuration.timeout.connect = .seconds(5)
        // Who may wait, and how many, is said where requests come in: here is no queue.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = .max
        // A server of ours ends idle connections after twice that time, and more.
        configuration.connectionPool.idleTimeout = .seconds(30)
        configuration.maximumUsesPerConnection = uses
        return HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
    }

    struct Answer {
        let response: HTTPClientResponse
        let body: ByteBuffer
    }

    /// The answer, whatever its status. `mayRepeat`: the server may get it twice, where a kept connection turns out to be
    /// dead; all others go out on a new connection, once.
    func send(_ request: HTTPClientRequest, seconds: Int, mayRepeat: Bool) async throws -> Answer {
        let deadline = NIODeadline.now() + .seconds(Int64(seconds))
        guard mayRepeat else { return try await Self.answer(Self.fresh, request, deadline) }
        do { return try await Self.answer(Self.keeping, request, deadline) } catch let error where Self.isLoss(error) {
            return try await Self.answer(Self.fresh, request, deadline)
        }
    }

    private static func answer(
        _ client: HTTPClient, _ request: HTTPClientRequest, _ deadline: NIODeadline
    ) async throws -> Answer {
        let response = try await client.execute(request, deadline: deadline)
        return Answer(response: response, body: try await response.body.collect(upTo: answerBytes))
    }

    /// Whether the connection ended without an answer.
    private static func isLoss(_ error: any Error) -> Bool {
        error as? HTTPClientError == .remoteConnectionClosed || error is IOError
    }
}
