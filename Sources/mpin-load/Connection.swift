import Glibc

/// A keep-alive HTTP/1.1 connection over plain TCP. It is as cheap as possible, so that the measured load is that of
/// the server.
final class Connection {
    struct Answer {
        let status: Int
        let body: [UInt8]
        /// How many seconds the server asks to wait.
        let retryAfter: Double?
    }

    /// The server could not be reached, closed the connection, or sent something that is not HTTP.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let host: String
    private let port: UInt16
    private var file: Int32 = -1
    private var received: [UInt8] = []
    private var place = [UInt8](repeating: 0, count: 8192)

    init(_ endpoint: Endpoint) {
        host = endpoint.host
        port = endpoint.port
    }

    deinit { hangUp() }

    /// The format of a request's body.
    enum BodyType: String {
        case json = "application/json"
        case form = "application/x-www-form-urlencoded"
    }

    /// Sends a request and reads its answer. Opens a connection if none is open. If the server has closed the
    /// connection, this call fails, and the next one opens a new connection. `bearer`: an access token for the header
    /// `Authorization`.
    func send(
        _ method: String, _ target: String, body: String? = nil, as type: BodyType = .json, bearer: String? = nil
    ) throws(Failure) -> Answer {
        try begin(method, target, body: body, as: type, bearer: bearer)
        return try finish()
    }

    /// Sends a request, and leaves its answer to ``finish()``. In between, other connections can be used.
    func begin(
        _ method: String, _ target: String, body: String? = nil, as type: BodyType = .json, bearer: String? = nil
    ) throws(Failure) {
        if file < 0 { try connect() }
        var text = "\(method) \(target) HTTP/1.1\r\nHost: \(host):\(port)\r\n"
        if let bearer { text += "Authorization: Bearer \(bearer)\r\n" }
        if let body { text += "Content-Type: \(type.rawValue)\r\nContent-Length: \(body.utf8.count)\r\n" }
        text += "\r\n"
        if let body { text += body }
        try hangingUp { () throws(Failure) in try write(Array(text.utf8)) }
    }

    /// Reads the answer to the request that ``begin(_:_:body:as:bearer:)`` has sent.
    func finish() throws(Failure) -> Answer {
        try hangingUp { () throws(Failure) in try readAnswer() }
    }

    /// Runs `work`, and closes the connection if that fails.
    private func hangingUp<T>(_ work: () throws(Failure) -> T) throws(Failure) -> T {
        do { return try work() } catch {
            hangUp()
            throw error
        }
    }

    private func connect() throws(Failure) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
            throw Failure(description: "\(host): no address")
        }
        file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            hangUp()
            throw Failure(description: "connect: \(String(cString: strerror(errno)))")
        }
        var on: Int32 = 1
        setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private func hangUp() {
        if file >= 0 { close(file) }
        file = -1
        received.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: [UInt8]) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.send(file, buffer.baseAddress?.advanced(by: sent), buffer.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "send: \(String(cString: strerror(errno)))") }
            sent += count
        }
    }

    private func readAnswer() throws(Failure) -> Answer {
        let head = try readHead()
        guard let status = head.status else { throw Failure(description: "no status line") }
        let end = head.bytes.count + head.length
        while received.count < end { try receive() }
        let body = Array(received[head.bytes.count..<end])
        received.removeFirst(end)
        if head.closes { hangUp() }
        return Answer(status: status, body: body, retryAfter: head.retryAfter)
    }

    /// Reads up to the empty line after the header, and leaves everything in `received`.
    private func readHead() throws(Failure) -> AnswerHead {
        var searched = 0
        while true {
            while searched + 4 <= received.count {
                // Most characters of a header are neither of the two that can end it.
                switch received[searched + 3] {
                case UInt8(ascii: "\n"):
                    let end = received[searched..<(searched + 4)]
                    if end.elementsEqual("\r\n\r\n".utf8) { return AnswerHead(received[..<(searched + 4)]) }
                    searched += 2
                case UInt8(ascii: "\r"): searched += 1
                default: searched += 4
                }
            }
            try receive()
        }
    }

    private func receive() throws(Failure) {
        let count = place.withUnsafeMutableBytes { recv(file, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { throw Failure(description: count == 0 ? "closed" : String(cString: strerror(errno))) }
        received += place.prefix(count)
    }
}

/// The header of an answer. Only what a phone needs is read from it, byte by byte, because making texts of all lines
/// took more time than everything else that a phone does.
private struct AnswerHead {
    let bytes: ArraySlice<UInt8>
    private(set) var status: Int?
    private(set) var length = 0
    private(set) var closes = false
    private(set) var retryAfter: Double?

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        var lines = bytes.split(separator: UInt8(ascii: "\n"))
        status = lines.first.flatMap { line in
            line.split(separator: UInt8(ascii: " ")).dropFirst().first.flatMap { Int(Self.text($0)) }
        }
        lines.removeFirst(min(1, lines.count))
        for line in lines { read(line) }
    }

    private mutating func read(_ line: ArraySlice<UInt8>) {
        if let value = Self.value(of: "content-length", in: line) { length = Int(value) ?? 0 }
        if let value = Self.value(of: "connection", in: line) { closes = value == "close" }
        if let value = Self.value(of: "retry-after", in: line) { retryAfter = Double(value) }
    }

    /// The value of the field, if the line has the name `name`, which is in small letters.
    private static func value(of name: StaticString, in line: ArraySlice<UInt8>) -> String? {
        let size = name.utf8CodeUnitCount
        guard line.count > size, line[line.startIndex + size] == UInt8(ascii: ":") else { return nil }
        let name = UnsafeBufferPointer(start: name.utf8Start, count: size)
        guard zip(line, name).allSatisfy({ $0 | 0x20 == $1 }) else { return nil }
        return text(line.dropFirst(size + 1))
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let white: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }
        return String(decoding: bytes.drop(while: white).prefix { !white($0) }, as: UTF8.self)
    }
}

/// The host (an IPv4 address) and the port of a plain `http://` URL.
struct Endpoint: Sendable {
    let host: String
    let port: UInt16

    init?(_ url: String) {
        guard url.hasPrefix("http://") else { return nil }
        let authority = url.dropFirst(7).prefix { $0 != "/" }.split(separator: ":")
        guard authority.count == 2, let port = UInt16(authority[1]) else { return nil }
        host = String(authority[0])
        self.port = port
    }
}
