import NIOSSL

extension TLSConfiguration {
    /// TLS 1.3, or TLS 1.2 with ECDHE and AEAD: who takes a private key one day reads nothing of what went before.
    mutating func requireForwardSecrecy() {
        minimumTLSVersion = .tlsv12
        // Those of TLS 1.3 are all of that kind, and are not chosen.
        cipherSuiteValues = [
            .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
            .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        ]
    }
}
