package import Logging

/// Writes events of one part of the server into the audit log: `audit.record(.login(…))`. If there is no log, it does
/// nothing.
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

    /// The address of the client whose request is being served. It is written into the audit lines of the request.
    @TaskLocal static var origin: IPAddress?

    /// The name of the admin token of the request that is being served. It is written into the audit lines of the
    /// request.
    @TaskLocal static var token: String?

    /// The files of the log. Nil if there is no log.
    var place: AuditPlace? { log?.place }

    /// The last line of the log. Nil if there is none, or no log.
    func mark() throws -> AuditVerification.Mark? { try log?.mark() }

    /// Returns an `Audit` that writes into the same log, with `part` as the part of the server in its lines.
    func of(_ part: String) -> Audit { Audit(log, part: part, logger: logger) }

    /// Writes an event. If the log cannot be written, logins continue, and the failure is reported in the server's
    /// other log.
    package func record(_ event: AuditEvent) {
        guard let log else { return }
        var event = event
        if let token = Self.token { event.details.append(("token", token)) }
        do { try log.append(event, part: part, origin: Self.origin?.description) } catch { report(error, event.name) }
    }

    /// Writes an event as ``record(_:)`` does, but does not wait until it is written.
    func recordSoon(_ event: AuditEvent) {
        log?.appendSoon(event, part: part, origin: Self.origin?.description) { report($0, event.name) }
    }

    /// Whether the audit log has lines, which means that the server was started before. False if there is no log; true
    /// if the log cannot be read.
    var hasLines: Bool {
        do { return try mark() != nil } catch { return true }
    }

    private func report(_ error: any Error, _ event: String) {
        if case AuditError.notRotated = error { return logger.error("\(error)") }
        logger.error("not in the audit log", metadata: ["event": "\(event)", "error": "\(error)"])
    }
}
