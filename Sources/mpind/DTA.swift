import ArgumentParser
import Foundation
import MPinServer
import MPinService
import MPinStore

struct DTA: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dta", abstract: "Run a trust authority, or rotate its master secret.",
        subcommands: [RunDTA.self, Rotate.self, Shares.self], defaultSubcommand: RunDTA.self)

    /// Rotates the master share in the database of a D-TA, which may be running.
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a new master share; the one before it is served until a date.",
            discussion: """
                Rotate both D-TAs, which --state-dir does: the RPS uses a new master secret only when both of them have \
                it, within a minute. Identities of the old one log in until the date; then they must register again.
                """)

        @OptionGroup var config: ConfigOption
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var seal: SealOptions
        @OptionGroup var audit: AuditOptions

        @Option(help: "Until when the old one is served: YYYY-MM-DD, YYYY-MM-DDTHH:MM:SSZ (UTC), or now.")
        var serveOldUntil: String

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await operate {
                let now = Moment.now()
                let end = try end(now)
                let authorities = try await config.authorities(database, seal, audit, now)
                for (name, shares) in authorities.shares {
                    let share = try await shares.rotate(serveOldUntil: end, at: now)
                    authorities.audit.record(.rotated(at: name, keyID: share.keyID, oldServedUntil: end))
                    output.print(
                        Line(event: "rotated", database: name, keyID: share.keyID, oldServedUntil: end.iso),
                        "\(name): master secret \(share.keyID) is the current one; "
                            + "the one before it is served until \(end.iso)")
                }
            }
        }

        private struct Line: Encodable {
            let event: String
            let database: String
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

    struct Shares: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the master shares: key id, when made, until when served.")

        @OptionGroup var config: ConfigOption
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var seal: SealOptions
        @OptionGroup var audit: AuditOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await operate {
                let now = Moment.now()
                let authorities = try await config.authorities(database, seal, audit, now)
                authorities.audit.record(.command("dta shares"))
                for (name, shares) in authorities.shares { print(name, try await shares.shares(), now) }
            }
        }

        private func print(_ name: String, _ shares: [MasterShare], _ now: Moment) {
            for share in shares {
                let state = share.servedUntil == nil ? "current" : share.isServed(at: now) ? "old" : "retired"
                output.print(
                    Line(
                        database: name, keyID: share.keyID, state: state, made: share.startTime.iso,
                        servedUntil: share.servedUntil?.iso),
                    "\(name): \(share.keyID) \(state), made \(share.startTime.iso)"
                        + (share.servedUntil.map { ", served until \($0.iso)" } ?? ""))
            }
        }

        private struct Line: Encodable {
            let database: String
            let keyID: String
            let state: String
            let made: String
            let servedUntil: String?
        }
    }
}

extension ConfigOption {
    /// Opens the databases of the D-TAs and the audit log. The options name one D-TA by its database, or both D-TAs by
    /// their state folder. Commands do this before any change, so that an error changes nothing.
    fileprivate func authorities(
        _ database: DatabaseOptions, _ seal: SealOptions, _ audit: AuditOptions, _ now: Moment
    ) async throws -> (shares: [(name: String, shares: MasterShareDatabase)], audit: Audit) {
        let database = try fill(database)
        let names = database.stateDir == nil ? [""] : ["dta1", "dta2"]
        var shares: [(name: String, shares: MasterShareDatabase)] = []
        for name in names {
            let path = try database.path(name)
            let own = try fill(seal).seal(forDatabase: path, stateDir: database.stateDir)
            let opened = try await MasterShareDatabase(existing: path, seal: own ?? fill(seal).seal(), now: now)
            shares.append((name.isEmpty ? path : name, opened))
        }
        return (shares, try self.audit(audit, stateDir: try database.stateDir ?? folder(of: database)))
    }

    /// Opens the audit log. If neither options nor configuration name one, the command is not recorded, and the
    /// operator gets a warning.
    private func audit(_ options: AuditOptions, stateDir: String?) throws -> Audit {
        let place = try fill(options).place(stateDir: stateDir)
        if place == nil { complain(lines: "mpind: warning: no audit log is named, so this is not recorded\n") }
        return Audit(try place.map { try AuditLog($0) }, part: "operator")
    }

    /// The state folder, if the database belongs to a server with all parts in one process; otherwise nil. The audit
    /// log of all parts is in that folder.
    private func folder(of options: DatabaseOptions) throws -> String? {
        let state = MPinServer.folder(of: try options.path(""))
        return FileManager.default.fileExists(atPath: state + "/audit/audit.jsonl") ? state : nil
    }
}
