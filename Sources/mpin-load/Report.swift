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
    /// The processor time of the server for one login, in units of ``Yardstick/unit``.
    let cpuUnits: Double
    let unitNanoseconds: Double
    let megabytesAfterRegistrations: Double
    let megabytesAtEnd: Double
    /// The number of failed logins for each reason.
    let failures: [String: Int]
    /// Nil if no logins by the OpenID provider were measured.
    let openID: OpenIDReport?

    /// `cpu` and `unit` are in nanoseconds.
    init(
        registrations: Int, registrationsPerSecond: Double, plain: Load.Result, cpu: Double, unit: Double,
        megabytesAfterRegistrations: Double, megabytesAtEnd: Double, openID: OpenIDReport?
    ) {
        self.registrations = registrations
        self.registrationsPerSecond = registrationsPerSecond
        logins = plain.latencies.count
        loginsPerSecond = plain.perSecond
        p50Milliseconds = plain.percentile(0.5)
        p95Milliseconds = plain.percentile(0.95)
        p99Milliseconds = plain.percentile(0.99)
        cpuMicroseconds = cpu / 1000
        cpuUnits = cpu / unit
        unitNanoseconds = unit
        self.megabytesAfterRegistrations = megabytesAfterRegistrations
        self.megabytesAtEnd = megabytesAtEnd
        failures = plain.failures
        self.openID = openID
    }

    var text: String {
        let plain = """
            registrations   \(registrations), \(rounded(registrationsPerSecond)) a second
            logins          \(logins), \(rounded(loginsPerSecond)) a second, \(failures.values.reduce(0, +)) failed
            latency         p50 \(rounded(p50Milliseconds)) ms, p95 \(rounded(p95Milliseconds)) ms, \
            p99 \(rounded(p99Milliseconds)) ms
            CPU of a login  \(rounded(cpuMicroseconds)) us = \(Int(cpuUnits)) U (U = \(rounded(unitNanoseconds)) ns)
            memory          \(rounded(megabytesAfterRegistrations)) MB after the registrations, \
            \(rounded(megabytesAtEnd)) MB at the end
            """
        guard let openID else { return plain }
        return """
            \(plain)
            OpenID logins   \(openID.logins), \(rounded(openID.loginsPerSecond)) a second, \
            \(openID.failures.values.reduce(0, +)) failed
            CPU of one      \(rounded(openID.cpuMicroseconds)) us, \(rounded(openID.signatureMicroseconds)) us of this \
            for the RSA signature; the rest is \(rounded(openID.times(cpuMicroseconds))) plain logins
            login page      \(rounded(openID.pageMicroseconds)) us
            """
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Describes each result that breaks a limit.
    func complaints(maxUnits: Double, maxMegabytes: Double, maxTimes: Double) -> [String] {
        let failures = failures.merging(openID?.failures ?? [:], uniquingKeysWith: +)
        var complaints = failures.sorted { $0.key < $1.key }.map { "\($0.value) logins failed: \($0.key)" }
        if logins == 0 || openID?.logins == 0 { complaints.append("no login succeeded") }
        if cpuUnits > maxUnits { complaints.append("a login costs \(Int(cpuUnits)) U, more than \(Int(maxUnits))") }
        if megabytesAfterRegistrations > maxMegabytes {
            complaints.append("\(rounded(megabytesAfterRegistrations)) MB, more than \(Int(maxMegabytes))")
        }
        if let times = openID?.times(cpuMicroseconds), times > maxTimes {
            complaints.append("an OpenID login costs \(rounded(times)) plain logins, more than \(maxTimes)")
        }
        return complaints
    }

    private func rounded(_ value: Double) -> String { String(format: value < 100 ? "%.1f" : "%.0f", value) }
}

/// The results of logins by the OpenID provider.
struct OpenIDReport: Encodable {
    let logins: Int
    let loginsPerSecond: Double
    let p50Milliseconds: Double
    let p99Milliseconds: Double
    /// The processor time of the server's threads for one login, in microseconds, with the RSA signature.
    let cpuMicroseconds: Double
    /// The processor time of the RSA signature of an ID token, in microseconds.
    let signatureMicroseconds: Double
    /// The processor time of the server's threads for one login page, in microseconds. No login page is a part of these
    /// logins.
    let pageMicroseconds: Double
    /// The number of failed logins and login pages for each reason.
    let failures: [String: Int]

    /// `cpu`, `page` and `signature` are in nanoseconds.
    init(_ result: Load.Result, _ pages: Load.Result, cpu: Double, page: Double, signature: Double) {
        logins = result.latencies.count
        loginsPerSecond = result.perSecond
        p50Milliseconds = result.percentile(0.5)
        p99Milliseconds = result.percentile(0.99)
        cpuMicroseconds = cpu / 1000
        signatureMicroseconds = signature / 1000
        pageMicroseconds = page / 1000
        failures = result.failures.merging(pages.failures, uniquingKeysWith: +)
    }

    /// Returns how many plain logins cost as much as one of these logins without its RSA signature. `plain` is the cost
    /// of a plain login in microseconds.
    func times(_ plain: Double) -> Double { (cpuMicroseconds - signatureMicroseconds) / plain }
}
