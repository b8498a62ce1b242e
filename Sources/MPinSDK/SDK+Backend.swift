/// The backend, and what every request carries.
extension SDK {
    /// Asks a backend for its client settings and keeps nothing. `prefix` nil: the configured one.
    package func testBackend(_ url: String, prefix: String? = nil) throws(SDKError) {
        try perform { session, caller throws(SDKError) in _ = try session.backend(url, prefix: prefix, caller) }
    }

    /// Asks a backend for its client settings and uses it from now on; on failure the former one stays.
    package func setBackend(_ url: String, prefix: String? = nil) throws(SDKError) {
        try perform { session, caller throws(SDKError) in try session.setBackend(url, prefix: prefix, caller) }
    }

    /// A member of the client settings as text; empty where there is none.
    package func clientParam(_ name: String) throws(SDKError) -> String {
        try perform { session, _ throws(SDKError) in try session.currentBackend().parameter(name) }
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

    /// Asks the page at `url` for its service.
    package func serviceDetails(_ url: String) throws(SDKError) -> ServiceDetails {
        try perform { session, caller throws(SDKError) in try session.serviceDetails(url, caller) }
    }
}
