import Foundation

/// The answer to one HTTP request.
struct Answer: Sendable {
    /// The status codes in order, including those of interim answers.
    var statuses: [Int] = []
    var headers: [String: String] = [:]
    /// The values of all Set-Cookie headers.
    var cookies: [String] = []
    var body = Data()

    var status: Int { statuses.last ?? 0 }
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as a JSON object; empty for anything else.
    var object: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }

    func json<T: Decodable>(_ type: T.Type = T.self) throws -> T { try JSONDecoder().decode(type, from: body) }
}

/// Sends HTTP over new sockets. The test determines every byte.
enum Sockets {
    struct Failure: Error { let text: String }

    /// Opens a TCP connection to this machine. `host`: the last two bytes of the loopback address from which it comes.
    /// `server`: those of the address to which it goes.
    static func connect(_ port: Int, from host: UInt16 = 1, to server: UInt16 = 1) throws -> Int32 {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var status: Int32 = 0
        if host != 1 { status = loopback(host, 0) { bind(file, $0, $1) } }
        if status == 0 { status = loopback(server, port) { Glibc.connect(file, $0, $1) } }
        guard status == 0 else {
            close(file)
            throw Failure(text: "connect to \(port): \(String(cString: strerror(errno)))")
        }
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        return file
    }

    private static func loopback(
        _ host: UInt16, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = (in_addr_t(0x7f00_0000) | in_addr_t(host)).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    static func send(_ file: Int32, _ data: Data) {
        data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(
                    file, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
                if count <= 0 { return }
                sent += count
            }
        }
    }

    /// Whether there is something to read: data, or the end of the connection.
    static func hasAnswer(_ file: Int32) -> Bool {
        var ready = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
        return poll(&ready, 1, 0) == 1
    }

    /// Returns all bytes that arrive until the other side closes the connection.
    static func receiveAll(_ file: Int32) -> Data {
        var data = Data()
        while let piece = receive(file) { data += piece }
        return data
    }

    /// Returns the next bytes; nil at the end.
    static func receive(_ file: Int32) -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(file, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer[..<count]) : nil
    }

    /// Sends a POST request on a new connection. Returns the connection without reading the answer.
    static func post(_ port: Int, _ target: String, _ body: String) throws -> Int32 {
        let file = try connect(port)
        let head = "POST \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        send(file, Data((head + body).utf8))
        return file
    }

    /// Sends `request` unchanged and reads until the server closes.
    static func raw(_ port: Int, _ request: Data, from host: UInt16 = 1) throws -> Answer {
        parse(try rawBytes(port, request, from: host))
    }

    static func rawBytes(_ port: Int, _ request: Data, from host: UInt16 = 1) throws -> Data {
        let file = try connect(port, from: host)
        defer { close(file) }
        send(file, request)
        return receiveAll(file)
    }

    static func parse(_ data: Data) -> Answer {
        var answer = Answer()
        var rest = data
        while let end = rest.range(of: Data("\r\n\r\n".utf8)) {
            let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { break }
            answer.statuses.append(status)
            rest = Data(rest[end.upperBound...])
            if status >= 200 {
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    guard parts.count == 2 else { continue }
                    let (name, value) = (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces))
                    answer.headers[name] = value
                    if name == "set-cookie" { answer.cookies.append(value) }
                }
                answer.body = rest
                break
            }
        }
        return answer
    }
}
