import ArgumentParser
import Foundation
import MPinSecrets
import MPinServer

/// Which database an operator's command works on.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "SQLite file of the part; its server may be running.")
    var database: String?

    @Option(help: "Folder of a server with all parts in one process: its databases, keys and audit log.")
    var stateDir: String?

    /// The one of that part.
    func path(_ name: String) throws -> String {
        switch (database, stateDir) {
        case (let path?, nil): return path
        case (nil, let folder?): return "\(folder)/\(name).sqlite"
        default: throw StartError("give either --database or --state-dir")
        }
    }

    /// All that there are, with their names.
    func paths() throws -> [(name: String, path: String)] {
        guard stateDir != nil else {
            let path = try path("")
            return [(URL(fileURLWithPath: path).lastPathComponent, path)]
        }
        return try ["dta1", "dta2", "rps"].map { ($0 + ".sqlite", try path($0)) }
    }
}

/// The audit log that a command's event goes to.
struct AuditOptions: ParsableArguments {
    @Option(help: "Audit log of the server. (default: that in --state-dir)")
    var auditLog: String?

    @Option(help: "Its key file, outside the log's folder.")
    var auditKeyFile: String?

    @Option(help: "How the log names users: plain or hashed.")
    var auditUsers = AuditPlace.Users.plain

    /// Nil where there is no log.
    func place(stateDir: String?) throws -> AuditPlace? {
        switch (auditLog, auditKeyFile) {
        case (let log?, let key?): return try AuditPlace(log: log, keyFile: key, users: auditUsers)
        case (nil, nil):
            guard let stateDir else { return nil }
            return try AuditPlace(
                log: stateDir + "/audit/audit.jsonl", keyFile: stateDir + "/audit.key", users: auditUsers)
        default: throw StartError("give --audit-log and --audit-key-file together")
        }
    }

    func requiredPlace(stateDir: String?) throws -> AuditPlace {
        guard let place = try place(stateDir: stateDir) else {
            throw StartError("give --audit-log and --audit-key-file, or --state-dir")
        }
        return place
    }

    /// Opened before anything is done: what cannot be recorded is not begun.
    func audit(stateDir: String?) throws -> Audit {
        Audit(try place(stateDir: stateDir).map { try AuditLog($0) }, part: "operator")
    }
}

extension AuditPlace.Users: ExpressibleByArgument {}
