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
    /// The URL of the same database through pgbouncer, which gives each transaction one of two connections.
    package let poolerURL: String
    /// The folder of the server: its socket, its log, and its data in `data`.
    package let folder: String
    private let count = Mutex(0)

    package struct Failure: Error {
        package let output: String
    }

    /// Starts a server with `settings` in addition to its defaults.
    package init(settings: [String] = ["fsync=off"]) throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "postgres.sh")
        process.executableURL = script
        process.arguments = settings.flatMap { ["-c", $0] }
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
        url = text.trimmingCharacters(in: .newlines)
        poolerURL = url + "&port=6432"
        folder = String(url.drop { $0 != "=" }.dropFirst().prefix { $0 != "&" })
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
        return "postgres:///\(name)?host=\(folder)&user=mpin"
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
        let file = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
        guard let parent = file.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw Failure(output: "postmaster.pid: \(file)")
        }
        for process in [parent] + (try children(of: parent)) { kill(process, signal) }
    }

    private func children(of parent: Int32) throws -> [Int32] {
        try String(contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)
            .split(separator: " ").compactMap { Int32($0) }
    }
}
