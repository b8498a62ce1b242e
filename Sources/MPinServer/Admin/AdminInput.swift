import Hummingbird
import MPinWire
import NIOCore

/// What a request to an operation of the admin API may contain. Whatever else it contains is refused: a restriction that
/// is misspelt, and was ignored, would let the request do more than its sender wants.
struct AdminInput: Sendable {
    private let parameters: Set<String>
    /// Nil if the operation takes no body.
    private let members: Set<String>?
    /// Whether null is the value of a member, and not a value that a program has lost.
    private let takesNull: Bool

    static let nothing = AdminInput(parameters: [], members: nil, takesNull: false)

    /// The names of parameters in the query.
    static func query(_ names: String...) -> AdminInput {
        AdminInput(parameters: Set(names), members: nil, takesNull: false)
    }

    /// The names of the members of the body, which is a JSON object. `takesNull`: whether null is a value of members.
    static func body(_ names: some Sequence<String>, takesNull: Bool = false) -> AdminInput {
        AdminInput(parameters: [], members: Set(names), takesNull: takesNull)
    }

    /// Returns the body of a request, which is empty if there is none. Throws 400 for a parameter or member that the
    /// operation does not know, that comes twice, or that has no value.
    func read(_ request: Request, _ limits: Limits) async throws -> ByteBuffer {
        try check(request.uri.queryParameters.map { String($0.key) })
        let body = try await request.bytes(limits)
        if body.readableBytes > 0 { try check(request, body) }
        return body
    }

    private func check(_ names: [String]) throws(APIError) {
        var seen: Set<String> = []
        for name in names {
            guard parameters.contains(name) else {
                throw APIError(.badRequest, "\(name): no parameter of this operation")
            }
            guard seen.insert(name).inserted else { throw APIError(.badRequest, "\(name): given twice") }
        }
    }

    private func check(_ request: Request, _ body: ByteBuffer) throws {
        guard let members else { throw APIError(.badRequest, "This operation takes no body") }
        guard case .object(let given) = try request.decoded(JSONValue.self, from: body) else {
            throw APIError(.badRequest, "The body must be a JSON object")
        }
        for (name, value) in given.sorted(by: { $0.key < $1.key }) {
            guard members.contains(name) else { throw APIError(.badRequest, "\(name): no member of this operation") }
            guard takesNull || value != .null else { throw APIError(.badRequest, "\(name): null is no value") }
        }
    }
}
