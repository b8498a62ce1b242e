import ArgumentParser
import Foundation

/// mpin-load: logs in at a running server and measures the cost.
@main
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mpin-load",
        abstract: "Register identities at a running mpind, log them in, and say what that costs the server.",
        discussion: """
            The server must confirm identities at once (--force-activate), run on this machine, and limit no rates.
            A login is pass 1, pass 2 and authenticate over a connection that is kept open. With --client, logins by
            the OpenID provider follow: a website opens a session at /authorize and waits, a phone logs it in, and
            the website gets the tokens and asks for the claims. With --project, logins of MIRACL Trust's clients follow:
            pass 1, pass 2 and authenticate, which gives a token. U is the time of one mpn_sec_mul of 4x4 limbs, measured during the load.
            """)

    @Option(help: "Base URL of the server: http:// with an IPv4 address and a port.")
    var url: String

    @Option(help: "Process id of the server.")
    var pid: Int32

    @Option(help: "Base URL of the server's metrics: what RSA signatures cost. Needed for --client and --project.")
    var metricsURL: String?

    @Option(help: "Identities to register first.")
    var users = 2500

    @Option(help: "Seconds of logins.")
    var seconds = 10.0

    @Option(help: "Connections at once.")
    var connections = 8

    @Option(help: "Logins a second, due at fixed times. (default: as many as the connections can do)")
    var rate: Double?

    @Option(help: "Public client, with the redirect URI http://127.0.0.1/callback, for logins by the OpenID provider.")
    var client: String?

    @Option(help: "Fail if one of those logins, without its RSA signature, costs more than this many plain logins.")
    var maxTimes = Double.infinity

    @Option(help: "Project for logins of MIRACL Trust's clients.")
    var project: String?

    @Option(help: "File with a service token of this project, with which its users are verified.")
    var projectTokenFile: String?

    @Option(help: "Fail if one of those logins, without its RSA signature, costs more than this many plain logins.")
    var maxTrustTimes = Double.infinity

    @Option(help: "Fail above this cost of a login in U.")
    var maxUnits = Double.infinity

    @Option(help: "Fail above this much memory in MB after the registrations.")
    var maxMegabytes = Double.infinity

    @Flag(help: "Print one JSON object instead of lines.")
    var json = false

    @Option(help: "Write that JSON object into a file, beside what is printed.")
    var jsonTo: String?

    func run() throws {
        guard let endpoint = Endpoint(url) else { throw ValidationError("\(url): expected http://ADDRESS:PORT") }
        guard users > 0, connections > 0, seconds > 0 else { throw ValidationError("numbers must be positive") }
        guard users >= connections else { throw ValidationError("a connection needs a user of its own") }
        guard (project == nil) == (projectTokenFile == nil) else {
            throw ValidationError("give --project and --project-token-file together")
        }
        guard metricsURL != nil || (client == nil && project == nil) else {
            throw ValidationError("--client and --project need --metrics-url")
        }
        let metrics = try metricsURL.map { try Endpoint($0).orFail("--metrics-url") }
        let server = ServerProcess(pid: pid, metrics: metrics.map { SignatureTimes($0) })
        let report = try measure(Load(endpoint: endpoint, connections: connections), server)
        print(json ? try report.json() : report.text)
        if let jsonTo { try Data(report.json().utf8).write(to: URL(fileURLWithPath: jsonTo)) }
        let complaints = report.complaints(
            maxUnits: maxUnits, maxMegabytes: maxMegabytes, maxTimes: maxTimes, maxTrustTimes: maxTrustTimes)
        for complaint in complaints { FileHandle.standardError.write(Data("mpin-load: \(complaint)\n".utf8)) }
        guard complaints.isEmpty else { throw ExitCode.failure }
    }

    private func measure(_ load: Load, _ server: ServerProcess) throws -> Report {
        let start = Date()
        // Registrations use at most eight connections, because a server may refuse more of them at once, and their
        // speed is not what this program measures.
        let identities = try Load(endpoint: load.endpoint, connections: min(connections, 8)).register(users)
        let registering = Date().timeIntervalSince(start)
        guard let megabytes = server.megabytes else { throw ValidationError("no process \(pid)") }
        // The first logins are not measured, because they only fill the caches of both sides.
        _ = load.login(identities, seconds: min(1, seconds / 4), rate: rate)
        let unit = Sampler(.unit)
        let (result, cpu) = try cost(server) { load.login(identities, seconds: seconds, rate: rate) }
        guard let atEnd = server.megabytes else { throw ValidationError("the server has ended") }
        let openID = try client.map { try measureOpenID(load, identities, server, client: $0) }
        let trust = try measureTrust(load, identities, server)
        return Report(
            registrations: users, registrationsPerSecond: Double(users) / registering, plain: result, cpu: cpu,
            unit: unit.stop(), megabytesAfterRegistrations: megabytes, megabytesAtEnd: atEnd, openID: openID,
            trust: trust)
    }

    /// How often plain logins and signed ones are measured in turn. The median of the ratios counts, because other
    /// programs of the machine slow down some turns.
    private static let turns = 11

    /// Nil if no project is given. There are fewer identities than for plain logins, because their registrations are not
    /// measured.
    private func measureTrust(_ load: Load, _ plain: [Identity], _ server: ServerProcess) throws -> SignedLogins? {
        guard let project, let projectTokenFile else { return nil }
        let place = try TrustProject(id: project, tokenFile: projectTokenFile)
        let count = max(connections, users / 5)
        let identities = try Load(endpoint: load.endpoint, connections: min(connections, 8)).register(count, place)
        return try measureInTurn(load, plain, server) { load.login(identities, place, seconds: $0) }
    }

    private func measureOpenID(
        _ load: Load, _ identities: [Identity], _ server: ServerProcess, client: String
    ) throws -> SignedLogins {
        var found = try measureInTurn(load, identities, server) { load.login(identities, client: client, seconds: $0) }
        let (pages, page) = try cost(server) { load.loadPages(identities, client: client, seconds: seconds / 4) }
        found.add(pages, page: page)
        return found
    }

    /// Measures signed logins in turn with plain ones. `logIn` logs in for so many seconds.
    private func measureInTurn(
        _ load: Load, _ plain: [Identity], _ server: ServerProcess, _ logIn: (Double) -> Load.Result
    ) throws -> SignedLogins {
        _ = logIn(min(1, seconds / 4))
        var result = Load.Result()
        var (costs, times, signatures): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<Self.turns {
            let plain = try cost(server) { load.login(plain, seconds: seconds / 22, rate: rate) }.1
            let before = try server.signatureNanoseconds()
            let (logins, all) = try cost(server) { logIn(seconds / 11) }
            let signature = (try server.signatureNanoseconds() - before) / Double(max(1, logins.latencies.count))
            costs.append(all)
            times.append((all - signature) / plain)
            signatures.append(signature)
            result.add(logins)
        }
        result.latencies.sort()
        return SignedLogins(result, cpu: costs.median, signature: signatures.median, times: times.median)
    }

    /// Runs logins. Returns their result, and the server's processor time for one login in nanoseconds.
    private func cost(_ server: ServerProcess, _ logIn: () -> Load.Result) throws -> (Load.Result, Double) {
        let before = server.cpuNanoseconds
        let result = logIn()
        guard let before, let after = server.cpuNanoseconds else { throw ValidationError("the server has ended") }
        return (result, (after - before) / Double(max(1, result.latencies.count)))
    }
}

extension [Double] {
    fileprivate var median: Double { isEmpty ? .nan : sorted()[count / 2] }
}
