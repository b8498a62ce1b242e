import AsyncHTTPClient
import Dispatch
import Glibc
import MPinOpenID
import NIOCore
import NIOPosix

extension ForwardingClient {
    /// Sends a request once, on a new connection, and returns the status of its answer. The body is not read. The
    /// connection goes to an address that was looked up and checked before, so a name server cannot give another one
    /// in between. The URL is one that ``RedirectURI`` accepts.
    ///
    /// Throws ``InternalTarget`` if `targets` admits no address of the URL's host.
    func status(of request: HTTPClientRequest, within targets: OutboundTargets, seconds: Int) async throws -> UInt {
        let deadline = NIODeadline.now() + .seconds(Int64(seconds))
        let host = try RedirectURI(request.url).host
        let known = IPAddress(host)
        let found = if let known { [known] } else { try await HostAddresses.lookUp(host, until: deadline) }
        let admitted = found.filter(targets.admits)
        guard let last = admitted.last else { throw InternalTarget(host: host) }
        guard known == nil else { return try await status(of: request, seconds: seconds) }
        for address in admitted.dropLast() {
            do { return try await Self.status(of: request, host, at: address, deadline) } catch let error as IOError
                where Self.unreachable.contains(error.errnoCode)
            { continue }
        }
        return try await Self.status(of: request, host, at: last, deadline)
    }

    /// The errors of a connection that did not come about, so that nothing was sent.
    private static let unreachable = [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT, ETIMEDOUT]

    /// Sends a request to one of the addresses of its host. A client is that of one address.
    private static func status(
        of request: HTTPClientRequest, _ host: String, at address: IPAddress, _ deadline: NIODeadline
    ) async throws -> UInt {
        let client = Self.client(uses: 1, at: [host: address.description])
        do {
            let status = try await client.execute(request, deadline: deadline).status.code
            try? await client.shutdown()
            return status
        } catch {
            try? await client.shutdown()
            throw error
        }
    }
}

/// Looks up the addresses of host names.
private enum HostAddresses {
    /// The function of the system blocks its thread.
    private static let queue = DispatchQueue(label: "host addresses", attributes: .concurrent)

    struct Failure: Error, CustomStringConvertible {
        let code: Int32

        var description: String { gai_strerror(code).map { String(cString: $0) } ?? "the host has no address" }
    }

    /// Returns the addresses of a host in the order in which they should be tried (RFC 6724). Throws ``Failure``, or
    /// the error of a request that took too long.
    static func lookUp(_ host: String, until deadline: NIODeadline) async throws -> [IPAddress] {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: [IPAddress].self)
        let end = loop.scheduleTask(deadline: deadline) { promise.fail(HTTPClientError.deadlineExceeded) }
        defer { end.cancel() }
        queue.async { promise.completeWith(Result { try addresses(of: host) }) }
        return try await promise.futureResult.get()
    }

    private static func addresses(of host: String) throws -> [IPAddress] {
        var (hints, first) = (addrinfo(), UnsafeMutablePointer<addrinfo>?.none)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        let code = getaddrinfo(host, nil, &hints, &first)
        guard code == 0 else { throw Failure(code: code) }
        defer { freeaddrinfo(first) }
        var (next, found) = (first, [IPAddress]())
        while let entry = next {
            if let address = text(entry.pointee).flatMap({ IPAddress($0) }) { found.append(address) }
            next = entry.pointee.ai_next
        }
        return found
    }

    /// An address in figures. Nil if it is none of the Internet.
    private static func text(_ entry: addrinfo) -> String? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
    }
}
