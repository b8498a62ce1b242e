import HTTPTypes
import Hummingbird
import MPinWire

/// The reading of the audit log.
extension AdminRoute {
    static let auditLog = [
        AdminRoute(.get, "/audit", "audit read", .audit, takes: .query("from", "limit")) { request in
            guard let place = request.resources.audit.place else {
                throw APIError(.notFound, "This server has no audit log")
            }
            let (first, limit) = (try request.number("from", 1...(.max)), try request.limit())
            let page = try await Workers.call { try AuditReader(place).lines(from: first, limit: limit) }
            return .json(
                AuditPage(
                    lines: page.lines.compactMap { try? JSON.decode(JSONValue.self, from: $0.span) }, next: page.next,
                    last: page.last))
        }
    ]
}

private struct AuditPage: Encodable {
    let lines: [JSONValue]
    /// The number to ask for next (`from`), also if there is no such line yet.
    let next: Int
    /// The number of the log's last line.
    let last: Int
}
