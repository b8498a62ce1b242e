import Logging
import ServiceLifecycle
import UnixSignals

/// SIGHUP: the certificate has been renewed.
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
