import MPinStore

/// The options that say where short-lived items, signals and counters are kept. What is in `memory:` is lost when the
/// process ends.
extension ServerOptions {
    static let shortLivedStore = ServerOption<String>.text(
        "short-lived-store", "memory:", .store(.shortLived),
        "Store of what is good for minutes: challenges, one-time tokens, waiting browsers, website sessions. memory:, or postgres://HOST/DATABASE or redis://HOST for several nodes."
    )
    static let signals = ServerOption<String>.text(
        "signals", "memory:", .store(.signals),
        "What wakes the login pages and phones that wait. memory:, or redis: for several nodes, or postgres:, where they look each second."
    )
    static let counters = ServerOption<String>.text(
        "counters", "memory:", .store(.counters),
        "Counts the requests for each identity against the rate limits. memory:, or postgres: or redis: for several nodes together."
    )
}

extension OptionKind {
    fileprivate static func store(_ kind: StoreURL.Kind) -> OptionKind {
        @Sendable func problem(_ text: String) -> String? {
            do { try StoreURL(text).require(kind) } catch { return "\(error)" }
            return nil
        }
        return OptionKind(
            placeholder: "URL", expected: "the URL of a store", accepts: { problem($0) == nil }, problem: problem)
    }
}
