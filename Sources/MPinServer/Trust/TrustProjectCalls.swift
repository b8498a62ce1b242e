import Hummingbird
import MPinService
import MPinWire

/// What a project's back end asks about its project and the project's identities (TRUST wire section 6.3).
extension TrustFace {
    /// The most characters of a reason that are written into the audit log.
    private static let reasonCharacters = 256
    private static let pageEvents = 1...500
    /// How many lines of the audit log are read at once, and how often for one answer. A page may be shorter than it was
    /// asked for, because most lines of a log may be of other projects.
    private static let (linesAtOnce, reads) = (1000, 20)
    /// Members of a line that are only of use to the log itself.
    private static let innerMembers = ["mac", "previous", "part", "project"]

    /// POST /api/v1/projects/{id}/mpinids/{mpinId}/revocation: an identity of the project can never log in again.
    func revoke(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustRevocationRequest.self, limits)
        let project = try await callingProject(request, context, context.parameters.get("project"))
        let reason = (body.reason ?? "").beginning(Self.reasonCharacters)
        guard let id = context.parameters.get("mpinid").flatMap({ MPinID(hex: $0) }), id.projectID == project.id,
            try await users.revoke(id, reason: reason, audit: config.audit)
        else {
            throw TrustRefusal(
                .notFound, "INVALID_REQUEST_PARAMETERS", "the project has no such M-Pin ID",
                context: ["params": "mpinId"])
        }
        return .json(JSONValue.object([:]))
    }

    /// GET /api/v1/projects/{id}/audit: what has happened to the project and its identities, page by page.
    func readAudit(_ request: Request, _ context: RequestContext) async throws -> Response {
        let project = try await callingProject(request, context, context.parameters.get("project"))
        guard let place = config.audit.place else {
            throw TrustRefusal(.notFound, "INVALID_REQUEST_PARAMETERS", "this server has no audit log")
        }
        var next = try number("cursor", request, 1...Int(Int32.max)) ?? 1
        let limit = try number("limit", request, Self.pageEvents) ?? 100
        var events: [JSONValue] = []
        for _ in 0..<Self.reads where events.count < limit {
            let first = next
            let page = try await Workers.call {
                try AuditReader(place).lines(from: first, limit: Self.linesAtOnce)
            }
            for line in page.lines where events.count < limit {
                guard case .object(var members)? = try? JSON.decode(JSONValue.self, from: line.span),
                    case .int(let number)? = members["n"]
                else { continue }
                next = number + 1
                guard members["project"] == .string(project.id) else { continue }
                for name in Self.innerMembers { members[name] = nil }
                events.append(.object(members))
            }
            if next == first || next > page.last { break }
        }
        return .json(TrustAuditPage(events: events, cursor: String(next)))
    }

    /// A number in the query. Nil if there is none.
    private func number(_ name: String, _ request: Request, _ range: ClosedRange<Int>) throws(ProjectFault) -> Int? {
        guard let text = request.query(name) else { return nil }
        guard let number = Int(text), range.contains(number) else { throw .badMember(name) }
        return number
    }

    /// GET /.well-known/project-configuration: the project that the request names, or the only one that there is.
    func projectConfiguration(_ request: Request) async throws -> Response {
        guard request.projectID == nil else {
            return .json(TrustProjectConfiguration(id: try await project(nil, request).id))
        }
        guard let only = try await rules.projects.only(at: rules.now) else { throw ProjectFault.unknownProject }
        return .json(TrustProjectConfiguration(id: only.id))
    }
}
