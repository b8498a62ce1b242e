package import MPinSecrets

/// The configuration for ``SDK/initialize(_:_:)``.
package struct SDKConfig: Sendable {
    /// The path of the file with users and tokens. May be empty if ``Environment/storage`` is set.
    package var storagePath: String
    /// The file with the store's key; nil: the storage path followed by `.key`.
    package var keyPath: String?
    /// The passphrase from which the store's key is made with Argon2id. Nil: the key comes from its file.
    package var passphrase: SecretBytes?
    /// Base URL of the backend that is set at initialisation; nil: no backend yet.
    package var backend: String?
    /// The prefix of the service's paths under the base URL.
    package var rpsPrefix: String
    /// The path of a PEM file with the trusted certificate authorities; nil: those of the system.
    package var caFile: String?
    /// `http://host:port` of the proxy; nil: the proxy in the process's environment.
    package var proxy: String?
    /// The accepted public keys of server certificates, `sha256//HASH;…`; nil: any key that a trusted authority
    /// certifies.
    package var pinnedKeys: String?
    /// Name of the client, sent as a header of every request; nil: none.
    package var clientID: String?
    /// The maximum duration of one operation; 0: 30 seconds.
    package var timeoutMilliseconds: UInt32
    /// Whether plain http is allowed to hosts that are not loopback.
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
