import NIOConcurrencyHelpers

/// How full the listeners of this process are, for the operator. A full listener is no reason to send requests elsewhere:
/// it goes on answering, so it does not make the process unready.
final class ConnectionWatch: Sendable {
    /// How full a listener is.
    struct Report: Encodable {
        let open: Int
        let most: Int
        /// `FULL`: in the last minute connections were closed or refused for lack of room. `BUSY`: more than half of the
        /// places are taken, so idle connections are closed earlier. Otherwise `NORMAL`.
        let state: String
    }

    private let counters = NIOLockedValueBox<[String: ConnectionCounter]>([:])

    func add(_ listener: String, _ counter: ConnectionCounter) {
        counters.withLockedValue { $0[listener] = counter }
    }

    /// The listeners by their names.
    var report: [String: Report] {
        counters.withLockedValue { $0 }.mapValues { counter in
            let use = counter.use
            let state = use.wasFull ? "FULL" : 2 * use.open > use.most ? "BUSY" : "NORMAL"
            return Report(open: use.open, most: use.most, state: state)
        }
    }
}
