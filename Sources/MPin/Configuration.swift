import MPinSDK

/// The settings of a client.
public struct Configuration: Sendable {
    /// The path of the encrypted file for users and tokens. A new file gets mode 0600.
    public var storagePath: String
    /// The path of the file with the store's key; nil means the storage path followed by `.key`.
    public var keyPath: String?
    /// The base URL of the backend to use from the start; nil means none.
    public var backend: String?
    /// The prefix of the service's paths under the base URL.
    public var prefix = "rps"
    /// A PEM file with the certificate authorities to trust; nil means those of the system.
    public var caFile: String?
    /// The public keys that the backend's certificate may have, as `sha256//BASE64;…`; nil means any key.
    public var pinnedKeys: String?
    /// The proxy, `http://host:port`; nil means the proxy that the environment names.
    public var proxy: String?
    /// The time limit of one call, in milliseconds.
    public var timeoutMilliseconds: UInt32 = 30_000
    /// Whether plain http is allowed to hosts other than this machine. Use it in tests only.
    public var allowsInsecureHTTP = false

    /// Makes a configuration with default values for everything else.
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
