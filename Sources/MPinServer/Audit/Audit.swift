package import Logging

/// One part's way into the audit log: `audit.record(.login(…))`. Without a log nothing happens.
package struct Audit: Sendable {
    private let log: AuditLog?
    private let part: String
    private let logger: Logger

    package static let off = Audit(nil, part: "")

    package init(_ log: AuditLog?, part: String, logger: Logger = .json(level: .error)) {
        self.log = log
        self.part = part
        self.logger = logger
    }

    /// Who sent the request that is being served, for the lines that it leads to.
    @TaskLocal static var origin: IPAddress?

    /// The same log for another part of the same process.
    func of(_ part: String) -> Audit { Audit(log, part: part, logger: logger) }

    /// A log that cannot be written to does not stop logins: the failure goes to the other log.
    package func record(_ event: AuditEvent) {
        guard let log else { return }
        do { try log.append(event, part: part, origin: Self.origin?.description) } catch { report(error, event.name) }
    }

    /// The same without waiting until it is written.
    func recordSoon(_ event: AuditEvent) {
        log?.appendSoon(event, part: part, origin: Self.origin?.description) { report($0, event.name) }
    }

    /// Whether a log is kept that has lines already: this is not the first start.
    var hasLines: Bool { log.map { (try? !$0.isEmpty()) ?? true } ?? false }

    private func report(_ error: any Error, _ event: String) {
        if case AuditError.notRotated = error { return logger.error("\(error)") }
        logger.error("not in the audit log", metadata: ["event": "\(event)", "error": "\(error)"])
    }
}
