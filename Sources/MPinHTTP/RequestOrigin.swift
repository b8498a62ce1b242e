extension HTTPRequest {
    /// `scheme://host:port`, for logs: path and query may hold one-time tokens.
    package var origin: String { RemoteURL(url, schemes: ["http", "https"])?.origin ?? "no URL" }
}
