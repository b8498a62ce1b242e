import ArgumentParser
import Glibc
import MPin
import Synchronization

/// Whether a signal has arrived while the user types a PIN.
private let isInterrupted = Atomic(false)

/// Reads PINs from the terminal without echo, or from a file descriptor.
struct PINReader {
    let descriptor: Int32?

    /// Asks for a PIN. On a terminal, asks twice for a new PIN, and throws if the two differ.
    func read(_ prompt: String, isNew: Bool = false) throws -> PIN {
        if let descriptor { return PIN(ascii: try line(descriptor)) }
        let first = try ask(prompt)
        if isNew, try ask("The same again") != first { throw Failure("the two PINs differ") }
        return PIN(ascii: first)
    }

    /// Asks for a code, a token or a link, which is not a PIN and may be long.
    func readCode(_ prompt: String) throws -> String {
        let limit = 4095
        return String(
            decoding: try descriptor.map { try line($0, limit: limit) } ?? ask(prompt, limit: limit), as: UTF8.self)
    }

    private func ask(_ prompt: String, limit: Int = 64) throws -> [UInt8] {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { throw Failure("no terminal to read the PIN from; use --pin-fd") }
        defer { close(terminal) }
        write(terminal, prompt + ": ")
        defer { write(terminal, "\n") }
        return try withoutEcho(terminal) { try line(terminal, limit: limit) }
    }

    /// Turns the terminal's echo off while `body` runs. Signals that would end the program only end the reading, so
    /// that the echo is turned on again.
    private func withoutEcho<Result>(_ terminal: Int32, _ body: () throws -> Result) throws -> Result {
        var former = termios()
        guard tcgetattr(terminal, &former) == 0 else { throw Failure("/dev/tty is no terminal") }
        var silent = former
        silent.c_lflag &= ~tcflag_t(ECHO)
        let actions = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].map { ($0, interrupting($0)) }
        tcsetattr(terminal, TCSAFLUSH, &silent)
        defer {
            tcsetattr(terminal, TCSAFLUSH, &former)
            for (signal, action) in actions {
                var action = action
                sigaction(signal, &action, nil)
            }
        }
        return try body()
    }

    /// Makes a signal only set `isInterrupted`. Returns the previous action of the signal.
    private func interrupting(_ signal: Int32) -> sigaction {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in isInterrupted.store(true, ordering: .relaxed) }
        var former = sigaction()
        sigaction(signal, &action, &former)
        return former
    }

    /// Reads a line one byte at a time, so that nothing of the next line is consumed, which may be the next PIN.
    private func line(_ descriptor: Int32, limit: Int = 64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < limit {
            // Waits at most 100 ms at a time, because a signal may arrive in another thread and then does not interrupt
            // the wait.
            var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&input, 1, 100)
            guard !isInterrupted.load(ordering: .relaxed) else { throw Failure("interrupted") }
            if ready == 0 || (ready < 0 && errno == EINTR) { continue }
            let count = Glibc.read(descriptor, &byte, 1)
            guard count >= 0 else { throw Failure("the PIN cannot be read: \(String(cString: strerror(errno)))") }
            if count == 0 || byte == UInt8(ascii: "\n") { break }
            bytes.append(byte)
        }
        return bytes
    }
}

/// Asks the user a yes-or-no question on the terminal. False for "no", and if there is no terminal.
func isWanted(_ question: String) -> Bool {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    write(terminal, printable(question))
    var answer = [UInt8](repeating: 0, count: 64)
    let count = Glibc.read(terminal, &answer, answer.count)
    return count > 0 && (answer[0] | 0x20) == UInt8(ascii: "y")
}

/// The option for programs that log in a screen without a person at a terminal.
struct ScreenOptions: ParsableArguments {
    @Flag(help: "Go on without a question if the server knows nothing about the screen that shows the code.")
    var anyScreen = false

    /// Says where the screen is that shows the code. If nothing is known about it, asks whether to go on: somebody may have
    /// sent the user the code of another screen.
    func introduce(_ place: SessionPlace) throws {
        guard !place.isScreenKnown else {
            let program = place.screenProgram.isEmpty ? "A browser" : place.screenProgram
            return say("\(program) at \(place.screenAddress) shows the code: it must be the screen before you")
        }
        let site = place.siteAddress.isEmpty ? "" : ", opened by \(place.siteAddress)"
        let text = "The code is that of a screen that we know nothing about\(site)"
        guard !anyScreen else { return say(text) }
        guard isWanted(text + ". Is it the screen before you? [y/N] ") else {
            throw Failure("nothing is known about the screen: --any-screen goes on without a question")
        }
    }
}

/// An error of this program, described in one line.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Writes a line to standard error. The text may come from a server, so control characters are removed.
func say(_ text: String) { write(STDERR_FILENO, printable(text) + "\n") }

/// The text without control and format characters, which could change the state of the terminal or the direction of the
/// text. Line feeds and tabs stay.
func printable(_ text: String) -> String {
    let scalars = text.unicodeScalars.filter { scalar in
        switch scalar.properties.generalCategory {
        case .control: scalar == "\n" || scalar == "\t"
        case .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
    return String(String.UnicodeScalarView(scalars))
}

private func write(_ descriptor: Int32, _ text: String) {
    _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
}
