import ArgumentParser
import Foundation
import MPinSecrets
import MPinServer
import MPinService
import MPinStore

/// The server's configuration, from which an operator's command takes values that its options do not give.
struct ConfigOption: ParsableArguments {
    @Option(
        help: """
            The server's YAML file. Database, keys and audit log are those that it names, or the environment, unless \
            options do.
            """)
    var config: String?

    private func settings() throws -> Settings {
        try SettingsReader.anyPart.read(arguments: config.map { ["--config", $0] } ?? [])
    }

    func fill(_ options: DatabaseOptions) throws -> DatabaseOptions {
        var filled = options
        (filled.database, filled.stateDir) = try fill(database: options.database, stateDir: options.stateDir)
        filled.serviceKeyFile = try serviceKeyFile(options.serviceKeyFile, stateDir: filled.stateDir)
        return filled
    }

    func fill(database: String?, stateDir: String?) throws -> (database: String?, stateDir: String?) {
        guard database == nil, stateDir == nil else { return (database, stateDir) }
        let settings = try settings()
        return (settings[ServerOptions.database], settings[ServerOptions.stateDir])
    }

    /// The path of the RPS's own key file: the one that is given, that of the state folder, or that of the configuration.
    /// Nil if there is none.
    func serviceKeyFile(_ path: String?, stateDir: String?) throws -> String? {
        try path ?? stateDir.map { $0 + "/rps.key" } ?? keyFile()
    }

    /// Returns the path of the OpenID provider's file of clients (`--clients`) in the configuration. Nil if there is
    /// none.
    func clients() throws -> String? { try settings()[ServerOptions.clients] }

    /// Returns the address of the server's admin listener (`--admin-listen`) in the configuration. Nil if there is none.
    func adminListen() throws -> String? { try settings()[ServerOptions.adminListen] }

    /// Returns the path of the server's own key file (`--key-file`) in the configuration. Nil if there is none.
    func keyFile() throws -> String? { try settings()[ServerOptions.keyFile] }

    func fill(_ options: AuditOptions) throws -> AuditOptions {
        var filled = options
        let settings = try settings()
        filled.auditUsers = options.auditUsers ?? AuditPlace.Users(rawValue: settings[ServerOptions.auditUsers])
        guard options.auditLog == nil, options.auditKeyFile == nil else { return filled }
        filled.auditLog = settings[ServerOptions.auditLog]
        filled.auditKeyFile = settings[ServerOptions.auditKeyFile]
        return filled
    }

    func fill(_ options: SealOptions) throws -> SealOptions {
        guard options.keyFile == nil, options.passphraseFile == nil else { return options }
        var filled = options
        let settings = try settings()
        filled.keyFile = settings[ServerOptions.keyFile]
        filled.passphraseFile = settings[ServerOptions.passphraseFile]
        return filled
    }
}

/// The options of a command that works on databases and writes a line into the audit log.
struct OperatorOptions: ParsableArguments {
    @OptionGroup var config: ConfigOption
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var audit: AuditOptions
    @OptionGroup var output: OutputOptions

    /// Completes the database options and opens the audit log. Values that no option gives come from the server's
    /// configuration.
    func open() throws -> (database: DatabaseOptions, audit: Audit) {
        let database = try config.fill(database)
        return (database, try config.fill(audit).audit(stateDir: database.stateDir))
    }
}

/// The database that an operator's command works on.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "SQLite file of the part, or sqlite:FILE, or the RPS's postgres: URL; its server may be running.")
    var database: String?

    @Option(help: "Folder of a server with all parts in one process: its databases, keys and audit log.")
    var stateDir: String?

    @Option(
        help: """
            Key file of the RPS, from which the keys of its records' MACs and of sealed hashes are derived. (default: that of \
            --state-dir or --config, or the one beside the SQLite file)
            """)
    var serviceKeyFile: String?

    func validate() throws {
        guard database == nil || stateDir == nil else { throw Self.unclear }
    }

    /// The database of the RPS. A configuration may name one in addition to the state folder.
    func service() throws -> ServiceDatabase {
        ServiceDatabase(try database ?? path("rps"), keyFile: serviceKeyFile)
    }

    /// The path of the database of the part `name`, such as "dta1". If only --database is given, the path is that file,
    /// and the name is ignored.
    func path(_ name: String) throws -> String {
        if let stateDir { return "\(stateDir)/\(name).sqlite" }
        guard let database else { throw Self.unclear }
        do { return try StoreURL(database).file() } catch {
            throw StartError("--database \(StoreURL.shown(database)): \(error)")
        }
    }

    /// The paths and URLs of all databases that the command works on, whatever their engines are.
    func places() throws -> [String] {
        guard stateDir != nil else { return [try service().url] }
        return try paths().map(\.path) + (database.map { [$0] } ?? [])
    }

    private static let unclear = StartError("give either --database or --state-dir")

    /// The file names and paths of all databases that the command works on. The RPS's is not among them if it is not in
    /// the state folder.
    func paths() throws -> [(name: String, path: String)] {
        guard stateDir != nil else {
            let path = try path("")
            return [(URL(fileURLWithPath: path).lastPathComponent, path)]
        }
        let names = database == nil ? ["dta1", "dta2", "rps"] : ["dta1", "dta2"]
        return try names.map { ($0 + ".sqlite", try path($0)) }
    }
}

/// The options for the audit log into which a command writes its event.
struct AuditOptions: ParsableArguments {
    @Option(help: "Audit log of the server. (default: that in --state-dir)")
    var auditLog: String?

    @Option(help: "Its key file, outside the log's folder.")
    var auditKeyFile: String?

    @Option(help: "How the log names users: plain, hashed or identities. (default: plain)")
    var auditUsers: AuditPlace.Users?

    /// The audit log that the options name, or else the one in the state folder. Nil if there is neither.
    func place(stateDir: String?) throws -> AuditPlace? {
        switch (auditLog, auditKeyFile) {
        case (let log?, let key?): return try AuditPlace(log: log, keyFile: key, users: auditUsers ?? .plain)
        case (nil, nil):
            guard let stateDir else { return nil }
            return try AuditPlace(stateDir: stateDir, users: auditUsers ?? .plain)
        default: throw StartError("give --audit-log and --audit-key-file together")
        }
    }

    func requiredPlace(stateDir: String?) throws -> AuditPlace {
        guard let place = try place(stateDir: stateDir) else {
            throw StartError("give --audit-log and --audit-key-file, or --state-dir")
        }
        return place
    }

    /// Opens the audit log. Commands do this before they change anything, so that a change that cannot be recorded is
    /// not made.
    func audit(stateDir: String?) throws -> Audit {
        Audit(try place(stateDir: stateDir).map { try AuditLog($0) }, part: "operator")
    }
}

extension AuditPlace.Users: ExpressibleByArgument {}
