import Glibc
import MPinHTTP
package import MPinSDK

/// Receives the URL that a provider has sent the browser back to, from another thread.
final class CallbackMailbox: Sendable {
    /// A socket that is readable as soon as there is something to look at.
    let event: Int32
    /// The other end of the socket.
    private let bell: Int32
    private let url = Locked<String?>(nil)

    init() throws(SDKError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw SDKError(.storageError, "cannot open a socket: \(String(cString: strerror(errno)))")
        }
        (event, bell) = (ends[0], ends[1])
    }

    deinit {
        close(event)
        close(bell)
    }

    func put(_ text: String) {
        url.withLock { $0 = text }
        wake()
    }

    /// Wakes the thread that waits for ``event``. If the socket is full, it is readable already.
    func wake() {
        var signal: UInt8 = 1
        _ = send(bell, &signal, 1, Int32(MSG_NOSIGNAL))
    }

    /// Takes the URL, if there is one, and makes ``event`` unreadable.
    func take() -> String? {
        var signals = [UInt8](repeating: 0, count: 64)
        while recv(event, &signals, signals.count, 0) > 0 {}
        return url.withLock { url in
            defer { url = nil }
            return url
        }
    }
}

extension AppSession {
    /// Goes on with a login in a browser that has come back to `url`, for apps whose redirect URI is not a loopback
    /// address. Another thread waits in ``login(_:userID:)``.
    package func resume(_ url: String) throws(SDKError) {
        try recorded { () throws(SDKError) in
            guard try state() == .signingIn else { throw SDKError(.flowError, "no login is under way") }
            mailbox.put(url)
        }
    }
}
