extension AddressClass {
    /// The class of the URL's host, if the host is an address or `localhost`; else nil.
    package init?(url: String) {
        guard let host = RemoteURL(url, schemes: ["http", "https"])?.host else { return nil }
        self.init(host: host)
    }
}

extension HTTPRequest {
    /// The origin `scheme://host:port` for logs. Path and query are left out, because they may contain one-time tokens.
    package var origin: String { RemoteURL(url, schemes: ["http", "https"])?.origin ?? "no URL" }
}
