import Glibc
import HummingbirdCore
import NIOConcurrencyHelpers
import NIOCore

/// Connections that the system has accepted for a listener, but that are not served yet: the listener has not taken
/// them from the system, or they are being set up. If the socket were closed now, they would be reset, and their
/// requests lost.
final class AcceptQueue: Sendable {
    private let listener = NIOLockedValueBox<(any Channel)?>(nil)
    private let beingSetUp = NIOLockedValueBox(0)

    func opened(_ channel: any Channel) { listener.withLockedValue { $0 = channel } }

    /// Notes that the set-up of a connection has ended: the connection is served now, or never will be.
    func left() { beingSetUp.withLockedValue { $0 -= 1 } }

    /// Keeps new connections out, and waits until all accepted ones are served, but at most a second. A client that
    /// tries to connect in the meantime repeats its attempt after a second, and then finds the socket closed.
    func runDry() async {
        guard let channel = listener.withLockedValue({ $0 }), let socket = channel as? any SocketOptionProvider else {
            return
        }
        // If the socket filter that keeps new connections out cannot be set, this function does not wait, because new
        // connections would keep coming.
        guard (try? await Self.letNothingIn(channel, socket)) != nil else { return }
        for _ in 0..<200 {
            let info: EventLoopFuture<TCPInfo> = socket.unsafeGetSocketOption(
                level: .tcp, name: .init(rawValue: TCP_INFO))
            guard let waiting = try? await info.get().waiting else { return }
            guard waiting > 0 || beingSetUp.withLockedValue({ $0 }) > 0 else { return }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    private static func letNothingIn(_ channel: any Channel, _ socket: any SocketOptionProvider) async throws {
        try await channel.eventLoop.flatSubmit {
            // BPF_RET with 0 drops every packet.
            var instruction: (UInt16, UInt8, UInt8, UInt32) = (6, 0, 0, 0)
            return withUnsafeMutablePointer(to: &instruction) { instruction in
                let program = FilterProgram(length: 1, instructions: UInt(bitPattern: instruction))
                // On the channel's event loop the option is set before this call returns, while the pointer is valid.
                return socket.unsafeSetSocketOption(
                    level: .socket, name: .init(rawValue: SO_ATTACH_FILTER), value: program)
            }
        }.get()
    }

    /// The C type `struct sock_fprog` (socket(7), `SO_ATTACH_FILTER`): the program of a socket filter.
    private struct FilterProgram {
        let length: UInt16
        let instructions: UInt
    }

    /// The beginning of the C type `struct tcp_info` (tcp(7)), 32 bytes. For a listening socket the field for
    /// unacknowledged packets contains the number of waiting connections.
    private struct TCPInfo {
        let state: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)
        let waiting: UInt32
        let most: UInt32
    }
}

extension AcceptQueue: AvailableConnectionsDelegate {
    func connectionOpened() { beingSetUp.withLockedValue { $0 += 1 } }

    func connectionClosed() {}

    func isAcceptingNewConnections() -> Bool { true }
}
