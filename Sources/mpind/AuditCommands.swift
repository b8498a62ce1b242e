import ArgumentParser
import Foundation
import MPinSecrets
import MPinServer
import MPinService
import MPinStore

struct AuditCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Verify or compare audit logs, begin a new file of one, or find a user in it.",
        subcommands: [Verify.self, Compare.self, Forget.self, Rotate.self, Name.self])

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show that no line of the audit log was altered, removed, inserted, moved or cut off.",
            discussion: """
                Exit code 2: something was. Exit code 3: all that was seen is good, but lines or files were not seen; --from \
                says which lines need not be. A cut end is seen by the head of the log, which lies beside the key: so it \
                is seen to the last line, unless somebody could put back that file, too. Write down the mark that this \
                command prints, elsewhere, and give it as --expect later: a log without that line is then found out in \
                any case. Files that were put aside are read where they lie beside the log; what was not seen is named.

                Servers with one PostgreSQL database note there, every few seconds, how far their logs have come. With \
                --all each log is compared with that, and a log that the database knows must be given.
                """)

        @Option(help: "Folder of a server with all parts in one process.")
        var stateDir: String?

        @OptionGroup var config: ConfigOption
        @OptionGroup var audit: AuditOptions

        @Option(
            help: "An earlier file of the log that lies elsewhere; may be repeated. Those beside the log are found.")
        var older: [String] = []

        @Option(
            help: """
                The number of the first line that must be seen: lines before it are in files that were archived. With \
                --all: of each log.
                """)
        var from = 1

        @Option(help: "NUMBER:TAG, a mark that an earlier verification printed.")
        var expect: String?

        @Flag(help: "The logs of all servers with one database.")
        var all = false

        @Option(help: "With --all: the database. (default: that of --config)")
        var database: String?

        @Option(
            help: """
                With --all: the state folder of another server, or a copy of its audit/audit.jsonl, audit.key and \
                audit.jsonl.head; may be repeated.
                """)
        var server: [String] = []

        @Option(help: "With --all: a new file for the lines of all logs in the order of time, with their servers.")
        var merged: String?

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard from > 0 else { throw ValidationError("--from: a number from 1 on") }
            guard all || (database == nil && server.isEmpty && merged == nil) else {
                throw ValidationError("--database, --server and --merged need --all")
            }
            guard !all || (older.isEmpty && expect == nil) else {
                throw ValidationError("--older and --expect are for one log: leave out --all")
            }
        }

        func run() async throws {
            try await operate {
                let result = try await all ? verifyAll() : verifyOne()
                guard result == .whole else { throw ExitCode(result.rawValue) }
            }
        }

        /// What a verification has come to, as an exit code.
        private enum Result: Int32 {
            case whole = 0
            case altered = 2
            case unseen = 3

            init(_ logs: [AuditVerification], isMissing: Bool = false) {
                let isAltered = isMissing || !logs.allSatisfy(\.findings.isEmpty)
                self = isAltered ? .altered : logs.allSatisfy(\.unseen.isEmpty) ? .whole : .unseen
            }
        }

        private func verifyOne() throws -> Result {
            let mark = try expect.map { text in
                guard let mark = AuditVerification.Mark(text) else { throw StartError("\(text): not a mark") }
                return mark
            }
            let place = try config.place(audit, stateDir)
            let found = try AuditVerification(place, older: older, from: from, expected: mark)
            report(found, of: nil)
            note(firstOf: found, place)
            return Result([found])
        }

        /// Lets the head of a log that an older version has begun know its first line, and says so.
        private func note(firstOf found: AuditVerification, _ place: AuditPlace) {
            let noted: Int?
            do { noted = try found.noteFirst(place) } catch {
                // A copy that cannot be written can be verified all the same.
                return output.print(
                    ["notNoted": "\(error)"], "its first line is not known, and cannot be noted: \(error)")
            }
            guard let number = noted else { return }
            output.print(
                ["first": number],
                "\(place.head): its first line was not known; from now on it is number \(number)")
        }

        /// The marks are read before the logs, because servers that run go on writing.
        private func verifyAll() async throws -> Result {
            let (database, folder) = try config.fill(database: database, stateDir: stateDir)
            guard let database = database ?? folder.map({ $0 + "/rps.sqlite" }) else {
                throw StartError("give --database, --config or --state-dir")
            }
            let marks = try await AuditMarks(database: ServiceDatabase(database)).all(at: .now())
            let own = try config.fill(audit).place(stateDir: folder).map { ("this server", $0) }
            let others = try server.map { ($0, try AuditPlace(stateDir: $0)) }
            let found = try AuditLogs([own].compactMap(\.self) + others, from: from, marks: marks)
            for log in found.logs {
                report(log.verification, of: log.server)
                if !log.isNoted { print(unseen: "\(log.server): the database does not know this log") }
            }
            for missing in found.missing { print(missing) }
            if let merged { try save(found, to: merged) }
            return Result(found.logs.map(\.verification), isMissing: !found.missing.isEmpty)
        }

        private func report(_ found: AuditVerification, of server: String?) {
            for finding in found.findings {
                output.print(finding, "\(finding.file):\(finding.line): \(finding.text)")
            }
            for text in found.unseen { print(unseen: text) }
            let last = found.last.map(\.description) ?? "none"
            output.print(
                Summary(
                    server: server, good: found.good, files: found.files.count, findings: found.findings.count,
                    unseen: found.unseen.count, mark: last),
                (server.map { "\($0): " } ?? "")
                    + "\(found.good) lines in \(found.files.count) files are good, \(found.findings.count) findings; mark \(last)"
            )
        }

        private func print(unseen text: String) { output.print(["unseen": text], "not seen: \(text)") }

        private func print(_ missing: AuditLogs.Missing) {
            let (log, entry) = (missing.log, missing.entry)
            output.print(
                ["missing": log, "host": entry.host, "mark": entry.mark, "noted": entry.noted.iso],
                """
                missing: line \(entry.mark), which the log of \(entry.host) had at \(entry.noted.iso). If that log is not \
                among these, give its folder as --server, or forget it by `mpind audit forget \(log)`; if it is, its end was \
                cut off, or an older file was put back
                """)
        }

        private func save(_ logs: AuditLogs, to path: String) throws {
            let lines = Array((try logs.merged().joined(separator: "\n") + "\n").utf8)
            try SecretFile.create(path, lines.span)
        }

        private struct Summary: Encodable {
            let server: String?
            let good: Int
            let files: Int
            let findings: Int
            let unseen: Int
            let mark: String
        }
    }

    struct Forget: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget the log of a server that is gone: `audit verify --all` does not want it any more.",
            discussion: "Exit code 2: the database knows no such log.")

        @Argument(help: "The log, as `audit verify --all` calls it.")
        var log: String

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let (database, audit) = try operating.open()
                let marks = try await AuditMarks(database: database.service())
                guard try await marks.forget(log, at: .now()) else { throw nothing("no log \(log.shown)") }
                audit.record(.command("audit forget", [("log", log)]))
            }
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
