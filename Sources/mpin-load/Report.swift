import Foundation

/// The results of a run.
struct Report: Encodable {
    let registrations: Int
    let registrationsPerSecond: Double
    let logins: Int
    let loginsPerSecond: Double
    let p50Milliseconds: Double
    let p95Milliseconds: Double
    let p99Milliseconds: Double
    /// The processor time of the server's threads for one login, in microseconds.
    let cpuMicroseconds: Double
    /// The processor time of the server for one login, in units of ``Unit``.
    let cpuUnits: Double
    let unitNanoseconds: Double
    let megabytesAfterRegistrations: Double
    let megabytesAtEnd: Double
    /// The number of failed logins for each reason.
    let failures: [String: Int]

    var text: String {
        """
        registrations   \(registrations), \(rounded(registrationsPerSecond)) a second
        logins          \(logins), \(rounded(loginsPerSecond)) a second, \(failures.values.reduce(0, +)) failed
        latency         p50 \(rounded(p50Milliseconds)) ms, p95 \(rounded(p95Milliseconds)) ms, \
        p99 \(rounded(p99Milliseconds)) ms
        CPU of a login  \(rounded(cpuMicroseconds)) us = \(Int(cpuUnits)) U (U = \(rounded(unitNanoseconds)) ns)
        memory          \(rounded(megabytesAfterRegistrations)) MB after the registrations, \
        \(rounded(megabytesAtEnd)) MB at the end
        """
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Describes each result that breaks a limit.
    func complaints(maxUnits: Double, maxMegabytes: Double) -> [String] {
        var complaints = failures.sorted { $0.key < $1.key }.map { "\($0.value) logins failed: \($0.key)" }
        if logins == 0 { complaints.append("no login succeeded") }
        if cpuUnits > maxUnits { complaints.append("a login costs \(Int(cpuUnits)) U, more than \(Int(maxUnits))") }
        if megabytesAfterRegistrations > maxMegabytes {
            complaints.append("\(rounded(megabytesAfterRegistrations)) MB, more than \(Int(maxMegabytes))")
        }
        return complaints
    }

    private func rounded(_ value: Double) -> String { String(format: value < 100 ? "%.1f" : "%.0f", value) }
}
