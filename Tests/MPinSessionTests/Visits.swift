import Foundation
import LoopbackServer

/// What a browser, or any other program of the machine, does at a loopback port.

/// Whether this machine has the address ::1. Some containers do not.
let hasIPv6: Bool = {
    let addresses = (try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8)) ?? ""
    return addresses.contains(String(repeating: "0", count: 31) + "1 ")
}()

/// Connects to a port of an address; the answer to what is sent then shows whether somebody listens there.
func connect(_ port: UInt16, at address: String = "127.0.0.1") -> Int32 {
    guard address.contains(":") else {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        inet_pton(AF_INET, address, &place.sin_addr)
        return connect(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), to: &place)
    }
    var place = sockaddr_in6()
    place.sin6_family = sa_family_t(AF_INET6)
    place.sin6_port = port.bigEndian
    inet_pton(AF_INET6, address, &place.sin6_addr)
    return connect(socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0), to: &place)
}

private func connect<Place>(_ file: Int32, to place: inout Place) -> Int32 {
    withUnsafePointer(to: &place) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            _ = Foundation.connect(file, $0, socklen_t(MemoryLayout<Place>.size))
        }
    }
    return file
}

/// Sends a request and returns the answer; empty if nobody answers.
@discardableResult
func visit(_ port: UInt16, _ line: String, at address: String = "127.0.0.1") -> String {
    let file = connect(port, at: address)
    _ = send(Array("\(line)\r\nHost: x\r\n\r\n".utf8), to: file)
    return readAll(file)
}

/// What comes until the other side closes; closes the socket.
func readAll(_ file: Int32) -> String {
    defer { close(file) }
    var bytes: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = recv(file, &chunk, chunk.count, 0), count > 0 { bytes += chunk.prefix(count) }
    return String(decoding: bytes, as: UTF8.self)
}
