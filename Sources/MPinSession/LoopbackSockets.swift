import Glibc
package import MPinSDK

/// Sockets that listen at addresses of this machine, all of them at the same port.
package struct LoopbackSockets {
    package private(set) var files: [Int32] = []
    package private(set) var port: UInt16
    private static let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)

    /// What the system has answered.
    private struct Refusal: Error {
        let number: Int32
        /// Whether this machine has no such address, for example because it has no IPv6.
        var isMissingAddress: Bool { number == EADDRNOTAVAIL || number == EAFNOSUPPORT }
    }

    /// Listens at the first of `ports` that is free at all `addresses` which this machine has; a port 0 is any one that
    /// is free. Throws ``Status/networkError`` if there is none. A port that another program has at one of the
    /// addresses is not used at the others: the browser could go to that program.
    package init(_ addresses: [String], ports: [UInt16]) throws(SDKError) {
        var refusal = Refusal(number: EADDRNOTAVAIL)
        for port in ports {
            do throws(Refusal) {
                self = try LoopbackSockets(addresses, port: port)
                return
            } catch { refusal = error }
        }
        let reason = String(cString: strerror(refusal.number))
        throw SDKError(.networkError, "cannot listen on \(addresses.joined(separator: " and ")): \(reason)")
    }

    private init(_ addresses: [String], port: UInt16) throws(Refusal) {
        self.port = port
        var missing: Refusal?
        for address in addresses {
            do throws(Refusal) {
                let file = try Self.listen(at: address, self.port)
                files.append(file)
                self.port = Self.port(of: file)
            } catch {
                guard error.isMissingAddress else {
                    close()
                    throw error
                }
                missing = error
            }
        }
        if let missing, files.isEmpty { throw missing }
    }

    package func close() { for file in files { Glibc.close(file) } }

    private static func listen(at address: String, _ port: UInt16) throws(Refusal) -> Int32 {
        let isIPv6 = address.contains(":")
        let file = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
        guard file >= 0 else { throw Refusal(number: errno) }
        // What is left of the connections of the last login does not keep the port.
        var isReused: Int32 = 1
        setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        guard isIPv6 ? bindIPv6(file, address, port) : bindIPv4(file, address, port), Glibc.listen(file, 16) == 0 else {
            let number = errno
            Glibc.close(file)
            throw Refusal(number: number)
        }
        return file
    }

    private static func bindIPv4(_ file: Int32, _ address: String, _ port: UInt16) -> Bool {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        return inet_pton(AF_INET, address, &place.sin_addr) == 1 && bind(file, to: &place)
    }

    private static func bindIPv6(_ file: Int32, _ address: String, _ port: UInt16) -> Bool {
        var place = sockaddr_in6()
        place.sin6_family = sa_family_t(AF_INET6)
        place.sin6_port = port.bigEndian
        return inet_pton(AF_INET6, address, &place.sin6_addr) == 1 && bind(file, to: &place)
    }

    private static func bind<Place>(_ file: Int32, to place: inout Place) -> Bool {
        withUnsafeBytes(of: &place) { bytes in
            guard let place = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return Glibc.bind(file, place, socklen_t(bytes.count)) == 0
        }
    }

    private static func port(of file: Int32) -> UInt16 {
        // Addresses of both kinds have the port at the same place.
        var place = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        withUnsafeMutableBytes(of: &place) { bytes in
            guard let place = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return }
            getsockname(file, place, &size)
        }
        return UInt16(bigEndian: place.sin6_port)
    }
}
