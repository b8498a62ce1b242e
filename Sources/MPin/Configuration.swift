import MPinSDK

/// What a client is told when it is made.
public struct Configuration: Sendable {
    /// The file that keeps users and tokens, encrypted; created with mode 0600.
    public var storagePath: String
    /// The file that holds the store's key; nil: the storage path followed by `.key`.
    public var keyPath: String?
    /// Base URL of the backend to set at once.
    public var backend: String?
    /// Prefix of the service under the base URL.
    public var prefix = "rps"
    /// PEM file of the certificate authorities to trust; nil: the system's.
    public var caFile: String?
    /// Public keys that the backend's certificate may have, `sha256//BASE64;…`; nil: any.
    public var pinnedKeys: String?
    /// `http://host:port` of a proxy; nil: that of the environment.
    public var proxy: String?
    /// Milliseconds that one call may take.
    public var timeoutMilliseconds: UInt32 = 30_000
    /// Plain http to hosts that are not loopback. For tests.
    public var allowsInsecureHTTP = false

    /// The least that a client needs.
    public init(storagePath: String, backend: String? = nil) {
        self.storagePath = storagePath
        self.backend = backend
    }

    var core: SDKConfig {
        var config = SDKConfig(
            storagePath: storagePath, keyPath: keyPath, backend: backend, rpsPrefix: prefix, caFile: caFile,
            timeoutMilliseconds: timeoutMilliseconds, allowInsecure: allowsInsecureHTTP)
        config.pinnedKeys = pinnedKeys
        config.proxy = proxy
        return config
    }
}
