extension AddressClass {
    /// Of the URL's host, where that is an address or `localhost`.
    package init?(url: String) {
        guard let host = RemoteURL(url, schemes: ["http", "https"])?.host else { return nil }
        self.init(host: host)
    }
}

extension HTTPRequest {
    /// `scheme://host:port`, for logs: path and query may hold one-time tokens.
    package var origin: String { RemoteURL(url, schemes: ["http", "https"])?.origin ?? "no URL" }
}
