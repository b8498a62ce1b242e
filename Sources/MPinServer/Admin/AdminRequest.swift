import Foundation
import HTTPTypes
import Hummingbird
import MPinOpenID
import MPinService
import MPinStore
import MPinWire
import NIOCore

/// What the admin API works on. It is there as soon as the RPS of this process is.
struct AdminResources: Sendable {
    let tokens: AdminTokens
    let users: UserAdministration
    let clients: ClientAdministration
    let sessions: SessionAdministration
    let projects: ProjectAdministration
    let keyAdministration: SigningKeyAdministration
    /// The keys of the OpenID provider in this process. Nil if there is none.
    let signingKeys: SigningKeys?
    let service: AuthenticationService
    let audit: Audit

    init(
        _ parts: Parts, _ rps: RelyingPartyServiceConfig, _ service: AuthenticationService, _ durable: any Store,
        signingKeys: SigningKeys?
    ) {
        audit = parts.audit.of("admin")
        tokens = AdminTokens(in: durable)
        users = UserAdministration(in: durable, clock: rps.clock)
        let registry = ClientRegistry(in: durable, file: parts.openID?.clients ?? .none)
        let key = HashSealing.Key.own(rps.activationKey)
        clients = ClientAdministration(
            registry, Projects(in: durable), HashSealing(durable, key), audit: audit, clock: rps.clock)
        projects = ProjectAdministration(in: durable, key, audit: audit, clock: rps.clock)
        sessions = SessionAdministration(in: durable, audit: audit, clock: rps.clock)
        keyAdministration = SigningKeyAdministration(in: durable, audit: audit, clock: rps.clock)
        self.signingKeys = signingKeys
        self.service = service
    }
}

/// A request to the admin API whose token allows it.
struct AdminRequest: Sendable {
    let request: Request
    let context: RequestContext
    let resources: AdminResources
    let limits: Limits
    /// Empty if there is none.
    let body: ByteBuffer

    /// Returns the part of the path with this name, for example a user id. It is percent-encoded, so that it may
    /// contain any character.
    func name(_ name: String) throws(APIError) -> String {
        guard let text = context.parameters.get(name)?.removingPercentEncoding, !text.isEmpty else {
            throw APIError(.badRequest, "The path is not percent-encoded UTF-8")
        }
        return text
    }

    /// Returns the number in the query. Throws if it is not in `range`.
    func number(_ name: String, _ range: ClosedRange<Int>) throws(APIError) -> Int? {
        guard let text = request.query(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw APIError(.badRequest, "\(name): expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The largest number of entries in the answer: `limit` in the query, 1 to 500.
    func limit() throws(APIError) -> Int { try number("limit", 1...500) ?? 50 }

    /// Returns the flag in the query: `true` or `false`, and false if it is missing.
    func flag(_ name: String) throws(APIError) -> Bool {
        switch request.query(name) {
        case "true": return true
        case nil, "false": return false
        default: throw APIError(.badRequest, "\(name): expected true or false")
        }
    }

    /// Decodes the body, which must be a JSON object.
    func body<Body: Decodable>(_ type: Body.Type) throws -> Body { try request.decoded(type, from: body) }

    /// Decodes the body as ``body(_:)`` does. Nil if there is none.
    func optionalBody<Body: Decodable>(_ type: Body.Type) throws -> Body? {
        body.readableBytes == 0 ? nil : try body(type)
    }
}

/// One operation of the admin API.
struct AdminRoute: Sendable {
    typealias Answer = @Sendable (AdminRequest) async throws -> Response

    let method: HTTPRequest.Method
    /// The path in the router's notation: `/users/{user}`.
    let path: String
    /// The name in the metrics. It is that of the command that does the same, for example `user list`.
    let name: String
    let scope: AdminScope
    let input: AdminInput
    let answer: Answer

    init(
        _ method: HTTPRequest.Method, _ path: String, _ name: String, _ scope: AdminScope,
        takes input: AdminInput = .nothing, _ answer: @escaping Answer
    ) {
        self.method = method
        self.path = path
        self.name = name
        self.scope = scope
        self.input = input
        self.answer = answer
    }

    /// All operations.
    static let all = users + suspensions + clients + projects + sessions + keys + auditLog + passwords
}
