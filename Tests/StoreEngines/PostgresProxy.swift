import Foundation
import LoopbackServer
import Synchronization

/// A TCP port that leads to a PostgreSQL server. When a test says so, it loses the answer to a transaction: the server has
/// committed and said so, and the connection ends before its client hears of it.
package final class PostgresProxy: Sendable {
    private struct State {
        var number = 0
        var lost = 0
        var isLost: @Sendable (_ number: Int) -> Bool = { _ in false }
        var disturb: @Sendable (_ answer: inout [UInt8]) -> Void = { _ in }
    }

    private let port: UInt16
    private let listener: Int32
    private let server: String
    private let state = Mutex(State())

    /// Opens a port. It closes with this object.
    package init(to server: PostgresServer) throws {
        (listener, port) = try listenOnLoopback()
        self.server = server.folder + "/.s.PGSQL.5432"
        // The threads do not keep this object, because its end is theirs.
        Thread.detachNewThread { [listener, weak self] in
            defer { close(listener) }
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let proxy = self else { return }
                proxy.connect(client)
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// The URL of the same database through this port.
    package func url(of database: String) -> String {
        let name = database.trimmingPrefix("postgres:///").prefix { $0 != "?" }
        return "postgres://mpin@127.0.0.1:\(port)/\(name)?sslmode=disable&gssencmode=disable"
    }

    /// From now on loses the answers for whose numbers, counted from 1, `isLost` is true.
    package func lose(_ isLost: @escaping @Sendable (_ number: Int) -> Bool) {
        state.withLock { $0 = State(isLost: isLost) }
    }

    /// From now on changes each answer before it is sent on.
    package func disturb(_ disturb: @escaping @Sendable (_ answer: inout [UInt8]) -> Void) {
        state.withLock { $0.disturb = disturb }
    }

    /// How many answers have been lost since ``lose(_:)``.
    package var lost: Int { state.withLock { $0.lost } }

    private func connect(_ client: Int32) {
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: self.server.utf8.prefix($0.count - 1)) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else {
            for file in [client, server] { close(file) }
            return
        }
        let ends = Ends(client, server)
        Thread.detachNewThread {
            while let bytes = received(client), send(bytes, to: server) {}
            ends.shut()
        }
        Thread.detachNewThread { [weak self] in
            var answers = Answers()
            while let bytes = received(server) {
                let isWhole = answers.take(bytes) { self?.isNextLost() == true }
                if var ready = answers.next() {
                    self?.state.withLock { $0.disturb }(&ready)
                    if !send(ready, to: client) { break }
                }
                guard isWhole else { break }
            }
            ends.shut()
        }
    }

    private func isNextLost() -> Bool {
        state.withLock { state in
            state.number += 1
            guard state.isLost(state.number) else { return false }
            state.lost += 1
            return true
        }
    }
}

/// The two sockets of a connection, which are closed when both threads have ended.
private final class Ends: Sendable {
    private let files: [Int32]

    init(_ files: Int32...) { self.files = files }

    func shut() { for file in files { shutdown(file, Int32(SHUT_RDWR)) } }

    deinit { for file in files { close(file) } }
}

/// What a server says, message by message: a letter, the length of the rest in four bytes, the rest (manual of PostgreSQL 15,
/// section 55.7). An answer ends with the message "ready for query".
private struct Answers {
    private var message: [UInt8] = []
    private var held: [UInt8] = []
    private var ready: [UInt8] = []
    private var count = 0

    /// The first answers are those to the login and to the settings that a store makes on each of its connections.
    private static let first = 2

    /// Takes bytes, and keeps them until their answer is whole. At the end of a transaction, calls `isLost`; if that is true,
    /// drops the answer and returns false.
    mutating func take(_ bytes: [UInt8], _ isLost: () -> Bool) -> Bool {
        message += bytes
        while message.count >= 5 {
            let size = 1 + message[1..<5].reduce(0) { $0 << 8 | Int($1) }
            guard message.count >= size else { break }
            held += message[..<size]
            let (kind, state) = (message[0], message[size - 1])
            message.removeFirst(size)
            // Before the first answer, each message may be one for which the server waits for more.
            guard kind == UInt8(ascii: "Z") || count == 0 else { continue }
            if kind == UInt8(ascii: "Z") { count += 1 }
            if count > Self.first, state == UInt8(ascii: "I"), isLost() { return false }
            ready += held
            held = []
        }
        return true
    }

    /// The answers that may be sent on now.
    mutating func next() -> [UInt8]? {
        defer { ready = [] }
        return ready.isEmpty ? nil : ready
    }
}

private func received(_ file: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(file, &bytes, bytes.count, 0)
    return count > 0 ? Array(bytes[..<count]) : nil
}
