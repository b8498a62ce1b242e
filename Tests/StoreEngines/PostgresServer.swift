import Foundation
import Synchronization

/// A real PostgreSQL server for tests (postgres.sh). It ends with this object, or with the process.
package final class PostgresServer: Sendable {
    /// One server for all tests of a process that need nothing else than a database.
    package static let shared = Result { try PostgresServer() }

    private let process = Process()
    private let input = Pipe()
    /// The URL of a first, empty database.
    package let url: String
    /// The folder of the server: its socket, its log, and its data in `data`.
    package let folder: String
    private let count = Mutex(0)

    package struct Failure: Error {
        package let output: String
    }

    /// What the URL of a database ends with.
    private let place: String

    /// Starts a server with `settings` in addition to its defaults. It listens at `port`, too, if `settings` say at which
    /// addresses.
    package init(settings: [String] = ["fsync=off"], port: Int? = nil) throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "postgres.sh")
        process.executableURL = script
        process.arguments = settings.flatMap { ["-c", $0] }
        if let port {
            process.environment = ProcessInfo.processInfo.environment.merging(["PGPORT": "\(port)"]) { $1 }
        }
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        while !text.hasSuffix("\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Failure(output: "postgres.sh ended: \(text)") }
            text += String(decoding: more, as: UTF8.self)
        }
        let first = text.trimmingCharacters(in: .newlines)
        folder = String(first.drop { $0 != "=" }.dropFirst().prefix { $0 != "&" })
        place = "?host=\(folder)&user=mpin" + (port.map { "&port=\($0)" } ?? "")
        url = first.prefix { $0 != "?" } + place
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Makes an empty database and returns its URL.
    package func newDatabase() throws -> String {
        let name = count.withLock { count in
            count += 1
            return "test\(count)"
        }
        try run("CREATE DATABASE \(name)")
        return "postgres:///\(name)\(place)"
    }

    /// The URL of the same database through pgbouncer, which gives each transaction one of two connections.
    package func throughPooler(_ url: String) -> String { url + "&port=6432" }

    /// Gives the database of `url` a setting for all its later connections.
    package func set(_ setting: String, in url: String) throws {
        let change = "EXECUTE format('ALTER DATABASE %I SET \(setting)', current_database())"
        try run("DO $$ BEGIN \(change); END $$", in: url)
    }

    /// Runs a statement in the database of `url`, or in the first one, and returns the output of psql.
    @discardableResult
    package func run(_ sql: String, in url: String? = nil) throws -> String {
        let psql = Process()
        psql.executableURL = URL(filePath: "/usr/bin/psql")
        let database = (url ?? self.url).replacing("postgres:", with: "postgresql:")
        psql.arguments = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--command", sql, database]
        // Also where the server's own setting forbids writing.
        psql.environment = ["PGOPTIONS": "-c default_transaction_read_only=off"]
        let output = Pipe()
        psql.standardOutput = output
        psql.standardError = output
        try psql.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        psql.waitUntilExit()
        guard psql.terminationStatus == 0 else { throw Failure(output: text) }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Sends a signal to the server and to all its processes for connections.
    package func signal(_ signal: Int32) throws {
        for process in try processes() { kill(process, signal) }
    }

    /// Lets no file of the server become longer than that, as on a full disk; nil: ends that. The server's user does it,
    /// because root may have no right to in a container.
    package func limitFiles(to bytes: Int?) throws {
        let user = geteuid() == 0 ? ["/usr/sbin/runuser", "-u", "postgres", "--"] : ["/usr/bin/env"]
        let limit = bytes.map(String.init) ?? "unlimited"
        // The first process comes first, so that all that it starts later have the limit, too. One of them may end meanwhile.
        let each = """
            limit() { prlimit --pid "$1" --fsize=\(limit): || ! kill -0 "$1"; }
            limit "$1" && for process in $(cat "/proc/$1/task/$1/children"); do limit "$process" || exit; done
            """
        let shell = Process()
        shell.executableURL = URL(filePath: user[0])
        shell.arguments = user.dropFirst() + ["sh", "-c", each, "sh"] + (try processes().prefix(1).map(String.init))
        try shell.run()
        shell.waitUntilExit()
        guard shell.terminationStatus == 0 else { throw Failure(output: "prlimit") }
    }

    /// The server's first process, and those that it has started.
    private func processes() throws -> [Int32] {
        let file = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
        guard let first = file.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw Failure(output: "postmaster.pid: \(file)")
        }
        let children = try String(contentsOfFile: "/proc/\(first)/task/\(first)/children", encoding: .utf8)
        return [first] + children.split(separator: " ").compactMap { Int32($0) }
    }
}
