import Foundation
import MPinHTTP
import MPinSecrets
import XCTest

/// Tests TLS with `openssl s_server` and certificates of the openssl command.
final class TLSTests: XCTestCase {
    private var folder = ""
    private var servers: [Process] = []

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpin-tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    override func tearDownWithError() throws {
        for server in servers {
            server.terminate()
            server.waitUntilExit()
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    private func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }

    /// Makes a self-signed certificate `NAME.pem` with its key `NAME.key`.
    private func makeCertificate(_ name: String, alternativeNames: String) throws {
        try run(
            newKey(name) + [
                "-x509", "-days", "2", "-addext", "subjectAltName=\(alternativeNames)", "-out", "\(folder)/\(name).pem",
            ])
    }

    /// Like ``makeCertificate``, but the certificate was valid in the year 2000.
    private func makeExpiredCertificate(_ name: String) throws {
        let config = """
            [ca]
            default_ca = test
            [test]
            database = \(folder)/index
            rand_serial = yes
            new_certs_dir = \(folder)
            default_md = sha256
            policy = any
            x509_extensions = names
            [any]
            commonName = supplied
            [names]
            subjectAltName = IP:127.0.0.1
            """
        try config.write(toFile: "\(folder)/ca.conf", atomically: false, encoding: .utf8)
        XCTAssertTrue(FileManager.default.createFile(atPath: "\(folder)/index", contents: nil))
        try run(newKey(name) + ["-new", "-out", "\(folder)/\(name).csr"])
        try run([
            "ca", "-batch", "-selfsign", "-config", "\(folder)/ca.conf", "-keyfile", "\(folder)/\(name).key", "-in",
            "\(folder)/\(name).csr", "-startdate", "20000101000000Z", "-enddate", "20001231000000Z", "-notext", "-out",
            "\(folder)/\(name).pem",
        ])
    }

    private func newKey(_ name: String) -> [String] {
        ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=\(name)"]
            + ["-keyout", "\(folder)/\(name).key"]
    }

    private func run(_ arguments: [String]) throws {
        let openssl = process(arguments)
        openssl.standardOutput = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        XCTAssertEqual(openssl.terminationStatus, 0)
    }

    /// Starts a server with the certificate `NAME.pem`, which answers every GET with 200, and returns its URL.
    private func serve(_ name: String) throws -> String {
        let files = ["-cert", "\(folder)/\(name).pem", "-key", "\(folder)/\(name).key"]
        let server = process(["s_server", "-www", "-accept", "127.0.0.1:0"] + files)
        let output = Pipe()
        server.standardOutput = output
        try server.run()
        servers.append(server)
        var text = ""
        while true {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw XCTestError(.failureWhileWaiting) }
            text += String(decoding: data, as: UTF8.self)
            // The line is for example "ACCEPT 127.0.0.1:4711".
            if let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT") && text.hasSuffix("\n") }),
                let port = line.split(separator: ":").last
            {
                return "https://127.0.0.1:\(port)/"
            }
        }
    }

    private func get(_ url: String, caFile: String? = nil, allowInsecure: Bool = false) -> Result<Int, HTTPFailure> {
        let transport = CurlTransport(policy: HTTPPolicy(allowInsecure: allowInsecure, caFile: caFile))
        do throws(HTTPFailure) {
            return .success(
                try transport.execute(HTTPRequest(url: url, deadline: .after(milliseconds: 10_000))).status)
        } catch { return .failure(error) }
    }

    private func isRefused(_ result: Result<Int, HTTPFailure>) -> Bool {
        guard case .failure(.network(let text)) = result else { return false }
        return text.contains("certificate") || text.contains("SSL") || text.contains("subject name")
    }

    func testSelfSignedCertificateIsRefused() throws {
        try makeCertificate("self", alternativeNames: "IP:127.0.0.1,DNS:localhost")
        let url = try serve("self")
        let result = get(url)
        XCTAssertTrue(isRefused(result), "\(result)")
        XCTAssertTrue("\(result)".contains("certificate not trusted: name its authority by ca_file, --ca-file"))
    }

    func testSelfSignedCertificateIsRefusedEvenWhereInsecureHTTPIsAllowed() throws {
        try makeCertificate("self", alternativeNames: "IP:127.0.0.1")
        let url = try serve("self")
        XCTAssertTrue(isRefused(get(url, allowInsecure: true)))
    }

    func testCertificateIsAcceptedWithItsAuthority() throws {
        try makeCertificate("self", alternativeNames: "IP:127.0.0.1,DNS:localhost")
        let url = try serve("self")
        XCTAssertEqual(get(url, caFile: "\(folder)/self.pem"), .success(200))
    }

    func testAnotherAuthorityDoesNotHelp() throws {
        try makeCertificate("self", alternativeNames: "IP:127.0.0.1")
        try makeCertificate("other", alternativeNames: "IP:127.0.0.1")
        let url = try serve("self")
        XCTAssertTrue(isRefused(get(url, caFile: "\(folder)/other.pem")))
        let missing = get(url, caFile: "\(folder)/missing.pem")
        XCTAssertTrue(isRefused(missing), "\(missing)")
        XCTAssertTrue("\(missing)".contains("the file of authorities (ca_file, --ca-file) cannot be read"))
    }

    func testCertificateForAnotherHostIsRefused() throws {
        try makeCertificate("elsewhere", alternativeNames: "DNS:example.com,IP:127.0.0.2")
        let url = try serve("elsewhere")
        let result = get(url, caFile: "\(folder)/elsewhere.pem")
        XCTAssertTrue(isRefused(result), "\(result)")
    }

    func testExpiredCertificateIsRefused() throws {
        try makeExpiredCertificate("old")
        let url = try serve("old")
        let result = get(url, caFile: "\(folder)/old.pem")
        XCTAssertTrue(isRefused(result), "\(result)")
        XCTAssertTrue("\(result)".contains("expired"), "\(result)")
    }

    // MARK: Pins

    /// Returns the pin of a certificate: `sha256//BASE64` of its public key, computed by openssl.
    private func pin(_ name: String) throws -> String {
        let publicKey = "\(folder)/\(name).pub"
        let extract = process(["x509", "-in", "\(folder)/\(name).pem", "-noout", "-pubkey"])
        XCTAssertTrue(FileManager.default.createFile(atPath: publicKey, contents: nil))
        extract.standardOutput = try XCTUnwrap(FileHandle(forWritingAtPath: publicKey))
        try extract.run()
        extract.waitUntilExit()
        try run(["pkey", "-pubin", "-in", publicKey, "-outform", "DER", "-out", "\(folder)/\(name).der"])
        let der = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name).der"))
        return "sha256//" + Data(SHA256.hash(Array(der))).base64EncodedString()
    }

    func testOnlyPinnedKeysAreAccepted() throws {
        try makeCertificate("self", alternativeNames: "IP:127.0.0.1")
        try makeCertificate("other", alternativeNames: "IP:127.0.0.1")
        let url = try serve("self")
        let (right, wrong) = (try pin("self"), try pin("other"))
        for (pins, isAccepted) in [
            (right, true), ("\(wrong);\(right)", true), (wrong, false), ("\(wrong);\(wrong)", false),
        ] {
            var policy = HTTPPolicy(caFile: "\(folder)/self.pem")
            policy.pinnedKeys = pins
            XCTAssertTrue(policy.isWellFormed)
            let transport = CurlTransport(policy: policy)
            let answer = try? transport.execute(HTTPRequest(url: url, deadline: .after(milliseconds: 10_000)))
            XCTAssertEqual(answer?.status, isAccepted ? 200 : nil, pins)
        }
    }

    func testAPinDoesNotTakeThePlaceOfAnAuthority() throws {
        try makeCertificate("self", alternativeNames: "IP:127.0.0.1")
        let url = try serve("self")
        var policy = HTTPPolicy()
        policy.pinnedKeys = try pin("self")
        let transport = CurlTransport(policy: policy)
        XCTAssertThrowsError(
            try transport.execute(HTTPRequest(url: url, deadline: .after(milliseconds: 10_000))))
    }
}
