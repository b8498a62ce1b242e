import ArgumentParser
import MPinServer
import MPinService

extension AuditCommands {
    struct Compare: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Show that D-TAs have given no share of a client secret for which no RPS has registered a device.",
            discussion: """
                Give the logs of all D-TAs and of all RPSs of one service; each is verified first. Exit code 2: a log is \
                not intact, or a D-TA has given a share that no RPS asked for: somebody else has the key of an RPS, or an \
                RPS whose log is not here has asked, or a registration failed between the share and its line. Exit code 3: \
                all that was seen agrees, but lines or files were not seen.
                """)

        @Option(help: "Folder of a server with all parts in one process.")
        var stateDir: String?

        @OptionGroup var config: ConfigOption
        @OptionGroup var audit: AuditOptions

        @Option(
            help: """
                The state folder of an RPS or a D-TA, or a copy of its audit/audit.jsonl, audit.key and audit.jsonl.head; \
                may be repeated.
                """)
        var server: [String] = []

        @Option(help: "The number of the first line that must be seen of each log.")
        var from = 1

        @OptionGroup var output: OutputOptions

        func validate() throws { guard from > 0 else { throw ValidationError("--from: a number from 1 on") } }

        func run() throws {
            try operate {
                let folder = try config.fill(database: nil, stateDir: stateDir).stateDir
                let own = try config.fill(audit).place(stateDir: folder).map { ("this server", $0) }
                let others = try server.map { ($0, try AuditPlace(stateDir: $0)) }
                let places: [(server: String, place: AuditPlace)] = [own].compactMap(\.self) + others
                guard !places.isEmpty else { throw StartError("give --server, --state-dir or --config") }
                let logs = try AuditLogs(places, from: from, marks: []).logs
                let found = try AuditComparison(places)
                report(logs, found)
                let isGood = found.findings.isEmpty && logs.allSatisfy(\.verification.findings.isEmpty)
                guard isGood else { throw ExitCode(2) }
                guard logs.allSatisfy(\.verification.unseen.isEmpty) else { throw ExitCode(3) }
            }
        }

        private func report(_ logs: [AuditLogs.Log], _ found: AuditComparison) {
            for log in logs {
                for finding in log.verification.findings {
                    output.print(finding, "\(log.server): \(finding.file):\(finding.line): \(finding.text)")
                }
                for text in log.verification.unseen {
                    output.print(["unseen": text], "not seen: \(log.server): \(text)")
                }
            }
            for finding in found.findings {
                output.print(
                    finding,
                    """
                    \(finding.server): line \(finding.number), \(finding.time): a share of master secret \(finding.keyID) for \
                    \(finding.hash.shown), for which no RPS has registered a device then
                    """)
            }
            output.print(
                Summary(
                    shares: found.shares, registrations: found.registrations, findings: found.findings.count),
                "\(found.shares) shares and \(found.registrations) registrations, \(found.findings.count) findings")
        }

        private struct Summary: Encodable {
            let shares: Int
            let registrations: Int
            let findings: Int
        }
    }
}
