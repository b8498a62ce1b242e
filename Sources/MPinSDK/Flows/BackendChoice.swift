import MPinHTTP
import MPinWire

/// The backend, and what every request carries.
extension SDK {
    /// Asks a backend for its client settings and keeps nothing. `prefix` nil: the configured one.
    package func testBackend(_ url: String, prefix: String? = nil) throws(SDKError) {
        try perform { core, caller throws(SDKError) in _ = try core.backend(url, prefix: prefix, caller) }
    }

    /// Asks a backend for its client settings and uses it from now on; on failure the former one stays.
    package func setBackend(_ url: String, prefix: String? = nil) throws(SDKError) {
        try perform { core, caller throws(SDKError) in try core.setBackend(url, prefix: prefix, caller) }
    }

    /// A member of the client settings as text; empty where there is none.
    package func clientParam(_ name: String) throws(SDKError) -> String {
        try perform { core, _ throws(SDKError) in try core.currentBackend().parameter(name) }
    }

    /// Names the client in the headers X-MIRACL-CID and X-MIRACL-Client-ID of every request; nil or empty: no header.
    package func setClientID(_ id: String?) throws(SDKError) {
        try configure { settings throws(SDKError) in try settings.setClientID(id ?? "") }
    }

    /// Adds a header to every request; one of the same name is replaced.
    package func addCustomHeader(_ name: String, _ value: String) throws(SDKError) {
        try configure { settings throws(SDKError) in try settings.addCustomHeader(name, value) }
    }

    /// Forgets the added headers; the client id stays.
    package func clearCustomHeaders() throws(SDKError) {
        try configure { settings throws(SDKError) in settings.clearCustomHeaders() }
    }

    /// With one or more trusted domains, requests go by https only, and only to them and to hosts within them.
    package func addTrustedDomain(_ domain: String) throws(SDKError) {
        try configure { settings throws(SDKError) in try settings.addTrustedDomain(domain) }
    }

    /// Every host is allowed.
    package func clearTrustedDomains() throws(SDKError) {
        try configure { settings throws(SDKError) in settings.trustedDomains.removeAll() }
    }

    /// Asks the page at `url` for its service (wire section 6.15).
    package func serviceDetails(_ url: String) throws(SDKError) -> Service {
        try perform { _, caller throws(SDKError) in
            let base = Backend.base(url)
            guard !base.isEmpty else { throw SDKError(.invalidArgument, "no URL") }
            let answer = try caller.anywhere.get(.service, "\(base)/service")
            let response: ServiceResponse = try caller.decode(.service, answer)
            guard response.type == "online" else {
                throw SDKError(.responseParseError, "\(ServerCall.service.name): of another type than online")
            }
            return Service(
                name: response.name, backend: response.url, prefix: response.rps_prefix, logoURL: response.logo_url)
        }
    }
}

extension Core {
    func setBackend(_ url: String, prefix: String?, _ caller: Caller) throws(SDKError) {
        let new = try backend(url, prefix: prefix, caller)
        backend = new
        log?(.info, "the backend is \(new.url)")
    }

    func currentBackend() throws(SDKError) -> Backend {
        guard let backend else {
            throw SDKError(.flowError, "no backend is set: name one in the configuration, or by set_backend")
        }
        return backend
    }

    /// The wire that the user was registered over.
    func wire(of user: User) throws(SDKError) -> any Wire { try currentBackend().wire(user.record.wire) }

    fileprivate func backend(_ url: String, prefix: String?, _ caller: Caller) throws(SDKError) -> Backend {
        let base = Backend.base(url)
        guard !base.isEmpty else { throw SDKError(.invalidArgument, "the backend's URL is empty") }
        let prefix = (prefix ?? rpsPrefix).split(separator: "/").joined(separator: "/")
        let path = prefix.isEmpty ? "clientSettings" : "\(prefix)/clientSettings"
        let (peer, answer) = try caller.anywhere.peer(.clientSettings, "\(base)/\(path)")
        var backend = try Backend(url: base, settings: caller.decode(.clientSettings, answer))
        if let kind = peer ?? AddressClass(url: base) { backend.reach.insert(kind) }
        return backend
    }
}
