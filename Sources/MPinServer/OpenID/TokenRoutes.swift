import HTTPTypes
import Hummingbird
import Logging
import MPinOpenID
import MPinSecrets
import MPinWire
import NIOCore

/// The endpoints that clients call directly, without a browser.
extension OpenIDFace {
    /// Answers GET /.well-known/openid-configuration, and GET /.well-known/oauth-authorization-server for plain OAuth
    /// clients (RFC 8414).
    func metadata() -> Response {
        published(provider.metadata(languages: Language.all.map(\.code)))
    }

    /// Answers GET /oidc/certs.
    func certificates() -> Response { published(provider.keys.published) }

    private func published(_ value: JSONValue) -> Response {
        var response = Response.json(value)
        response.headers[.cacheControl] = "public, max-age=\(SigningKeys.cacheSeconds)"
        return response
    }

    /// Answers POST /oidc/token.
    func token(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await answer(request, context) { .json(try await provider.token($0, header: $1).json) }
    }

    /// Answers POST /oidc/revoke. The answer has no body: all that it says is its status.
    func revoke(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await answer(request, context) { parameters, header in
            try await provider.revoke(parameters, header: header)
            return Response(status: .ok)
        }
    }

    /// Answers POST /oidc/introspect.
    func introspect(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await answer(request, context) { .json(try await provider.introspect($0, header: $1)) }
    }

    /// Answers a request that a client sends directly. Its parameters are in a form, because queries get into logs.
    /// `work` gets them, with the value of the header `Authorization`.
    func answer(
        _ request: Request, _ context: RequestContext,
        _ work: (RequestParameters, String?) async throws -> Response
    ) async throws -> Response {
        do {
            guard (request.uri.query ?? "").isEmpty else {
                throw TokenFault(.invalidRequest, "parameters belong into the body")
            }
            guard request.isForm, let parameters = RequestParameters(String(buffer: try await request.bytes(limits)))
            else {
                throw TokenFault(.invalidRequest, "the body must be a form")
            }
            let header = request.headers.value(.authorization)
            do { return try await work(parameters, header).unkept() } catch let fault as TokenFault
                where fault.code.isRefusal
            {
                try await record(fault, ClientCredentials.clientID(header: header, parameters), context)
                throw fault
            }
        } catch let fault as TokenFault {
            return fault.response
        }
    }

    /// Counts a request that was refused, and writes it to the audit log. Throws, which makes the
    /// answer 429, if the caller's address or the client has sent too many of them; then there is no line, so that
    /// nobody can fill the log.
    private func record(_ fault: TokenFault, _ clientID: String?, _ context: RequestContext) async throws {
        try rates.admit(.token, address: context.remoteAddress)
        let name = clientID ?? ""
        try await rates.admit(.token, identity: SHA256.hash(Array(name.utf8)))
        config.audit.record(.tokensRefused(client: name, error: fault.code.rawValue))
    }

    /// Answers GET and POST /oidc/userinfo. The access token is in a header or in a form (RFC 6750 section 2). In the
    /// query it is not accepted, because queries get into logs.
    func userinfo(_ request: Request) async throws -> Response {
        do {
            guard let token = try await bearerToken(request) else {
                return Response(status: .unauthorized, headers: [.wwwAuthenticate: "Bearer"])
            }
            return Response.json(try await provider.userinfo(token)).unkept()
        } catch let fault as BearerFault {
            return fault.response
        }
    }

    private func bearerToken(_ request: Request) async throws -> String? {
        if let header = request.headers.value(.authorization) {
            let words = Array(header.utf8).split(separator: UInt8(ascii: " ")).map {
                String(decoding: $0, as: UTF8.self)
            }
            return words.count == 2 && words.first?.lowercased() == "bearer" ? words.last : nil
        }
        guard request.method == .post, request.isForm else { return nil }
        return RequestParameters(String(buffer: try await request.bytes(limits)))?["access_token"]
    }
}

extension TokenFault {
    /// The answer in the form of RFC 6749 section 5.2. If the client is unknown or its secret is wrong, a header names
    /// the way to send credentials.
    fileprivate var response: Response {
        let body: JSONValue = .object(["error": .string(code.rawValue), "error_description": .string(description)])
        let isStranger = code == .invalidClient
        var response = Response.json(body, status: isStranger ? .unauthorized : .badRequest).unkept()
        if isStranger { response.headers[.wwwAuthenticate] = "Basic realm=\"OpenID\"" }
        return response
    }
}

extension BearerFault {
    fileprivate var response: Response {
        let status: HTTPResponse.Status = self == .invalidToken ? .unauthorized : .forbidden
        var response = Response.json(JSONValue.object(["error": .string(rawValue)]), status: status).unkept()
        let scope = self == .insufficientScope ? ", scope=\"openid\"" : ""
        response.headers[.wwwAuthenticate] = "Bearer error=\"\(rawValue)\"" + scope
        return response
    }
}

extension Response {
    /// Returns the response with the header `Pragma: no-cache`, which RFC 6749 section 5.1 demands for tokens in addition
    /// to `Cache-Control: no-store`. Every answer of the server has the latter.
    fileprivate func unkept() -> Response {
        var response = self
        response.headers[.pragma] = "no-cache"
        return response
    }
}
