import MPinHTTP

/// The program's settings for all requests.
struct RequestSettings {
    private(set) var clientID = ""
    private var custom: [(name: String, value: String)] = []
    var trustedDomains = TrustedDomains()
    /// The names of headers that describe the message or its transport. Custom headers with these names are refused,
    /// because they would break requests.
    private static let reserved: Set = [
        "host", "content-length", "content-type", "transfer-encoding", "connection", "expect",
    ]

    /// The headers for the client id and the custom headers. A custom header replaces a client id header of the same
    /// name.
    ///
    /// Requests of a MIRACL Trust project name the project and this client instead (TRUST wire section 3).
    func headers(project: String?) -> [(String, String)] {
        let client = clientID.isEmpty ? [] : [("X-MIRACL-CID", clientID), ("X-MIRACL-Client-ID", clientID)]
        let ours = project.map { [("X-MIRACL-CID", $0), ("X-MIRACL-CLIENT", "libmpin")] } ?? client
        let names = Set(custom.map { $0.name.lowercased() })
        return ours.filter { !names.contains($0.0.lowercased()) } + custom
    }

    /// An empty id means no header.
    mutating func setClientID(_ id: String) throws(SDKError) {
        guard HeaderField.isValue(id) else { throw SDKError(.invalidArgument, "a control character in the client id") }
        clientID = id
    }

    mutating func addCustomHeader(_ name: String, _ value: String) throws(SDKError) {
        guard HeaderField.isName(name), !Self.reserved.contains(name.lowercased()) else {
            throw SDKError(.invalidArgument, "not a name that a header may have")
        }
        guard HeaderField.isValue(value) else { throw SDKError(.invalidArgument, "a control character in a header") }
        custom.removeAll { $0.name.lowercased() == name.lowercased() }
        custom.append((name, value))
    }

    mutating func clearCustomHeaders() { custom = [] }

    mutating func addTrustedDomain(_ domain: String) throws(SDKError) {
        guard trustedDomains.add(domain) else { throw SDKError(.invalidArgument, "not the name of a host") }
    }
}
