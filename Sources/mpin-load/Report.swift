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
    let openID: SignedLogins?
    /// Nil if no logins of MIRACL Trust's clients were measured.
    let trust: SignedLogins?

    /// `cpu` and `unit` are in nanoseconds.
    init(
        registrations: Int, registrationsPerSecond: Double, plain: Load.Result, cpu: Double, unit: Double,
        megabytesAfterRegistrations: Double, megabytesAtEnd: Double, openID: SignedLogins?,
        trust: SignedLogins?
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
        self.trust = trust
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
        let others = [("OpenID logins", openID), ("Trust logins", trust)].compactMap { name, found in
            found.map { text(name, $0) }
        }
        return ([plain] + others).joined(separator: "\n")
    }

    private func text(_ name: String, _ found: SignedLogins) -> String {
        let lines = """
            \(name.padding(toLength: 16, withPad: " ", startingAt: 0))\(found.logins), \
            \(rounded(found.loginsPerSecond)) a second, \(found.failures.values.reduce(0, +)) failed
            CPU of one      \(rounded(found.cpuMicroseconds)) us, \(rounded(found.signatureMicroseconds)) us of this \
            for the RSA signature; the rest is \(String(format: "%.2f", found.times)) plain logins
            """
        return lines + (found.pageMicroseconds.map { "\nlogin page      \(rounded($0)) us" } ?? "")
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Describes each result that breaks a limit.
    func complaints(maxUnits: Double, maxMegabytes: Double, maxTimes: Double, maxTrustTimes: Double) -> [String] {
        let failures = [openID, trust].compactMap(\.self).reduce(failures) {
            $0.merging($1.failures, uniquingKeysWith: +)
        }
        var complaints = failures.sorted { $0.key < $1.key }.map { "\($0.value) logins failed: \($0.key)" }
        if logins == 0 || openID?.logins == 0 || trust?.logins == 0 { complaints.append("no login succeeded") }
        if cpuUnits > maxUnits { complaints.append("a login costs \(Int(cpuUnits)) U, more than \(Int(maxUnits))") }
        if megabytesAfterRegistrations > maxMegabytes {
            complaints.append("\(rounded(megabytesAfterRegistrations)) MB, more than \(Int(maxMegabytes))")
        }
        for (name, found, limit) in [("an OpenID", openID, maxTimes), ("a Trust", trust, maxTrustTimes)] {
            guard let times = found?.times, times > limit else { continue }
            complaints.append("\(name) login costs \(String(format: "%.2f", times)) plain logins, more than \(limit)")
        }
        return complaints
    }

    private func rounded(_ value: Double) -> String { String(format: value < 100 ? "%.1f" : "%.0f", value) }
}

/// The results of logins that end with an RSA signature: those by the OpenID provider, and those of MIRACL Trust's clients.
struct SignedLogins: Encodable {
    let logins: Int
    let loginsPerSecond: Double
    let p50Milliseconds: Double
    let p99Milliseconds: Double
    /// The processor time of the server's threads for one login, in microseconds, with the RSA signature.
    let cpuMicroseconds: Double
    /// The processor time of the RSA signature of a token, in microseconds.
    let signatureMicroseconds: Double
    /// How many plain logins, measured in turn with these, cost as much as one of these without its RSA signature.
    let times: Double
    /// The processor time of the server's threads for one login page of the provider, in microseconds. No login page is a
    /// part of these logins. Nil for other logins.
    private(set) var pageMicroseconds: Double?
    /// The number of failed logins and login pages for each reason.
    private(set) var failures: [String: Int]

    /// `cpu` and `signature` are in nanoseconds.
    init(_ result: Load.Result, cpu: Double, signature: Double, times: Double) {
        self.times = times
        logins = result.latencies.count
        loginsPerSecond = result.perSecond
        p50Milliseconds = result.percentile(0.5)
        p99Milliseconds = result.percentile(0.99)
        cpuMicroseconds = cpu / 1000
        signatureMicroseconds = signature / 1000
        failures = result.failures
    }

    /// Adds the results of loading login pages, one of which costs `page` nanoseconds.
    mutating func add(_ pages: Load.Result, page: Double) {
        pageMicroseconds = page / 1000
        failures.merge(pages.failures, uniquingKeysWith: +)
    }
}
