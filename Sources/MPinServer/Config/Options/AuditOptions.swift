import MPinService

/// The options for the audit log of a process.
extension ServerOptions {
    package static let auditLog = ServerOption<String?>.text(
        "audit-log", .text("FILE"), "Audit log. (default: none; audit/audit.jsonl in --state-dir)")
    package static let auditKeyFile = ServerOption<String?>.text(
        "audit-key-file", .text("FILE"),
        "Key file of its chain, outside the log's folder; how far the log has come is kept beside it.")
    package static let auditUsers = ServerOption<String>.text(
        "audit-users", AuditPlace.Users.plain.rawValue, .choice(AuditPlace.Users.allCases.map(\.rawValue)),
        "How it names users; hashed: by a keyed hash, see `mpind audit name`; identities: by their devices' hashes alone."
    )

    static let auditFileBytes = ServerOption<Int>.integer(
        "audit-file-bytes", 64 << 20, 4096...(1 << 40),
        "A file of it that has grown to this is put aside, as `mpind audit rotate` does, and a new one begun.")

    static let audit = [auditLog.row, auditKeyFile.row, auditUsers.row, auditFileBytes.row]
}

extension Settings {
    var auditUsers: AuditPlace.Users { AuditPlace.Users(rawValue: self[ServerOptions.auditUsers]) ?? .hashed }

    /// The files of the audit log, and how it names users. Reads the log's key. Nil if no log is configured.
    func auditPlace() throws -> AuditPlace? {
        try auditFiles().map { try AuditPlace(log: $0.log, keyFile: $0.key, users: auditUsers) }
    }

    var auditFileBytes: Int { self[ServerOptions.auditFileBytes] }

    /// The paths of the audit log and of its key file. Nil if neither is configured; throws if only one of them is.
    func auditFiles() throws(StartError) -> (log: String, key: String)? {
        switch (self[ServerOptions.auditLog], self[ServerOptions.auditKeyFile]) {
        case (let log?, let key?): return (log, key)
        case (nil, nil): return nil
        default: throw StartError("give --audit-log and --audit-key-file together")
        }
    }

    /// Opens the audit log, and makes its folder if it does not exist.
    func audit(_ part: String) throws -> Audit {
        let place = try auditPlace()
        if let place { try makeFolder(folder(of: place.log)) }
        return Audit(try place.map { try AuditLog($0, fileBytes: auditFileBytes) }, part: part)
    }
}
