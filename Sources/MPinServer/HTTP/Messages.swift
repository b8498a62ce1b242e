import HTTPTypes
import Hummingbird
import MPinSecrets
import MPinService
import MPinWire
import NIOCore

extension Response {
    /// A response with `value` as JSON, without the escape `\/`, which some old parsers cannot read.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        json(try? JSON.bytes(value), status)
    }

    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        json(try? JSON.bytes(value), status)
    }

    private static func json(_ text: [UInt8]?, _ status: HTTPResponse.Status) -> Response {
        guard let text else { return Response(status: .internalServerError) }
        return Response(
            status: status, headers: [.contentType: "application/json; charset=UTF-8"],
            body: .init(byteBuffer: ByteBuffer(bytes: text)))
    }

    static func html(_ page: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "text/html; charset=UTF-8"],
            body: .init(byteBuffer: ByteBuffer(string: page)))
    }
}

extension Request {
    /// The request with its body read into memory. A body whose `Content-Length` is above the limit is not read;
    /// ``bytes(_:)`` refuses it later.
    func withBody(_ limits: Limits) async throws -> Request {
        let length = declaredLength ?? 0
        guard (1...limits.bodyBytes).contains(length) || headers.contains(.transferEncoding) else { return self }
        var whole = self
        whole.body = RequestBody(buffer: try await bytes(limits))
        return whole
    }

    /// Whether the body is larger than those of logins, or does not say how large it is.
    func mayBeLarge(_ limits: Limits) -> Bool {
        (limits.smallBodyBytes + 1...max(limits.bodyBytes, limits.smallBodyBytes + 1)).contains(declaredLength ?? 0)
            || headers.contains(.transferEncoding)
    }

    /// The `Content-Length`; nil if there is none. A request has at most one. The headers are searched by hand, because
    /// the framework's way to get all values of a name is slow.
    private var declaredLength: Int? {
        headers.first { $0.name == .contentLength }.flatMap { Int($0.value) }
    }

    /// The body, whatever its Content-Type is (wire section 2). Throws 413 above the limit.
    func bytes(_ limits: Limits) async throws -> ByteBuffer {
        if let declaredLength, declaredLength > limits.bodyBytes { throw APIError.bodyTooLarge }
        do {
            return try await body.collect(upTo: limits.bodyBytes)
        } catch is NIOTooManyBytesError {
            throw APIError.bodyTooLarge
        }
    }

    /// Decodes the body, which must be JSON of the given type. Throws the HTTP status `failure` if it is not.
    func json<T: Decodable>(
        _ type: T.Type, _ limits: Limits, or failure: HTTPResponse.Status = .badRequest
    ) async throws -> T {
        try decoded(type, from: await bytes(limits), or: failure)
    }

    /// Decodes JSON. Throws the HTTP status `failure` if it is not of the given type. An object must not have a member
    /// twice (wire section 2): one program could check the first value of the member, and another program use the last.
    func decoded<T: Decodable>(
        _ type: T.Type, from body: ByteBuffer, or failure: HTTPResponse.Status = .badRequest
    ) throws -> T {
        do { return try JSON.decode(type, from: body.readableBytesUInt8Span) } catch {
            throw APIError(failure, "Invalid or missing data in the request body", member: error.member)
        }
    }

    /// A decoded member of the query; nil if it is missing.
    func query(_ name: String) -> String? { uri.queryParameters[Substring(name)].map(String.init) }

    /// The M-Pin ID in the path. Throws 404 if it is not hex, and 400 for an odd number of digits.
    func mpinID(_ context: RequestContext) throws -> MPinID {
        let text = context.parameters.get("id") ?? ""
        guard !text.isEmpty, text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
            throw APIError.notFound
        }
        guard let id = MPinID(hex: text) else { throw APIError.invalidID }
        return id
    }
}

extension JSONFailure {
    /// The member that is missing or has another type. Nil if the text is no object, or has no JSON at all.
    fileprivate var member: String? { if case .mismatch(let path) = self, !path.isEmpty { path } else { nil } }
}

extension Request {
    /// Throws 401 unless the request carries the bearer token of `message` under `key`.
    func requireBearer(_ message: SignedMessage, key: SecretBytes) throws {
        let given = headers[.authorization] ?? ""
        guard given.hasPrefix("Bearer "), message.isSigned(String(given.dropFirst(7)), key: key) else {
            throw APIError(.unauthorized, "Missing or wrong bearer token")
        }
    }
}

extension HTTPFields {
    /// The value of a field. If there are several fields with this name, their values are joined, as by the subscript,
    /// which takes longer.
    func value(_ name: HTTPField.Name) -> String? {
        var found: String?
        for field in self where field.name == name {
            guard found == nil else { return self[name] }
            found = field.value
        }
        return found
    }
}
