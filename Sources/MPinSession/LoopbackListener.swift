import Glibc
import MPinSDK

/// Receives the browser that the provider sends back to this machine (RFC 8252 section 7.3). Browsers also open
/// connections that they do not use, and ask for icons, so several connections are served at a time.
final class LoopbackListener {
    private let sockets: LoopbackSockets
    private let uri: LoopbackURI
    private var connections: [Connection] = []
    private static let maxConnections = 32
    /// How often a port is looked for that is free at all addresses.
    private static let attempts = 16

    private struct Connection {
        let file: Int32
        var request: [UInt8] = []
    }

    init(_ uri: LoopbackURI) throws(SDKError) {
        let ports = [UInt16](repeating: uri.port, count: uri.port == 0 ? Self.attempts : 1)
        sockets = try LoopbackSockets(uri.addresses, ports: ports)
        self.uri = uri
    }

    deinit {
        for connection in connections { close(connection.file) }
        sockets.close()
    }

    /// Where the provider is to send the browser.
    var redirectURI: String { uri.text(port: sockets.port) }

    /// Serves the connections until something happens at one of them or at `event`, at most for `milliseconds`.
    /// `accept` gets the target of each request for the path of the redirect URI, and says whether it is the one that
    /// the login waits for; then this returns true.
    func serve(or event: Int32, milliseconds: Int, _ accept: (String) -> Bool) -> Bool {
        let files = [event] + sockets.files + connections.map(\.file)
        var polls = files.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&polls, nfds_t(polls.count), Int32(clamping: milliseconds)) > 0 else { return false }
        let ready = Set(polls.filter { $0.revents != 0 }.map(\.fd))
        var isDone = false
        connections.removeAll { connection in
            guard ready.contains(connection.file) else { return false }
            var open = connection
            guard let target = Self.read(&open) else {
                if open.request.isEmpty { close(open.file) }
                return open.request.isEmpty
            }
            let isWanted = target.prefix { $0 != "?" } == uri.path && accept(target)
            isDone = isDone || isWanted
            Self.answer(open.file, isWanted)
            return true
        }
        for socket in sockets.files where ready.contains(socket) { takeConnection(socket) }
        return isDone
    }

    private func takeConnection(_ socket: Int32) {
        let file = accept(socket, nil, nil)
        guard file >= 0 else { return }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        _ = fcntl(file, F_SETFL, O_NONBLOCK)
        if connections.count >= Self.maxConnections { close(connections.removeFirst().file) }
        connections.append(Connection(file: file))
    }

    /// Reads what has come. Returns the target of the request line when there is one; nil, with an empty request, if
    /// the connection is to be closed.
    private static func read(_ connection: inout Connection) -> String? {
        var chunk = [UInt8](repeating: 0, count: 8192)
        let count = recv(connection.file, &chunk, chunk.count, 0)
        connection.request = Array(chunk.prefix(max(count, 0)))
        let line = connection.request.prefix { $0 != UInt8(ascii: "\r") }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[0] == "GET" else {
            connection.request = []
            return nil
        }
        return String(words[1])
    }

    private static func answer(_ file: Int32, _ isWanted: Bool) {
        let text = isWanted ? "You can close this window and go back to the app." : "Not found."
        let page = "<!doctype html><meta charset=\"utf-8\"><title>Login</title><p>\(text)</p>"
        let answer =
            "HTTP/1.1 \(isWanted ? "200 OK" : "404 Not Found")\r\nContent-Type: text/html; charset=utf-8\r\n"
            + "Content-Length: \(page.utf8.count)\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
            + "Connection: close\r\n\r\n\(page)"
        _ = Array(answer.utf8).withUnsafeBytes { send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        shutdown(file, Int32(SHUT_WR))
        close(file)
    }
}
