import ArgumentParser
import Foundation
import Glibc
import MPinServer

struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object a line.")
    var json = false

    /// Prints one result, as text or as JSON.
    func print(_ value: some Encodable, _ text: String) {
        guard json else { return Swift.print(text) }
        print(asJSON: value)
    }

    func print(asJSON value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Swift.print(String(decoding: (try? encoder.encode(value)) ?? Data(), as: UTF8.self))
    }
}

/// Writes an error for the operator to standard error, in one line. What it names may be a stranger's text.
func complain(_ text: String) {
    let line = "mpind: error: \(text.shown)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
}

/// Tells the operator that there is nothing of the kind that a command was asked for. Returns what the command then throws.
func nothing(_ text: String) -> ExitCode {
    complain(text)
    return ExitCode(2)
}

/// Writes lines to standard error as they are.
func complain(lines text: String) { _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) } }

/// Runs an operator's command. An error gives one line on standard error and an exit code that is not 0. Files that the
/// command makes can be read only by their owner.
func operate(_ command: () throws -> Void) throws {
    umask(0o077)
    do { try command() } catch let code as ExitCode { throw code } catch { throw failure(error) }
}

func operate(_ command: () async throws -> Void) async throws {
    umask(0o077)
    do { try await command() } catch let code as ExitCode { throw code } catch { throw failure(error) }
}
