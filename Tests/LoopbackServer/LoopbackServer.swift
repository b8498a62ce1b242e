import Foundation
import MPinHTTP

/// A received request.
package struct ReceivedRequest: Sendable {
    package let method: String
    /// Path and query.
    package let target: String
    package let headers: [(String, String)]
    package let body: [UInt8]

    /// The target up to the question mark.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The query's members, percent-decoded.
    package var query: [String: String] {
        let items = URLComponents(string: target)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }

    package func header(_ name: String) -> String? {
        headers.first { $0.0.lowercased() == name.lowercased() }?.1
    }

    /// The body as a JSON object; empty for anything else.
    package var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
    }
}

/// The server's reaction to a request.
package enum Reply: Sendable {
    case answer(Int, headers: [(String, String)] = [], body: [UInt8])
    /// Sends these bytes unchanged, then closes the connection.
    case raw([UInt8])
    /// Sends these bytes, then nothing until the client closes.
    case stall([UInt8] = [])
    /// Sends these bytes one by one, with a pause of `milliseconds` between them.
    case drip([UInt8], milliseconds: UInt32)
    /// Sends these bytes, then resets the connection.
    case reset([UInt8] = [])

    package static func json(_ status: Int, _ object: [String: Any]) -> Reply {
        let data = (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
        return .answer(status, headers: [("Content-Type", "application/json")], body: Array(data))
    }

    package static func text(_ status: Int, _ text: String) -> Reply { .answer(status, body: Array(text.utf8)) }
}

/// An HTTP server on a real loopback socket, with one thread for each connection. The test's `handler` makes its
/// replies.
package final class LoopbackServer: Sendable {
    package let port: UInt16
    private let listener: Int32
    private let handler: @Sendable (ReceivedRequest) -> Reply
    private let onEnd: @Sendable () -> Void
    private let state = Locked(State())

    private struct State {
        var connections: Set<Int32> = []
        var received: [ReceivedRequest] = []
        var accepted = 0
        var isStopped = false
    }

    /// Starts the server on a free port. It calls `handler` for each request, and `onEnd` at the end of each
    /// connection.
    package init(
        onEnd: @escaping @Sendable () -> Void = {}, handler: @escaping @Sendable (ReceivedRequest) -> Reply
    ) throws {
        (listener, port) = try listenOnLoopback()
        self.handler = handler
        self.onEnd = onEnd
        Thread.detachNewThread { [self] in acceptLoop() }
    }

    package var url: String { "http://127.0.0.1:\(port)" }
    package var received: [ReceivedRequest] { state.withLock { $0.received } }
    /// The number of connections accepted so far.
    package var accepted: Int { state.withLock { $0.accepted } }

    package func forget() { state.withLock { $0.received = [] } }

    package func stop() {
        state.withLock { state in
            state.isStopped = true
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
        // Ends the accepting thread, which then closes the socket. If this function closed the socket itself, the
        // system could give its number to another file while the thread still uses it.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func acceptLoop() {
        defer { close(listener) }
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            let isStopped = state.withLock { state in
                if !state.isStopped {
                    state.connections.insert(connection)
                    state.accepted += 1
                }
                return state.isStopped
            }
            guard !isStopped else {
                close(connection)
                return
            }
            Thread.detachNewThread { [self] in serve(connection) }
        }
    }

    private func serve(_ connection: Int32) {
        defer {
            state.withLock { _ = $0.connections.remove(connection) }
            close(connection)
            onEnd()
        }
        var reader = RequestReader(connection: connection)
        while let request = reader.next() {
            state.withLock { $0.received.append(request) }
            guard perform(handler(request), on: connection) else { return }
        }
    }

    /// Sends the reply. Returns false if the connection has ended.
    private func perform(_ reply: Reply, on connection: Int32) -> Bool {
        switch reply {
        case .answer(let status, let headers, let body):
            var head = "HTTP/1.1 \(status) Status\r\nContent-Length: \(body.count)\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            return send(Array((head + "\r\n").utf8) + body, to: connection)
        case .raw(let bytes):
            _ = send(bytes, to: connection)
            return false
        case .stall(let bytes):
            _ = send(bytes, to: connection)
            var byte: UInt8 = 0
            while recv(connection, &byte, 1, 0) > 0 {}
            return false
        case .drip(let bytes, let milliseconds):
            for byte in bytes {
                guard send([byte], to: connection) else { return false }
                usleep(milliseconds * 1000)
            }
            return true
        case .reset(let bytes):
            _ = send(bytes, to: connection)
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            return false
        }
    }
}

/// Opens a listening socket on 127.0.0.1 and returns it with its port.
package func listenOnLoopback() throws -> (socket: Int32, port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(descriptor, address, length) == 0 && listen(descriptor, 64) == 0
                && getsockname(descriptor, address, &length) == 0
        }
    }
    guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return (descriptor, UInt16(bigEndian: address.sin_port))
}

/// Sends all of `bytes`. Returns false if the other side has closed.
package func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
        let flags = Int32(MSG_NOSIGNAL)
        let count = bytes[sent...].withUnsafeBytes { send(connection, $0.baseAddress, $0.count, flags) }
        guard count > 0 else { return false }
        sent += count
    }
    return true
}

/// Reads requests with a Content-Length header, one after another, from a connection.
private struct RequestReader {
    let connection: Int32
    private var pending: [UInt8] = []

    init(connection: Int32) { self.connection = connection }

    mutating func next() -> ReceivedRequest? {
        guard let head = take(through: Array("\r\n\r\n".utf8)) else { return nil }
        var lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n").filter { !$0.isEmpty }
        guard !lines.isEmpty else { return nil }
        let start = lines.removeFirst().split(separator: " ").map(String.init)
        guard start.count == 3 else { return nil }
        let headers = lines.compactMap { line -> (String, String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
        let length = headers.first { $0.0.lowercased() == "content-length" }.flatMap { Int($0.1) } ?? 0
        guard let body = take(length) else { return nil }
        return ReceivedRequest(method: start[0], target: start[1], headers: headers, body: body)
    }

    private mutating func take(through mark: [UInt8]) -> [UInt8]? {
        while true {
            if let range = Data(pending).range(of: Data(mark)) {
                return take(range.upperBound)
            }
            guard fill() else { return nil }
        }
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        while pending.count < count { guard fill() else { return nil } }
        defer { pending.removeFirst(count) }
        return Array(pending.prefix(count))
    }

    private mutating func fill() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 16384)
        let count = recv(connection, &chunk, chunk.count, 0)
        guard count > 0 else { return false }
        pending += chunk.prefix(count)
        return true
    }
}
