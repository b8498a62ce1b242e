import HTTPTypes

/// What the RPA hears of a client's register request beside its body (wire section 8.1).
struct ClientHeaders: Sendable {
    /// Of this connection, of this body, or the RPS's own word to the RPA.
    private static let own: Set = [
        "authorization", "connection", "content-encoding", "content-length", "content-type", "expect", "host",
        "keep-alive", "proxy-authorization", "proxy-connection", "rps-base-url", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]

    /// Lower-case names, or `*` for all.
    private let names: Set<String>
    private let baseURL: String

    init(_ config: RelyingPartyServiceConfig) {
        names = Set(config.forwardUserHeaders.map { $0.lowercased() })
        baseURL = config.baseURL
    }

    /// The chosen headers, and the configured base URL of the RPS: what the client calls it (the Host header) would lead
    /// a link in a mail anywhere.
    func of(_ headers: HTTPFields) -> [(String, String)] {
        var fields: [(String, String)] = baseURL.isEmpty ? [] : [("RPS-BASE-URL", baseURL)]
        for field in headers {
            let name = field.name.canonicalName
            guard !Self.own.contains(name), names.contains(name) || names.contains("*") else { continue }
            fields.append((field.name.rawName, field.value))
        }
        return fields
    }
}
