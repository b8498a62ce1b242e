import HTTPTypes
import Hummingbird
import MPinOpenID
import MPinWire

/// The operations of `mpind client`.
extension AdminRoute {
    static let clients = [
        client(.get, "/clients", "list", .clientsRead) { request in
            .json(ClientList(clients: try await request.resources.clients.list()))
        },
        client(.post, "/clients", "add", .clientsWrite, takes: document(and: ["id", "secret"])) { request in
            let document = try ClientDocument(request.body(JSONValue.self))
            guard let id = try document.text("id") else { throw APIError(.badRequest, "id: missing") }
            let secret = try document.secret()
            return .json(try await request.resources.clients.add(id, document.change, secret: secret))
        },
        client(.get, "/clients/{id}", "show", .clientsRead) { request in
            .json(try await request.resources.clients.show(request.name("id")))
        },
        client(.patch, "/clients/{id}", "set", .clientsWrite, takes: document()) { request in
            let document = try ClientDocument(request.body(JSONValue.self))
            guard !document.change.isEmpty else { throw APIError(.badRequest, "There is nothing to set") }
            return .json(try await request.resources.clients.set(request.name("id"), document.change))
        },
        client(.delete, "/clients/{id}", "remove", .clientsWrite) { request in
            let id = try request.name("id")
            try await request.resources.clients.remove(id)
            return .json(["removed": id])
        },
        client(.post, "/clients/{id}/disable", "disable", .clientsWrite) { request in
            .json(try await request.resources.clients.disable(request.name("id")))
        },
        client(
            .post, "/clients/{id}/rotate-secret", "rotate-secret", .clientsWrite,
            takes: .body(["secret", "overlap-seconds"])
        ) { request in
            let document = try ClientDocument(request.optionalBody(JSONValue.self) ?? .object([:]))
            let overlap = try document.number("overlap-seconds", ClientAdministration.overlaps)
            return .json(
                try await request.resources.clients.rotateSecret(
                    request.name("id"), secret: document.secret(), overlap: overlap ?? ClientAdministration.overlap))
        },
    ]

    /// The members of a client, and `others`. Null removes a member.
    private static func document(and others: [String] = []) -> AdminInput {
        .body(ClientMember.all.map(\.name) + others, takesNull: true)
    }

    /// Makes an operation whose faults are answered with their reasons.
    private static func client(
        _ method: HTTPRequest.Method, _ path: String, _ word: String, _ scope: AdminScope,
        takes input: AdminInput = .nothing, _ answer: @escaping Answer
    ) -> AdminRoute {
        AdminRoute(method, path, "client " + word, scope, takes: input) { request in
            do { return try await answer(request) } catch let fault as ClientFault {
                throw APIError(.badRequest, "\(fault)")
            } catch let fault as ClientRegistryFault {
                throw APIError(fault.status, "\(fault)")
            }
        }
    }
}

private struct ClientList: Encodable {
    let clients: [ClientEntry]
}

extension ClientRegistryFault {
    fileprivate var status: HTTPResponse.Status { if case .unknown = self { .notFound } else { .conflict } }
}

/// The members of a client in a JSON object, by the names of ``ClientMember``. A flag is a boolean, seconds are a
/// number, and a list is an array of texts. An empty array or null removes the member.
struct ClientDocument {
    private let members: [String: JSONValue]
    private(set) var change = ClientChange()

    init(_ value: JSONValue) throws(APIError) {
        guard case .object(let members) = value else { throw APIError(.badRequest, "The body must be a JSON object") }
        self.members = members
        for member in ClientMember.all {
            if let value = members[member.name] { change.set(member, try Self.texts(value, of: member)) }
        }
    }

    private static func texts(_ value: JSONValue, of member: ClientMember) throws(APIError) -> [String] {
        switch (member.kind, value) {
        case (.text, .string(let text)): return [text]
        case (.text, .null), (.list, .null), (.list, .array([])): return [""]
        case (.flag, .bool(let flag)): return [String(flag)]
        case (.number, .int(let number)): return [String(number)]
        case (.list, .array(let values)):
            let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
            if texts.count == values.count { return texts }
        default: break
        }
        throw APIError(.badRequest, "\(member.name): expected \(member.kind.expected)")
    }

    /// Returns a text that is not a client's own member. Nil if it is missing.
    func text(_ name: String) throws(APIError) -> String? {
        switch members[name] {
        case nil: return nil
        case .string(let text)?: return text
        default: throw APIError(.badRequest, "\(name): expected a text")
        }
    }

    func number(_ name: String, _ range: ClosedRange<Int>) throws(APIError) -> Int? {
        guard let value = members[name] else { return nil }
        guard case .int(let number) = value, range.contains(number) else {
            throw APIError(.badRequest, "\(name): expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns the secret that the operator has chosen. Nil if there is none.
    func secret() throws -> String? { try text("secret").map { try ClientSecret.accepted($0, from: "secret") } }
}

extension ClientMember.Kind {
    fileprivate var expected: String {
        switch self {
        case .text: "a text"
        case .flag: "true or false"
        case .number: "a number"
        case .list: "a list of texts"
        }
    }
}
