import Foundation
import MPinSecrets
package import MPinService
import NIOConcurrencyHelpers
import NIOSSL

/// The certificate chain and private key of this server, in PEM files; read again on ``reload()``.
package final class TLSIdentity: Sendable {
    private let certificateFile: String
    private let keyFile: String
    private let box: NIOLockedValueBox<NIOSSLContext>

    /// Throws ``StartError`` when a file cannot be read, others can read the key, or key and certificate differ.
    package init(certificateFile: String, keyFile: String) throws(StartError) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        box = NIOLockedValueBox(try Self.load(certificateFile, keyFile))
    }

    /// For connections that are opened from now on.
    var context: NIOSSLContext { box.withLockedValue { $0 } }

    /// Takes what stands in the files now; what was there stays in use when that is no good.
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
