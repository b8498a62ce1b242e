import Foundation
import Logging
import MPinSecrets
import MPinServer
import MPinStore
import XCTest

/// The master share of the first D-TA in wire section 16, and the values that belong to it there.
enum Section16 {
    static let master = Hex.decode("154a9c6664148b67c569ccfa9701ab172f258fa2998f5c07a3484ac6437c4a80") ?? []
    static let hash = "968bef360dd6dbf281dab8c69626443d588b7dc90b49007a94337a04d9e3b6b9"
    static let clientShare =
        "0420bb376f4d54c9179ddc0ab600a572518743d7ea45747827bf948b5506490c3b02ab5629d3fea46cfbda44618d652b1b6a"
        + "c452587c4cf2949065328fe3d55be5"
    static let permitShare =
        "040e71d886aa1f950cb5bff2e6d8ccfa4ad0ac5a80297c8f0d0222c1b03d130f2811167d9b27969c1bc41e1cc34a1cacafe4"
        + "28f6c22cd61c63102f6a3c1173dc70"
    static let serverShare =
        "229ddae52d699158e0797623e508ca8846489b3ace00f561759b754a543c3dde0e0f995b997a57f63737c141650c8242ee34"
        + "32db224017413e4415235f64f4c720dfa0f2588a36bdf6b9cd01600efd9128ef4e00add7593e4edfcc752f8095c61bcc4bfa"
        + "9dc8361c1737077850e50507a0135dfea60608d2c7976007a0b62d58"
}

/// One D-TA alone, with the master share of wire section 16 and a clock that stands still.
final class LoneAuthority {
    static let startTime = "2026-11-21T02:00:00Z"
    let requestKey: SecretBytes
    private let backend = Backend.onFreePorts()
    private let task: Task<Void, any Error>

    init(at time: String, legacy: LegacyCredentials? = nil) throws {
        let state = backend.stateFolder
        try makeFolder(state)
        let seal = try SecretBytes.random(count: 32)
        requestKey = try SecretBytes.random(count: 32)
        let clock = try XCTUnwrap(Moment(time))
        try OldAuthorityFile.plant(state + "/dta.sqlite", Section16.master, seal, start: Self.startTime)
        var config = TrustAuthorityConfig(
            name: "dta", listen: try ListenAddress(host: "127.0.0.1", port: backend.dta1Port),
            database: state + "/dta.sqlite", seal: .key(seal), requestKey: requestKey)
        config.clock = { clock }
        config.legacy = legacy
        var parts = Parts()
        parts.authorities = [config]
        let ready = DispatchSemaphore(value: 0)
        let daemon = Daemon(parts, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) { _ in
            ready.signal()
        }
        task = Task { try await daemon.run() }
        guard ready.wait(timeout: .now() + 60) == .success else { throw Sockets.Failure(text: "no D-TA") }
    }

    func get(_ target: String) throws -> Answer { try call("GET", target) }

    func call(_ method: String, _ target: String) throws -> Answer {
        try backend.call(method, target, method == "POST" ? "" : nil, port: backend.dta1Port)
    }

    func stop() {
        task.cancel()
        try? FileManager.default.removeItem(atPath: backend.stateFolder)
    }
}
