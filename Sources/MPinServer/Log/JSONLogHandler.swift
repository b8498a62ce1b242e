import Foundation
import Glibc
package import Logging
import MPinStore

/// Writes each message as one line of JSON to standard error: `time`, `level`, `message` and the metadata.
///
/// It does not filter secrets, because no code gives a secret to a logger.
package struct JSONLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let file: Int32

    package init(level: Logger.Level, file: Int32 = STDERR_FILENO) {
        logLevel = level
        self.file = file
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var members = metadata.merging(event.metadata ?? [:]) { _, new in new }.mapValues(\.description)
        if let error = event.error { members["error"] = String(describing: error) }
        members["time"] = Moment.now().isoWithMicroseconds + "Z"
        members["level"] = event.level.rawValue
        members["message"] = event.message.description
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var line = try? encoder.encode(members) else { return }
        line.append(UInt8(ascii: "\n"))
        // One write call for each line keeps lines of several threads and processes apart.
        line.withUnsafeBytes { _ = write(file, $0.baseAddress, $0.count) }
    }
}

extension Logger {
    /// A logger that writes JSON lines to standard error.
    package static func json(level: Logger.Level) -> Logger {
        Logger(label: "mpind") { _ in JSONLogHandler(level: level) }
    }
}
