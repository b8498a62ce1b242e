import Foundation
import Synchronization

/// A real Redis server for tests (redis.sh), or one with a replica and Sentinels (sentinel.sh). It ends with this object, or
/// with the process.
package final class RedisServer: Sendable {
    /// One server for all tests of a process that need nothing else than an empty store.
    package static let shared = Result { try RedisServer() }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    /// The URL of the server.
    package let url: String
    /// The folder of the server.
    package let folder: String
    private let count = Mutex(0)

    package struct Failure: Error {
        package let output: String
    }

    private static let scripts = URL(filePath: #filePath).deletingLastPathComponent()

    /// Starts a server with `settings`, names and values in turn, in addition to its defaults.
    package convenience init(settings: [String] = []) throws { try self.init("redis.sh", settings) }

    /// Starts a server, its replica and three Sentinels. Sentinels and servers have the password in this file.
    package convenience init(withSentinels passfile: String) throws { try self.init("sentinel.sh", [passfile]) }

    private init(_ script: String, _ arguments: [String]) throws {
        process.executableURL = Self.scripts.appending(path: script)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        url = try Self.line(output)
        folder = String(url.drop { $0 != "=" }.dropFirst().dropLast("/redis.sock".count))
    }

    /// Waits for a line of the script.
    private static func line(_ output: Pipe) throws -> String {
        var text = ""
        while !text.hasSuffix("\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Failure(output: "redis.sh ended: \(text)") }
            text += String(decoding: more, as: UTF8.self)
        }
        return text.trimmingCharacters(in: .newlines)
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Returns the URL of a part of the server that nobody has used yet.
    package func newURL() -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return url + "&prefix=test\(number)"
    }

    /// Runs a command and returns the output of redis-cli.
    @discardableResult
    package func run(_ words: String...) throws -> String { try run(words) }

    /// Runs a command and returns the output of redis-cli.
    @discardableResult
    package func run(_ words: [String]) throws -> String {
        try Self.output("/usr/bin/redis-cli", ["-s", folder + "/redis.sock"] + words)
    }

    /// Sends a signal to the server.
    package func signal(_ signal: Int32) throws {
        let text = try String(contentsOfFile: folder + "/pid", encoding: .utf8)
        guard let pid = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw Failure(output: text) }
        kill(pid, signal)
    }

    /// Starts the server again after it was killed. The script that has started it before does that: `Process` would wait
    /// for a server that another one has started, because it hands on a socket to all its descendants.
    package func startAgain() throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        _ = try Self.line(output)
    }

    /// Sends a command to the first Sentinel. `password` is that of the Sentinels.
    package func tellSentinel(_ words: String..., password: String) throws {
        let port = String(url.split(separator: ":")[2].prefix(while: \.isNumber))
        try Self.output("/usr/bin/redis-cli", ["-e", "-p", port] + words, ["REDISCLI_AUTH": password])
    }

    /// Kills the primary, and waits until the Sentinels have named its replica.
    package func failOver() throws { try startAgain() }

    @discardableResult
    private static func output(
        _ program: String, _ words: [String], _ environment: [String: String]? = nil
    ) throws -> String {
        let process = Process()
        if let environment { process.environment = environment }
        process.executableURL = URL(filePath: program)
        process.arguments = words
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(output: text) }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
