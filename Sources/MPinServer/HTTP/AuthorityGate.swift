import HTTPTypes
import Hummingbird
import MPinSecrets
import NIOCore

/// Passes requests of clients on to a D-TA: to D-TA 2, so that a server in one process needs only one certificate and
/// one open port, and to D-TA 1 for clients of MIRACL Trust, which ask both. Paths that only the RPS uses are not passed
/// on.
struct AuthorityGate: Sendable {
    static let path = "/dta2"
    /// The path under which clients of MIRACL Trust reach D-TA 1.
    static let firstPath = "/dta1"
    var path = Self.path
    /// The D-TA's paths that are passed on.
    var names = [TrustAuthorityServer.secretPath, TrustAuthorityServer.keyedSecretPath, "/timePermit"]
    let authority: Peer
    /// For the shares of MIRACL Trust and for those of Milagro.
    let cors: (trust: CORSPolicy?, others: CORSPolicy?)

    /// The gate to D-TA 1.
    static func first(_ authority: Peer) -> AuthorityGate {
        AuthorityGate(
            path: firstPath, names: [TrustAuthorityServer.keyedSecretPath], authority: authority,
            cors: (.trustShares, nil))
    }

    var routes: [Route] {
        [.rest(below: path, limit: .other, cors: cors.others)]
            + names.map { name in
                let isTrust = name == TrustAuthorityServer.keyedSecretPath
                return Route(.get, path + name, limit: .authority, cors: isTrust ? cors.trust : cors.others) {
                    request, _ in try await pass(name, request)
                }
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
