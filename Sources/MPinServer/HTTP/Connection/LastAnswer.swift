import Synchronization

/// Tells when no more answers can be sent on a connection: its last one was sent, or the client has gone. Requests that
/// come behind it are not carried out (RFC 9112 section 9.6): nobody would get their answers, and a proxy may send them
/// again on another connection.
final class LastAnswer: Sendable {
    private let sent = Atomic(false)

    var isSent: Bool { sent.load(ordering: .acquiring) }

    func noteSent() { sent.store(true, ordering: .releasing) }
}
