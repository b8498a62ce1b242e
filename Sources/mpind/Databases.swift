import ArgumentParser
import Foundation
import MPinSecrets
import MPinServer
import MPinService

/// Deletes expired items and retired master shares. A running RPS deletes expired items by itself, but only this
/// command erases a retired master share.
struct CollectGarbage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc",
        abstract: "Delete expired items of an RPS, or erase the master shares of a D-TA that are no longer served.")

    @OptionGroup var operating: OperatorOptions
    @OptionGroup var seal: SealOptions

    func run() async throws {
        try await operate {
            let (database, audit) = try operating.open()
            for (name, path) in try database.paths() {
                let count: Int
                switch try DatabaseKind(checking: path) {
                case .rps:
                    count = try await UserAdministration(
                        database: ServiceDatabase(path, keyFile: database.serviceKeyFile)
                    ).collect()
                case .dta:
                    let seal = try operating.config.fill(seal).seal(forDatabase: path, stateDir: database.stateDir)
                    guard let seal else { throw StartError("\(path): give --key-file or --passphrase-file") }
                    let shares = try await MasterShareDatabase(existing: path, seal: seal, now: .now())
                    count = try await shares.eraseRetired(at: .now())
                }
                audit.record(.command("gc", [("database", name), ("deleted", String(count))]))
                operating.output.print(Line(database: path, deleted: count), "\(path): deleted \(count)")
            }
        }
    }

    private struct Line: Encodable {
        let database: String
        let deleted: Int
    }
}

struct SaveBackup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the database of a running or stopped part.",
        discussion: """
            Master shares stay sealed in the copy, and their key or passphrase is not in it: keep that elsewhere. Logins \
            in progress are in no backup.
            """)

    @Argument(help: "New file for the copy; with --state-dir, new folder for the copies of all parts.")
    var path: String

    @OptionGroup var operating: OperatorOptions

    func run() throws {
        try operate {
            let (database, audit) = try operating.open()
            if database.stateDir != nil { try makeFolder(path) }
            for (name, source) in try database.paths() {
                let target = database.stateDir == nil ? path : "\(path)/\(name)"
                let kind = try Backup.save(source, to: target)
                audit.record(.command("backup", [("database", name)]))
                operating.output.print(
                    Line(database: source, backup: target, kind: kind.rawValue), "\(source): copied to \(target)")
            }
        }
    }

    private struct Line: Encodable {
        let database: String
        let backup: String
        let kind: String
    }
}

struct RestoreBackup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup in the place of the database of a stopped part.",
        discussion: """
            Every copy is checked before anything is replaced, and the present database is moved aside, not deleted. \
            Identities keep the blocks, revocations and wrong PINs that the present database knows of. Who registered \
            after the backup must register again. Where the present database cannot be read, blocks and revocations \
            since the backup are lost: repeat them by the audit log. A D-TA's share that was made after the backup is \
            lost: docs/operating.md says how to go on with both D-TAs.
            """)

    @Argument(help: "The copy; with --state-dir, the folder of the copies.")
    var path: String

    @OptionGroup var operating: OperatorOptions
    @OptionGroup var seal: SealOptions

    func run() async throws {
        try await operate {
            let (database, audit) = try operating.open()
            var restores: [(name: String, target: String, restore: Restore)] = []
            for (name, target) in try database.paths() {
                let source = database.stateDir == nil ? path : "\(path)/\(name)"
                let seal = try operating.config.fill(seal).seal(forDatabase: target, stateDir: database.stateDir)
                restores.append(
                    (
                        name, target,
                        try await Restore(
                            source, to: target, seal: seal, serviceKeyFile: database.serviceKeyFile, at: .now())
                    ))
            }
            for (name, target, restore) in restores {
                let restored = try restore.run()
                audit.record(.command("restore", [("database", name)]))
                operating.output.print(Line(target, restored), text(target, restored))
            }
        }
    }

    private struct Line: Encodable {
        let database: String
        let kind: String
        let replaced: String?
        let carriedOver: Int?

        init(_ database: String, _ restored: Restore.Outcome) {
            self.database = database
            kind = restored.kind.rawValue
            replaced = restored.replaced
            carriedOver = restored.carriedOver
        }
    }

    private func text(_ database: String, _ restored: Restore.Outcome) -> String {
        var lines = ["\(database): restored"]
        if let replaced = restored.replaced { lines.append("  the database before it is \(replaced)") }
        if restored.kind == .rps, restored.replaced != nil {
            lines.append(
                restored.carriedOver.map { "  \($0) identities keep what happened to them since the backup" }
                    ?? "  WARNING: it cannot be read; blocks and revocations since the backup are lost")
        }
        return lines.joined(separator: "\n")
    }
}
