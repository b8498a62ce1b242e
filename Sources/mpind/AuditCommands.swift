import ArgumentParser
import Foundation
import MPinSecrets
import MPinServer
import MPinService
import MPinStore

struct AuditCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Verify the audit log, begin a new file of it, or find a user in it.",
        subcommands: [Verify.self, Rotate.self, Name.self])

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show that no line of the audit log was altered, removed, inserted, moved or cut off.",
            discussion: """
                Exit code 2: something was. A cut end is seen by the head of the log, which lies beside the key: so it \
                is seen to the last line, unless somebody could put back that file, too. Write down the mark that this \
                command prints, elsewhere, and give it as --expect later: a log without that line is then found out in \
                any case. Files that were put aside are read where they lie beside the log; what was not seen is named.
                """)

        @Option(help: "Folder of a server with all parts in one process.")
        var stateDir: String?

        @OptionGroup var config: ConfigOption
        @OptionGroup var audit: AuditOptions

        @Option(
            help: "An earlier file of the log that lies elsewhere; may be repeated. Those beside the log are found.")
        var older: [String] = []

        @Option(help: "NUMBER:TAG, a mark that an earlier verification printed.")
        var expect: String?

        @OptionGroup var output: OutputOptions

        func run() throws {
            try operate {
                let mark = try expect.map { text in
                    guard let mark = AuditVerification.Mark(text) else { throw StartError("\(text): not a mark") }
                    return mark
                }
                let found = try AuditVerification(
                    config.place(audit, stateDir), older: older, expected: mark)
                for finding in found.findings {
                    output.print(finding, "\(finding.file):\(finding.line): \(finding.text)")
                }
                for text in found.unseen { output.print(["unseen": text], "not seen: \(text)") }
                let last = found.last.map(\.description) ?? "none"
                output.print(
                    Summary(
                        good: found.good, files: found.files.count, findings: found.findings.count,
                        unseen: found.unseen.count, mark: last),
                    "\(found.good) lines in \(found.files.count) files are good, \(found.findings.count) findings; mark \(last)"
                )
                guard found.findings.isEmpty else { throw ExitCode(2) }
            }
        }

        private struct Summary: Encodable {
            let good: Int
            let files: Int
            let findings: Int
            let unseen: Int
            let mark: String
        }
    }

    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put the file of the log aside and begin a new one; the chain goes on. The server may run.")

        @Option(help: "Folder of a server with all parts in one process.")
        var stateDir: String?

        @OptionGroup var config: ConfigOption
        @OptionGroup var audit: AuditOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            try operate {
                let place = try config.place(audit, stateDir)
                let suffix = Moment.now().isoWithMicroseconds
                let log = try AuditLog(place)
                try log.rotate(suffix: suffix)
                Audit(log, part: "operator").record(.command("audit rotate"))
                output.print(["older": "\(place.log).\(suffix)"], "\(place.log).\(suffix)")
            }
        }
    }

    struct Name: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what stands for a user in the log.")

        @Argument(help: "The user id, as registered.")
        var user: String

        @Option(help: "Folder of a server with all parts in one process.")
        var stateDir: String?

        @OptionGroup var config: ConfigOption
        @OptionGroup var audit: AuditOptions

        func run() throws {
            try operate {
                let name = try config.place(audit, stateDir).name(user)
                guard !name.isEmpty else {
                    throw StartError("this log has no names of users: `mpind user show` prints the identities of one")
                }
                print(name)
            }
        }
    }
}

extension ConfigOption {
    fileprivate func place(_ audit: AuditOptions, _ stateDir: String?) throws -> AuditPlace {
        let folder = try fill(database: nil, stateDir: stateDir).stateDir
        return try fill(audit).requiredPlace(stateDir: folder)
    }
}
