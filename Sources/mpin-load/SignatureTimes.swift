/// What the server's metrics say about its RSA signatures.
struct SignatureTimes: Sendable {
    private static let metric = #"mpin_signature_cpu_seconds_sum{algorithm="RS256"} "#

    private let endpoint: Endpoint

    /// `endpoint` is where the server has its metrics.
    init(_ endpoint: Endpoint) { self.endpoint = endpoint }

    /// The processor time of all signatures so far, in nanoseconds.
    func nanoseconds() throws -> Double {
        let answer = try Connection(endpoint).send("GET", "/metrics")
        try answer.require("metrics")
        let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
        // Before the first signature there is no such line.
        guard let line = lines.first(where: { $0.hasPrefix(Self.metric) }) else { return 0 }
        return try Double(line.dropFirst(Self.metric.count)).orFail("metrics") * 1e9
    }
}
