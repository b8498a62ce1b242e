import HTTPTypes

/// The headers of a client's register request that the RPA gets besides its body (wire section 8.1).
struct ClientHeaders: Sendable {
    /// Headers that are never passed on: they belong to this connection or body, or the RPS itself sets them.
    private static let own: Set = [
        "authorization", "connection", "content-encoding", "content-length", "content-type", "expect", "host",
        "keep-alive", "proxy-authorization", "proxy-connection", "rps-base-url", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]

    /// The names of the configured headers in lower case, or `*` for all.
    private let names: Set<String>
    private let baseURL: String

    init(_ config: RelyingPartyServiceConfig) {
        names = Set(config.forwardUserHeaders.map { $0.lowercased() })
        baseURL = config.baseURL
    }

    /// Returns the configured headers, and the base URL of the RPS. The base URL comes from the configuration: with the
    /// client's Host header a link in a mail could lead anywhere.
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
