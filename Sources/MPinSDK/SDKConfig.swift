package import MPinSecrets

/// What ``SDK/initialize(_:_:)`` is told.
package struct SDKConfig: Sendable {
    /// The file that keeps users and tokens. May be empty where the environment brings a storage of its own.
    package var storagePath: String
    /// The file that holds the store's key; nil: the storage path followed by `.key`.
    package var keyPath: String?
    /// What the store's key is made from (Argon2id) instead of taking it from a file.
    package var passphrase: SecretBytes?
    /// Base URL of the backend to set at once.
    package var backend: String?
    /// Prefix of the service under the base URL.
    package var rpsPrefix: String
    /// PEM file of the certificate authorities to trust; nil: the system's.
    package var caFile: String?
    /// `http://host:port` of the proxy; nil: that of the process's environment.
    package var proxy: String?
    /// The public keys that a server's certificate may have, `sha256//BASE64;…`; nil: any.
    package var pinnedKeys: String?
    /// Name of the client, a header of every request; nil: none.
    package var clientID: String?
    /// What one operation may take in all.
    package var timeoutMilliseconds: UInt32
    /// Plain http to hosts that are not loopback.
    package var allowInsecure: Bool

    package init(
        storagePath: String, keyPath: String? = nil, backend: String? = nil, rpsPrefix: String = "rps",
        caFile: String? = nil, timeoutMilliseconds: UInt32 = 30_000, allowInsecure: Bool = false
    ) {
        self.storagePath = storagePath
        self.keyPath = keyPath
        self.backend = backend
        self.rpsPrefix = rpsPrefix
        self.caFile = caFile
        self.timeoutMilliseconds = timeoutMilliseconds
        self.allowInsecure = allowInsecure
    }
}
