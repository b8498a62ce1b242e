import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

/// Forwards requests to another server. A waiting request needs no thread, so thousands may wait.
///
/// All values of this type use the same two clients, whose connections end with the process.
struct ForwardingClient: Sendable {
    /// The client that keeps connections for further requests.
    private static let keeping = client()
    /// The client that opens a new connection for each request. It sends requests that must not be sent twice: a kept
    /// connection may turn out to be broken, and then nobody knows whether the server has read the request.
    private static let fresh = client(uses: 1)

    /// Largest body of an answer in bytes.
    private static let answerBytes = 1 << 20

    /// `addresses`: where the client connects to in the place of a host, by the host's name.
    static func client(uses: Int? = nil, at addresses: [String: String] = [:]) -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.requireForwardSecrecy()
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
        configuration.dnsOverride = addresses
        // If there is another address, it is tried instead of the same one again.
        configuration.connectionPool.retryConnectionEstablishment = addresses.isEmpty
        configuration.httpVersion = .http1Only
        configuration.decompression = .disabled
        configuration.timeout.connect = .seconds(5)
        // This client needs no queue, because the listener limits the number of requests.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = .max
        // This is less than half of the time after which our servers close idle connections, so that a kept connection
        // is hardly ever broken.
        configuration.connectionPool.idleTimeout = .seconds(30)
        configuration.maximumUsesPerConnection = uses
        return HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
    }

    struct Answer {
        let response: HTTPClientResponse
        let body: ByteBuffer
    }

    /// Sends a request and returns its answer, whatever its status is. `mayRepeat`: the request may be sent a second
    /// time if a kept connection turns out to be broken. Otherwise it is sent once, on a new connection.
    func send(_ request: HTTPClientRequest, seconds: Int, mayRepeat: Bool) async throws -> Answer {
        let deadline = NIODeadline.now() + .seconds(Int64(seconds))
        guard mayRepeat else { return try await Self.answer(Self.fresh, request, deadline) }
        do { return try await Self.answer(Self.keeping, request, deadline) } catch let error where Self.isLoss(error) {
            return try await Self.answer(Self.fresh, request, deadline)
        }
    }

    /// Sends a request once, on a new connection, and returns the status of its answer. The body is not read.
    func status(of request: HTTPClientRequest, seconds: Int) async throws -> UInt {
        let deadline = NIODeadline.now() + .seconds(Int64(seconds))
        return try await Self.fresh.execute(request, deadline: deadline).status.code
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
