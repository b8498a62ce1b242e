import Foundation
import MPinServer
import XCTest

/// Tests TLS and proxies with the real program and a real certificate. The client is `openssl s_client`.
final class ExposureTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()
    private var folder = ""

    override func setUpWithError() throws {
        backend = .onFreePorts()
        folder = NSTemporaryDirectory() + "tls-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try makeCertificate("first")
    }

    override func tearDown() {
        for path in [folder, backend.stateFolder] { try? FileManager.default.removeItem(atPath: path) }
    }

    @discardableResult
    private func run(
        _ arguments: [String], input: String = "", program: String = "/usr/bin/openssl"
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        let (stdin, stdout) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = FileHandle.nullDevice
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        if input.isEmpty { try stdin.fileHandleForWriting.close() }
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    /// Writes cert.pem and key.pem for `name`.localhost.
    private func makeCertificate(
        _ name: String, _ key: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    ) throws {
        let made = try run(
            ["req", "-x509", "-newkey"] + key + [
                "-nodes", "-days", "2", "-subj", "/CN=\(name).localhost", "-keyout", folder + "/key.pem", "-out",
                folder + "/cert.pem",
            ])
        XCTAssertEqual(made.status, 0)
        chmod(folder + "/key.pem", 0o600)
    }

    private var tls: [String] { ["--tls-cert", folder + "/cert.pem", "--tls-key", folder + "/key.pem"] }

    private func connect(_ more: [String], _ request: String = "") throws -> (status: Int32, output: String) {
        try run(["s_client", "-connect", "127.0.0.1:\(backend.port)", "-quiet"] + more, input: request)
    }

    private func get(_ target: String) throws -> Answer {
        let request = "GET \(target) HTTP/1.1\r\nHost: first.localhost\r\nConnection: close\r\n\r\n"
        return Sockets.parse(Data(try connect(["-tls1_2", "-ign_eof"], request).output.utf8))
    }

    private func subject() throws -> String {
        try run(["s_client", "-connect", "127.0.0.1:\(backend.port)"]).output
            .split(separator: "\n").first { $0.hasPrefix("subject=") }.map(String.init) ?? ""
    }

    func testWithACertificateThePublicListenerSpeaksTLSAndNothingElse() throws {
        let mpind = try Mpind(backend, tls)
        try mpind.waitUntilReady()
        let settings = try get("/rps/clientSettings")
        XCTAssertEqual(settings.status, 200)
        XCTAssertEqual(settings.object["certivoxURL"] as? String, "/dta2/", "clients need no other port")
        XCTAssertEqual(settings.headers["strict-transport-security"], "max-age=31536000")
        XCTAssertEqual(try get("/dta2/timePermit?hash_mpin_id=00").status, 403, "D-TA 2 answers")
        XCTAssertEqual(try get("/dta2/serverSecret").status, 404)
        XCTAssertNotEqual(try connect(["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"]).status, 0, "TLS 1.1 is too old")
        XCTAssertNotEqual((try? backend.call("GET", "/rps/clientSettings").status) ?? 0, 200, "no plain HTTP")
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// With both kinds of certificate keys, the server must refuse a client that offers only weaker encryption.
    func testOnlyForwardSecrecyWithAuthenticatedEncryptionIsSpoken() throws {
        for (kind, key) in [("ECDSA", ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]), ("RSA", ["rsa:2048"])] {
            try makeCertificate("first", key)
            let mpind = try Mpind(backend, tls)
            try mpind.waitUntilReady()
            func isSpoken(_ offer: [String]) throws -> Bool {
                try connect(offer.dropLast() + [(offer.last ?? "") + "@SECLEVEL=0", "-ign_eof"], Self.ping).output
                    .contains("200 OK")
            }
            for cipher in ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"] {
                XCTAssertTrue(try isSpoken(["-tls1_2", "-cipher", "ECDHE-\(kind)-" + cipher]), cipher)
            }
            XCTAssertTrue(try connect(["-tls1_3", "-ign_eof"], Self.ping).output.contains("200 OK"))
            for cipher in [
                "AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA", "AES256-SHA", "ECDHE-\(kind)-AES128-SHA",
                "ECDHE-\(kind)-AES256-SHA", "ECDHE-\(kind)-AES128-SHA256", "DHE-RSA-AES128-GCM-SHA256",
            ] { XCTAssertFalse(try isSpoken(["-tls1_2", "-cipher", cipher]), "\(kind): \(cipher)") }
            for version in ["-tls1", "-tls1_1"] { XCTAssertFalse(try isSpoken([version, "-cipher", "ALL"]), version) }
            XCTAssertEqual(mpind.stop(SIGTERM), 0)
        }
    }

    /// An RPA on another machine connects by TLS and forwards requests of many callers. The server takes their
    /// addresses from it only if it is a trusted proxy.
    func testWithTLSATrustedProxyMayNameTheCaller() throws {
        for (more, caller) in [(["--trusted-proxy", "127.0.0.1"], "203.0.113.9"), ([], "127.0.0.1")] {
            let mpind = try Mpind(backend, tls + more)
            try mpind.waitUntilReady()
            let request = Self.ping.replacing("Connection:", with: "X-Forwarded-For: 203.0.113.9\r\nConnection:")
            XCTAssertTrue(try connect(["-tls1_3", "-ign_eof"], request).output.contains("200 OK"))
            mpind.waitForLog("\"request\"")
            XCTAssertTrue(mpind.logText.contains("\"remote\":\"\(caller)\""), mpind.logText)
            XCTAssertEqual(mpind.stop(SIGTERM), 0)
        }
    }

    private static let ping = "GET /rps/clientSettings HTTP/1.1\r\nHost: first.localhost\r\nConnection: close\r\n\r\n"

    func testSIGHUPBringsTheNewCertificateAndABadOneChangesNothing() throws {
        let mpind = try Mpind(backend, tls)
        try mpind.waitUntilReady()
        XCTAssertTrue(try subject().contains("first.localhost"))
        try makeCertificate("second")
        kill(mpind.process.processIdentifier, SIGHUP)
        let end = Date(timeIntervalSinceNow: 30)
        while try !subject().contains("second.localhost"), Date() < end {}
        XCTAssertTrue(try subject().contains("second.localhost"))
        try "nonsense".write(toFile: folder + "/cert.pem", atomically: true, encoding: .utf8)
        kill(mpind.process.processIdentifier, SIGHUP)
        while !mpind.logText.contains("certificate not reloaded"), Date() < end { usleep(10_000) }
        XCTAssertTrue(try subject().contains("second.localhost"))
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    func testAPrivateKeyThatEverybodyCanReadIsRefused() throws {
        chmod(folder + "/key.pem", 0o644)
        let mpind = try Mpind(backend, tls)
        XCTAssertEqual(mpind.stop(0), 1)
        XCTAssertTrue(mpind.logText.contains("can read the private key"), mpind.logText)
    }

    func testBehindAProxyAnyAddressMayBeListenedOnAndThePartsStayInside() throws {
        let base = "https://login.example.com"
        let mpind = try Mpind(
            backend, ["--behind-proxy", "--host", "0.0.0.0", "--base-url", base + "/", "--public-url", base])
        try mpind.waitUntilReady()
        let settings = try backend.call("GET", "/rps/clientSettings").object
        XCTAssertEqual(settings["certivoxURL"] as? String, base + "/dta2/")
        XCTAssertEqual(settings["signatureURL"] as? String, base + "/rps/signature")
        for port in [backend.privatePort, backend.dta1Port, backend.dta2Port] {
            XCTAssertEqual([takes(port, at: 1), takes(port, at: 2)], [true, false], "port \(port)")
        }
        XCTAssertTrue(takes(backend.port, at: 2))
        for address in Host.current().addresses where address.contains(".") && !address.hasPrefix("127.") {
            XCTAssertEqual(try status("http://\(address):\(backend.port)/rps/clientSettings"), "000", "past the proxy")
        }
        XCTAssertEqual(try status("http://127.0.0.1:\(backend.port)/rps/clientSettings"), "200")
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    private func status(_ url: String) throws -> String {
        try run(["-s", "-o", "/dev/null", "-w", "%{http_code}", url], program: "/usr/bin/curl").output
    }

    func testBehindAProxyOnlyTheProxyCanConnect() throws {
        let network = try XCTUnwrap(IPNetwork("10.0.0.0/8"))
        let exposure = Exposure.behindProxy(TrustedProxies([network]))
        for (address, isAdmitted) in [
            ("10.1.2.3", true), ("::ffff:10.1.2.3", true), ("127.0.0.9", true), ("::1", true), ("11.0.0.1", false),
            ("2001:db8::1", false), ("::ffff:11.0.0.1", false),
        ] {
            XCTAssertEqual(exposure.admits(try XCTUnwrap(IPAddress(address))), isAdmitted, address)
            XCTAssertTrue(Exposure.loopback.admits(IPAddress(address)), address)
        }
    }

    /// Whether somebody listens on this port of the loopback address 127.0.0.`host`. Who listens on 127.0.0.1 alone takes
    /// no connections to the others.
    private func takes(_ port: Int, at host: UInt16) -> Bool {
        guard let file = try? Sockets.connect(port, to: host) else { return false }
        return close(file) == 0
    }

    func testAPrivateListenerThatOthersReachNeedsAToken() throws {
        try makeFolder(backend.stateFolder)
        for key in ["a", "b", "c"] {
            XCTAssertEqual(try Mpind(["keys", "new", "\(backend.stateFolder)/\(key)"]).stop(0), 0)
        }
        let all = try Mpind(Backend.onFreePorts())
        all.stop(SIGTERM)
        let rps = try Mpind([
            "config", "check", "rps", "--behind-proxy", "--private-listen", "0.0.0.0:\(backend.privatePort)",
            "--database", backend.stateFolder + "/rps.sqlite", "--key-file", backend.stateFolder + "/a",
            "--dta1-key-file", backend.stateFolder + "/b", "--dta2-key-file", backend.stateFolder + "/c",
        ])
        XCTAssertEqual(rps.stop(0), 64)
        XCTAssertTrue(rps.logText.contains("needs --rpa-key-file"), rps.logText)
    }
}
