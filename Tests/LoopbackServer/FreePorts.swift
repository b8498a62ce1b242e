import Foundation
import Synchronization

/// Returns different ports on which nothing listens. They are below the ports that the system gives to clients, because
/// otherwise a client could take one before the server does. The scripts choose theirs by the same rules (ports.py).
package func freePorts(_ count: Int) -> [Int] {
    var files: [Int32] = []
    defer { files.forEach { close($0) } }
    return (0..<count).map { _ in
        while true {
            let port = Int.random(in: 10_000..<firstClientPort)
            let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            files.append(file)
            if isFree(port, file), claim(port) { return port }
        }
    }
}

/// The first of the ports that the system gives to clients: 32768 on most machines.
private let firstClientPort: Int = {
    let range = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
    return range?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 32_768
}()

private func isFree(_ port: Int, _ file: Int32) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}

private let claims = Mutex<[Int32]>([])

/// Reserves the port until its server listens, so that no other test program of this machine takes it. The reservation
/// is a Unix socket with an abstract name. Only the last hundred reservations are kept, to limit the open files.
private func claim(_ port: Int) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array("\0mpin-test-\(port)".utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(file, $0, length) }
    }
    guard status == 0 else {
        close(file)
        return false
    }
    claims.withLock { claims in
        claims.append(file)
        if claims.count > 100 { close(claims.removeFirst()) }
    }
    return true
}
