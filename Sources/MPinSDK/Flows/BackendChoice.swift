import MPinHTTP
import MPinWire

/// Choice of the backend, and settings that apply to every request.
extension SDK {
    /// Checks that a backend answers with usable client settings. The current backend stays. If `prefix` is nil, the
    /// configured prefix is used.
    package func testBackend(_ url: String, prefix: String? = nil) throws(SDKError) {
        try perform { core, caller throws(SDKError) in _ = try core.backend(url, prefix: prefix, caller) }
    }

    /// Requests the client settings of a backend and uses it from now on. After a failure the former backend stays.
    package func setBackend(_ url: String, prefix: String? = nil) throws(SDKError) {
        try perform { core, caller throws(SDKError) in try core.setBackend(url, prefix: prefix, caller) }
    }

    /// Sets the backend if there is none yet.
    package func setBackendIfNone(_ url: String) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            if core.backend == nil { try core.setBackend(url, prefix: nil, caller) }
        }
    }

    /// The member `name` of the client settings as text. Empty if there is no such member.
    package func clientParam(_ name: String) throws(SDKError) -> String {
        try perform { core, _ throws(SDKError) in try core.currentBackend().parameter(name) }
    }

    /// Sets the client id, which every request carries in the headers X-MIRACL-CID and X-MIRACL-Client-ID. Nil or
    /// empty: no header.
    package func setClientID(_ id: String?) throws(SDKError) {
        try configure { settings throws(SDKError) in try settings.setClientID(id ?? "") }
    }

    /// Adds a header to every request. It replaces a header of the same name.
    package func addCustomHeader(_ name: String, _ value: String) throws(SDKError) {
        try configure { settings throws(SDKError) in try settings.addCustomHeader(name, value) }
    }

    /// Removes the added headers; the client id stays.
    package func clearCustomHeaders() throws(SDKError) {
        try configure { settings throws(SDKError) in settings.clearCustomHeaders() }
    }

    /// Adds a trusted domain. If there is at least one, requests are sent by https only, and only to trusted domains
    /// and their subdomains.
    package func addTrustedDomain(_ domain: String) throws(SDKError) {
        try configure { settings throws(SDKError) in try settings.addTrustedDomain(domain) }
    }

    /// Removes all trusted domains, so that every host is allowed.
    package func clearTrustedDomains() throws(SDKError) {
        try configure { settings throws(SDKError) in settings.trustedDomains.removeAll() }
    }

    /// Asks the website at `url` for its service, whose backend a client can then set (wire section 6.15).
    package func serviceDetails(_ url: String) throws(SDKError) -> Service {
        try perform { _, caller throws(SDKError) in
            let base = Backend.base(url)
            guard !base.isEmpty else { throw SDKError(.invalidArgument, "no URL") }
            let answer = try caller.anywhere.get(.service, "\(base)/service")
            let response: ServiceResponse = try caller.decode(.service, answer)
            guard response.type == "online" else {
                throw SDKError(.responseParseError, "\(Call.service.name): of another type than online")
            }
            return Service(
                name: response.name, backend: response.url, prefix: response.rps_prefix, logoURL: response.logo_url)
        }
    }
}

extension Call {
    package static let clientSettings = Call("client settings", isIdempotent: true)
    package static let service = Call("service details", isIdempotent: true, meanings: [412: .badClientVersion])
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

    /// The protocol over which the user was registered.
    func wire(of user: User) throws(SDKError) -> any Wire { try currentBackend().wire(user.record.wire) }

    fileprivate func backend(_ url: String, prefix: String?, _ caller: Caller) throws(SDKError) -> Backend {
        let base = Backend.base(url)
        guard !base.isEmpty else { throw SDKError(.invalidArgument, "the backend's URL is empty") }
        let prefix = (prefix ?? rpsPrefix).split(separator: "/").joined(separator: "/")
        let path = prefix.isEmpty ? "clientSettings" : "\(prefix)/clientSettings"
        let answer = try caller.anywhere.get(.clientSettings, "\(base)/\(path)")
        var backend = try Backend(url: base, settings: caller.decode(.clientSettings, answer))
        if let kind = answer.peer ?? AddressClass(url: base) { backend.reach.insert(kind) }
        return backend
    }
}
