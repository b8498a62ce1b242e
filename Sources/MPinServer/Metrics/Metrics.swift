import MPinOpenID
import MPinStore
import NIOConcurrencyHelpers

/// The counts and times that one process measures. They are kept in memory and read as Prometheus text.
final class Metrics: Sendable {
    private struct Histogram {
        /// The number of values in each bucket, without those of lower buckets, and at the end the number above all
        /// buckets.
        var counts: [Int]
        var sum = 0.0

        init(buckets: Int) { counts = Array(repeating: 0, count: buckets + 1) }

        mutating func add(_ value: Double, in bucket: Int) {
            counts[bucket] += 1
            sum += value
        }
    }

    private struct State {
        var numbers: [MetricFamily: [[String]: Double]] = [:]
        var histograms: [MetricFamily: [[String]: Histogram]] = [:]
        var readings: [@Sendable () async -> [Reading]] = []
    }

    /// A value that is computed when the metrics are read, and the values of its labels.
    typealias Reading = (family: MetricFamily, labels: [String], value: Double)

    private let state = NIOLockedValueBox(State())

    /// Adds 1 to a counter. `labels`: the values of its labels, in the order of ``MetricFamily/labels``.
    func count(_ family: MetricFamily, _ labels: [String] = []) {
        state.withLockedValue { $0.numbers[family, default: [:]][labels, default: 0] += 1 }
    }

    func observe(_ family: MetricFamily, _ seconds: Double, _ labels: [String] = []) {
        guard let buckets = family.buckets else { return }
        let place = buckets.firstIndex { seconds <= $0 } ?? buckets.count
        state.withLockedValue { state in
            state.histograms[family, default: [:]][labels, default: Histogram(buckets: buckets.count)]
                .add(seconds, in: place)
        }
    }

    /// Adds values that are computed when the metrics are read.
    func read(_ values: @escaping @Sendable () async -> [Reading]) {
        state.withLockedValue { $0.readings.append(values) }
    }

    /// Adds the use of a store's connections. `name`: what the store keeps. A store without connections has no values.
    func readPool(_ name: String, _ use: @escaping @Sendable () async -> PoolUse?) {
        read {
            guard let use = await use() else { return [] }
            return [
                (.storeConnections, [name], Double(use.busy)), (.storeConnectionsMost, [name], Double(use.most)),
                (.storeWaiting, [name], Double(use.waiting)), (.storeWaits, [name], Double(use.waits)),
                (.storeWaitSeconds, [name], use.waited / .seconds(1)),
            ]
        }
    }

    /// Runs `work` and records how long it took, whether it failed or not.
    func timed<T>(_ family: MetricFamily, _ labels: [String] = [], _ work: () async throws -> T) async rethrows -> T {
        let start = ContinuousClock.now
        defer { observe(family, since: start, labels) }
        return try await work()
    }

    func observe(_ family: MetricFamily, since start: ContinuousClock.Instant, _ labels: [String] = []) {
        observe(family, start.duration(to: .now) / .seconds(1), labels)
    }

    /// Is told of the signatures of all keys.
    var observeSignature: SignatureObserver {
        { [self] algorithm, seconds in observe(.signatureSeconds, seconds, [algorithm.rawValue]) }
    }
}

extension Metrics {
    /// All metrics in the text format of Prometheus, version 0.0.4. Also those that have no values yet are named.
    func text() async -> String {
        let snapshot = state.withLockedValue { $0 }
        var numbers = snapshot.numbers
        for read in snapshot.readings {
            for (family, labels, value) in await read() { numbers[family, default: [:]][labels] = value }
        }
        var lines: [String] = []
        for family in MetricFamily.allCases {
            var body: [String] = []
            for (labels, value) in numbers[family] ?? [:] {
                body.append("\(family.rawValue)\(Self.labels(family.labels, labels)) \(Self.number(value))")
            }
            body.sort()
            for (labels, histogram) in (snapshot.histograms[family] ?? [:]).sorted(by: {
                $0.key.lexicographicallyPrecedes($1.key)
            }) {
                body += Self.lines(family, labels, histogram)
            }
            if body.isEmpty, family.beginsAtZero { body = ["\(family.rawValue) 0"] }
            lines += ["# HELP \(family.rawValue) \(family.help)", "# TYPE \(family.rawValue) \(family.type)"] + body
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func lines(_ family: MetricFamily, _ values: [String], _ histogram: Histogram) -> [String] {
        var total = 0
        let bounds = (family.buckets ?? []).map { number($0) } + ["+Inf"]
        var lines = zip(bounds, histogram.counts).map { bound, count in
            total += count
            return "\(family.rawValue)_bucket\(labels(family.labels + ["le"], values + [bound])) \(total)"
        }
        lines.append("\(family.rawValue)_sum\(labels(family.labels, values)) \(histogram.sum)")
        lines.append("\(family.rawValue)_count\(labels(family.labels, values)) \(total)")
        return lines
    }

    private static func labels(_ names: [String], _ values: [String]) -> String {
        guard !names.isEmpty else { return "" }
        let pairs = zip(names, values).map { name, value in
            let plain = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name)=\"\(plain)\""
        }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    private static func number(_ value: Double) -> String {
        Int(exactly: value).map { String($0) } ?? String(value)
    }
}
