import HTTPTypes
import Hummingbird
import MPinSecrets
import NIOCore

/// Passes requests of clients on to D-TA 2, so that a server in one process needs only one certificate and one open
/// port. Paths that only the RPS uses are not passed on.
struct AuthorityGate: Sendable {
    static let path = "/dta2"
    let authority: Peer

    func addRoutes(to router: Router<RequestContext>) {
        for name in ["/clientSecret", "/timePermit"] {
            router.serve(Self.path + name, [.get: { request, _ in try await pass(name, request) }])
        }
    }

    private func pass(_ name: String, _ request: Request) async throws -> Response {
        let answer: Peer.Answer
        do { answer = try await authority.get(name + "?" + (request.uri.query ?? "")) } catch {
            throw APIError(.badGateway, "The trust authority cannot be reached")
        }
        guard answer.status != 401 else { throw APIError(.unauthorized, "Invalid signature") }
        guard answer.status != 429 else {
            throw APIError(.tooManyRequests, "Too many requests", retryAfter: answer.retryAfter ?? 1)
        }
        let body = answer.body
        let bytes = body.span.withUnsafeBufferPointer { ByteBuffer(bytes: $0) }
        return Response(
            status: .init(code: answer.status), headers: [.contentType: "application/json; charset=UTF-8"],
            body: .init(byteBuffer: bytes))
    }
}
