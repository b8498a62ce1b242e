/// What every listener of a process shares.
struct Edge: Sendable {
    let exposure: Exposure
    let limits: Limits
    let metrics: Metrics

    /// The same for a listener on a loopback address that only parts of the system use.
    var inside: Edge { Edge(exposure: .loopback, limits: limits, metrics: metrics) }
}
