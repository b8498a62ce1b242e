import Foundation

/// A connection of psql to a server. It keeps its transaction, and with it its locks, from one call to the next.
package final class PostgresSession {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private static let end = "end of the answer"

    /// Opens a session in the database of `url`.
    package init(_ url: String) throws {
        process.executableURL = URL(filePath: "/usr/bin/psql")
        let database = url.replacing("postgres:", with: "postgresql:")
        process.arguments = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", database]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Runs statements, waits for their end, and returns the output of psql.
    @discardableResult
    package func run(_ sql: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data("\(sql);\n\\echo \(Self.end)\n".utf8))
        var text = ""
        while !text.hasSuffix(Self.end + "\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw PostgresServer.Failure(output: text) }
            text += String(decoding: more, as: UTF8.self)
        }
        let answer = text.dropLast(Self.end.count + 1)
        guard !answer.contains("ERROR:") else { throw PostgresServer.Failure(output: String(answer)) }
        return answer.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
