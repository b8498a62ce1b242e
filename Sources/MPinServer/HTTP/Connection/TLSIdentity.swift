import Foundation
import Logging
import MPinSecrets
package import MPinService
import NIOConcurrencyHelpers
import NIOSSL
import ServiceLifecycle
import UnixSignals

/// The certificate chain and private key of this server, in PEM files. ``reload()`` reads them again.
package final class TLSIdentity: Sendable {
    private let certificateFile: String
    private let keyFile: String
    private let box: NIOLockedValueBox<NIOSSLContext>

    /// Throws ``StartError`` if a file cannot be read, if others can read the key, or if key and certificate do not
    /// belong together.
    package init(certificateFile: String, keyFile: String) throws(StartError) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        box = NIOLockedValueBox(try Self.load(certificateFile, keyFile))
    }

    /// The TLS context for new connections.
    var context: NIOSSLContext { box.withLockedValue { $0 } }

    /// Reads the files again. If they are not usable, the old certificate stays in use.
    func reload() throws(StartError) {
        let context = try Self.load(certificateFile, keyFile)
        box.withLockedValue { $0 = context }
    }

    private static func load(_ certificateFile: String, _ keyFile: String) throws(StartError) -> NIOSSLContext {
        for file in [certificateFile, keyFile] where PlainFile.mayWait(file) {
            throw StartError("\(file): not a regular file")
        }
        let attributes = try? FileManager.default.attributesOfItem(atPath: keyFile)
        if let mode = attributes?[.posixPermissions] as? Int, mode & 0o007 != 0 {
            throw StartError("\(keyFile): every user of this machine can read the private key")
        }
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificateFile)
            let key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.requireForwardSecrecy()
            configuration.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw StartError("\(certificateFile), \(keyFile): no certificate and key that belong together (\(error))")
        }
    }
}

extension TLSConfiguration {
    /// Allows only TLS 1.3, and TLS 1.2 with ECDHE and AEAD, so that somebody who later steals the private key cannot
    /// decrypt earlier traffic.
    mutating func requireForwardSecrecy() {
        minimumTLSVersion = .tlsv12
        // The suites of TLS 1.3 need not be listed, because all of them give this forward secrecy.
        cipherSuiteValues = [
            .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
            .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        ]
    }
}

/// Reloads the certificate on SIGHUP.
struct CertificateReload: Service {
    let identity: TLSIdentity
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do {
                try identity.reload()
                logger.notice("certificate reloaded")
            } catch {
                logger.error("certificate not reloaded; the old one stays", metadata: ["error": "\(error)"])
            }
        }
    }
}
