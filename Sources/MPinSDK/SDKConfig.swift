package import MPinHTTP
package import MPinSecrets

/// What ``SDK/initialize(_:)`` is told.
package struct SDKConfig: Sendable {
    /// The file that keeps users and tokens.
    package var storagePath: String
    /// The file that holds the store's key; nil: the storage path followed by `.key`.
    package var keyPath: String?
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

/// What the client core gets from outside: transport, storage and randomness.
package struct Environment: Sendable {
    package var makeTransport: @Sendable (HTTPPolicy) -> any HTTPTransport
    package var makeStorage: @Sendable (_ path: String) -> any Storage
    package var random: RandomSource

    /// The built-in ones: libcurl, a file, the system's generator.
    package init(
        makeTransport: @escaping @Sendable (HTTPPolicy) -> any HTTPTransport = { CurlTransport(policy: $0) },
        makeStorage: @escaping @Sendable (_ path: String) -> any Storage = { FileStorage(path: $0) },
        random: @escaping RandomSource = systemRandom
    ) {
        self.makeTransport = makeTransport
        self.makeStorage = makeStorage
        self.random = random
    }
}
