import Glibc
import MPin
import Synchronization

/// Set by a signal while a PIN is being typed.
private let isInterrupted = Atomic(false)

/// Where PINs come from: the terminal without echo, or a file descriptor.
struct PINReader {
    let descriptor: Int32?

    /// Asks for a PIN. One that is new is asked for twice on a terminal.
    func read(_ prompt: String, isNew: Bool = false) throws -> PIN {
        if let descriptor { return PIN(ascii: try line(descriptor)) }
        let first = try ask(prompt)
        if isNew, try ask("The same again") != first { throw Failure("the two PINs differ") }
        return PIN(ascii: first)
    }

    /// Asks for a code that is no PIN.
    func readCode(_ prompt: String) throws -> String {
        String(decoding: try descriptor.map(line) ?? ask(prompt), as: UTF8.self)
    }

    private func ask(_ prompt: String) throws -> [UInt8] {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { throw Failure("no terminal to read the PIN from; use --pin-fd") }
        defer { close(terminal) }
        write(terminal, prompt + ": ")
        defer { write(terminal, "\n") }
        return try withoutEcho(terminal) { try line(terminal) }
    }

    /// A signal that would end the program ends the reading instead, so that the echo comes back.
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

    /// Lets a signal do nothing but leave word of it; returns what it did before.
    private func interrupting(_ signal: Int32) -> sigaction {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in isInterrupted.store(true, ordering: .relaxed) }
        var former = sigaction()
        sigaction(signal, &action, &former)
        return former
    }

    /// Byte by byte: what follows the line is the next PIN.
    private func line(_ descriptor: Int32) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < 64 {
            // The signal may come in another thread, where it ends no read here.
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

/// A yes of the person in front; without a terminal a no.
func isWanted(_ question: String) -> Bool {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    write(terminal, printable(question))
    var answer = [UInt8](repeating: 0, count: 64)
    let count = Glibc.read(terminal, &answer, answer.count)
    return count > 0 && (answer[0] | 0x20) == UInt8(ascii: "y")
}

/// What went wrong on this side, in one line.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Writes a line for a person to standard error. It may hold a server's words, which do not steer the terminal.
func say(_ text: String) { write(STDERR_FILENO, printable(text) + "\n") }

/// The text without what would steer the terminal or turn its direction; lines and columns stay.
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
