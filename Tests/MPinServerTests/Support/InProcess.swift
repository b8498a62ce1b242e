import Foundation
import Logging
import MPinOpenID
import MPinServer
import MPinStore
import StoreEngines
import Synchronization
import XCTest

/// The whole server inside the test process, over real sockets and files, with a clock that the test can move.
final class InProcess: Sendable {
    let backend: Backend
    let log: URL
    private let opened = Mutex<[String: [Route]]>([:])
    private let offset = Mutex<Int64>(0)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// `change` alters options of all parts, `changeRPS` and `changeRPA` those of one part.
    /// `clients`: the clients of an OpenID provider, in YAML. `issuer`: its issuer, if it is not the website's URL.
    /// `isTrust`: whether it serves clients of MIRACL Trust, too, which needs such a provider.
    init(
        _ backend: Backend = .onFreePorts(), change: (inout AllInOne) -> Void = { _ in },
        changeRPS: (inout RelyingPartyServiceConfig) -> Void = { _ in },
        changeRPA: (inout RelyingPartyApplicationConfig) -> Void = { _ in }, clients: String? = nil,
        issuer: String? = nil, isTrust: Bool = false
    ) throws {
        self.backend = backend
        log = URL(fileURLWithPath: backend.stateFolder + ".log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        var all = AllInOne(stateFolder: backend.stateFolder)
        all.port = backend.port
        all.privatePort = backend.privatePort
        all.dta1Port = backend.dta1Port
        all.dta2Port = backend.dta2Port
        all.rates = .off
        change(&all)
        all.clock = { [weak self] in
            Moment(microseconds: Moment.now().microseconds + (self?.offset.withLock { $0 } ?? 0))
        }
        var parts = try all.parts()
        if var rps = parts.rps {
            // Runs each change of the store twice, to find code that is right only if the change runs once.
            rps.layer = { RepeatingStore($0) }
            // The back ends of tests are on this machine.
            rps.outboundTargets.internalNetworks = ["127.0.0.0/8", "::1"].compactMap { IPNetwork($0) }
            changeRPS(&rps)
            parts.rps = rps
        }
        if var rpa = parts.rpa {
            changeRPA(&rpa)
            parts.rpa = rpa
            if let clients, let rps = parts.rps {
                parts.openID = try OpenIDConfig(issuer: issuer ?? rpa.site.publicURL, site: rpa.site, service: rps)
                parts.rpa?.settingsURL = parts.openID?.accountURL
                parts.openID?.clients = try ClientsFile(clients, path: "clients.yaml", at: .now())
            }
            if isTrust, let rps = parts.rps {
                parts.trust = TrustConfig(rpa.site, service: rps, baseURL: rpa.site.publicURL)
            }
        }
        try start(parts)
    }

    private func start(_ parts: Parts) throws {
        let file = open(log.path, O_WRONLY | O_APPEND)
        let logger = Logger(label: "test") { _ in JSONLogHandler(level: .debug, file: file) }
        let ready = DispatchSemaphore(value: 0)
        let running = Task {
            let daemon = Daemon(parts, logger: logger) { [weak self] routes in
                self?.opened.withLock { $0 = routes }
                ready.signal()
            }
            do { try await daemon.run() } catch {
                logger.error("stopped", metadata: ["error": "\(error)"])
            }
        }
        task.withLock { $0 = running }
        guard ready.wait(timeout: .now() + 60) == .success else {
            throw Sockets.Failure(text: "the server did not come up: \(logText)")
        }
    }

    /// Moves the server's clock.
    func advance(seconds: Int) { offset.withLock { $0 += Int64(seconds) * 1_000_000 } }

    /// The present time of the server's clock.
    var now: Moment { Moment(microseconds: Moment.now().microseconds + offset.withLock { $0 }) }

    /// The routes of each listener, by its name.
    var routes: [String: [Route]] { opened.withLock { $0 } }

    var logText: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    /// Keeps the server alive as long as the test.
    func keep(in test: XCTestCase) -> InProcess {
        test.addTeardownBlock { self.stop() }
        return self
    }

    func stop() {
        let running = task.withLock { $0 }
        running?.cancel()
        let done = DispatchSemaphore(value: 0)
        Task {
            _ = await running?.result
            done.signal()
        }
        _ = done.wait(timeout: .now() + 10)
        searchLog()
        removeFiles()
    }

    /// Searches the server's log, which is at debug level, at the end of every test. It must contain no query and no
    /// secret that was sent or received.
    private func searchLog() {
        backend.traffic.assertSilent(logText)
        let audit = (try? String(contentsOfFile: backend.stateFolder + "/audit/audit.jsonl", encoding: .utf8)) ?? ""
        backend.traffic.assertSilent(audit: audit)
    }

    deinit {
        searchLog()
        task.withLock { $0 }?.cancel()
        removeFiles()
    }

    private func removeFiles() {
        try? FileManager.default.removeItem(atPath: backend.stateFolder)
        try? FileManager.default.removeItem(at: log)
    }
}

extension InProcess {
    /// A server behind a proxy on this machine that has all the server can have at one address: the website, an OpenID
    /// provider, clients of MIRACL Trust, the pages of a browser as client, and the way to D-TA 2.
    static func everything(
        _ test: XCTestCase, clients: String = "[]", change: (inout AllInOne) -> Void
    ) throws -> InProcess {
        let client = try browserClient(test)
        return try InProcess(
            change: {
                $0.exposure = .behindProxy(TrustedProxies(["127.0.0.0/8"].compactMap { IPNetwork($0) }))
                change(&$0)
            }, changeRPA: { $0.site.browserClient = client }, clients: clients, isTrust: true
        ).keep(in: test)
    }
}

/// The pages of a browser as client, whose files are empty.
func browserClient(_ test: XCTestCase) throws -> BrowserClient {
    let folder = NSTemporaryDirectory() + "client-" + UUID().uuidString
    try makeFolder(folder)
    test.addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
    for name in [
        "page-client.js", "page-home.js", "client.js", "worker.js", "mpin-pad.js", "mpin.wasm", "service-worker.js",
        "icon-192.png", "icon-512.png", "icon-maskable.png",
    ] { try Data().write(to: URL(fileURLWithPath: folder + "/" + name)) }
    return try BrowserClient(folder: folder)
}
