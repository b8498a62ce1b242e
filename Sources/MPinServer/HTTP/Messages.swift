import HTTPTypes
import Hummingbird
import MPinSecrets
import MPinService
import MPinWire
import NIOCore

extension Response {
    /// `value` as JSON, without the needless `\/` that some old parsers stumble over.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        guard let body = try? JSON.bytes(value) else { return Response(status: .internalServerError) }
        return Response(
            status: status, headers: [.contentType: "application/json; charset=UTF-8"],
            body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }

    static func html(_ page: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "text/html; charset=UTF-8"],
            body: .init(byteBuffer: ByteBuffer(string: page)))
    }
}

extension Request {
    /// The same with its body read. One that is longer than allowed by its own word is left to who refuses it.
    func withBody(_ limits: Limits) async throws -> Request {
        let length = declaredLength ?? 0
        guard (1...limits.bodyBytes).contains(length) || headers.contains(.transferEncoding) else { return self }
        var whole = self
        whole.body = RequestBody(buffer: try await bytes(limits))
        return whole
    }

    /// `Content-Length`, of which no request has two. The framework's way to all values of a name is long.
    private var declaredLength: Int? {
        headers.first { $0.name == .contentLength }.flatMap { Int($0.value) }
    }

    /// The body, whatever its Content-Type says (wire section 2); 413 beyond the limit.
    func bytes(_ limits: Limits) async throws -> ByteBuffer {
        if let declaredLength, declaredLength > limits.bodyBytes { throw APIError.bodyTooLarge }
        do {
            return try await body.collect(upTo: limits.bodyBytes)
        } catch is NIOTooManyBytesError {
            throw APIError.bodyTooLarge
        }
    }

    /// The body as a JSON object of the given shape; else `failure`.
    func json<T: Decodable>(
        _ type: T.Type, _ limits: Limits, or failure: HTTPResponse.Status = .badRequest
    ) async throws -> T {
        try decoded(type, from: await bytes(limits), or: failure)
    }

    /// No object may name a member twice (wire section 2): of two such members one program takes the first and the next
    /// one the last, and what one has checked is not what the other works with.
    func decoded<T: Decodable>(
        _ type: T.Type, from body: ByteBuffer, or failure: HTTPResponse.Status = .badRequest
    ) throws -> T {
        do { return try JSON.decode(type, from: body.readableBytesUInt8Span) } catch {
            throw APIError(failure, "Invalid or missing data in the request body")
        }
    }

    enum Kind {
        /// A page that waits for a phone: it costs a connection and no work.
        case page
        /// A phone that waits for its page: likewise.
        case phone
        /// A step of a login behind its first.
        case endOfLogin
        case other

        /// Whether it is answered when a person has done something.
        var waits: Bool { self == .page || self == .phone }
    }

    /// What the last word of its path says. With a slash at its end a path is the same to the router. A phone's
    /// `authenticate` stands behind the RPS's prefix; without one it is the RPA's, which asks for all phones and waits for
    /// none (wire section 7).
    var kind: Kind {
        let words = uri.path.split(separator: "/")
        return switch words.last {
        case "access": .page
        case "authenticate" where words.count == 1: .endOfLogin
        case "authenticate": .phone
        case "pass2", "mpinAuthenticate": .endOfLogin
        default: .other
        }
    }

    /// A member of the query with its escapes undone; nil where it is missing.
    func query(_ name: String) -> String? { uri.queryParameters[Substring(name)].map(String.init) }

    /// The M-Pin ID in the path: 404 unless it is hex, 400 for half a byte.
    func mpinID(_ context: RequestContext) throws -> MPinID {
        let text = context.parameters.get("id") ?? ""
        guard !text.isEmpty, text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
            throw APIError.notFound
        }
        guard let id = MPinID(hex: text) else { throw APIError.invalidID }
        return id
    }
}

extension Request {
    /// 401 unless the request carries the bearer token of `message` under `key`.
    func requireBearer(_ message: SignedMessage, key: SecretBytes) throws {
        let given = headers[.authorization] ?? ""
        guard given.hasPrefix("Bearer "), message.isSigned(String(given.dropFirst(7)), key: key) else {
            throw APIError(.unauthorized, "Missing or wrong bearer token")
        }
    }
}
