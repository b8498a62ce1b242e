import ArgumentParser
import Foundation
import MPinServer

struct DTA: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dta", abstract: "Run a trust authority, or rotate its master secret.",
        subcommands: [RunDTA.self, Rotate.self, Shares.self], defaultSubcommand: RunDTA.self)

    /// On the file of a stopped or running D-TA.
    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a new master share; the one before it is served until a date.",
            discussion: """
                Rotate both D-TAs: the RPS uses a new master secret only when both of them have it, within a minute. \
                Identities of the old one log in until the date; then they must register again.
                """)

        @Option(help: "SQLite file of the D-TA.")
        var database: String?

        @OptionGroup var config: ConfigOption

        @OptionGroup var seal: SealOptions
        @OptionGroup var audit: AuditOptions

        @Option(help: "Until when the old one is served: YYYY-MM-DD, YYYY-MM-DDTHH:MM:SSZ (UTC), or now.")
        var serveOldUntil: String

        @OptionGroup var output: OutputOptions

        func run() throws {
            try operate {
                let now = Moment.now()
                let end = try end(now)
                let audit = try config.fill(audit).audit(stateDir: nil)
                let shares = try config.masterShares(database, seal, now)
                let share = try shares.rotate(serveOldUntil: end, at: now)
                audit.record(.rotated(keyID: share.keyID, oldServedUntil: end))
                output.print(
                    Line(event: "rotated", keyID: share.keyID, oldServedUntil: end.iso),
                    "master secret \(share.keyID) is the current one; the one before it is served until \(end.iso)")
            }
        }

        private struct Line: Encodable {
            let event: String
            let keyID: String
            let oldServedUntil: String
        }

        private func end(_ now: Moment) throws -> Moment {
            if serveOldUntil == "now" { return now }
            guard let end = Moment(serveOldUntil) ?? Moment(serveOldUntil + "T00:00:00Z") else {
                throw StartError("\(serveOldUntil): expected YYYY-MM-DD, YYYY-MM-DDTHH:MM:SSZ or now")
            }
            guard end > now, end < now.adding(seconds: 5 * 366 * 86_400) else {
                throw StartError("\(serveOldUntil): not within the next five years")
            }
            return end
        }
    }

    struct Shares: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the master shares: key id, when made, until when served.")

        @Option(help: "SQLite file of the D-TA.")
        var database: String?

        @OptionGroup var config: ConfigOption

        @OptionGroup var seal: SealOptions
        @OptionGroup var audit: AuditOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            try operate {
                let now = Moment.now()
                try config.fill(audit).audit(stateDir: nil).record(.command("dta shares"))
                let shares = try config.masterShares(database, seal, now).shares()
                for share in shares {
                    let state = share.servedUntil == nil ? "current" : share.isServed(at: now) ? "old" : "retired"
                    output.print(
                        Line(
                            keyID: share.keyID, state: state, made: share.startTime.iso,
                            servedUntil: share.servedUntil?.iso),
                        "\(share.keyID) \(state), made \(share.startTime.iso)"
                            + (share.servedUntil.map { ", served until \($0.iso)" } ?? ""))
                }
            }
        }

        private struct Line: Encodable {
            let keyID: String
            let state: String
            let made: String
            let servedUntil: String?
        }
    }
}

extension ConfigOption {
    fileprivate func masterShares(
        _ database: String?, _ seal: SealOptions, _ now: Moment
    ) throws -> MasterShareDatabase {
        guard let path = try fill(database: database, stateDir: nil).database else {
            throw StartError("give --database")
        }
        return try MasterShareDatabase(existing: path, seal: fill(seal).seal(), now: now)
    }
}
