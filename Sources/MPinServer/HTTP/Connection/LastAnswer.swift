import Synchronization

/// Tells when the last answer of a connection was sent. Requests that come behind it are not carried out (RFC 9112
/// section 9.6): nobody would get their answers, and a proxy may send them again on another connection.
final class LastAnswer: Sendable {
    private let sent = Atomic(false)

    var isSent: Bool { sent.load(ordering: .acquiring) }

    func noteSent() { sent.store(true, ordering: .releasing) }
}
