import Foundation
import LoopbackServer
import MPinStore
import StoreEngines
import XCTest

/// Tests the way to a Redis server on another machine that docs/redis.md describes: TLS by stunnel4.
final class RedisTLSTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let k = ItemKey("a", "k")
    private var folder = ""

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpind-tls-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    func testStunnelChecksTheServerAndItsName() async throws {
        let (name, port) = ("redis.example.org", freePorts(1)[0])
        try makeCertificate(of: name)
        let server = try RedisServer(settings: [
            "--bind", "127.0.0.1", "--tls-port", "\(port)", "--tls-cert-file", folder + "/cert.pem", "--tls-key-file",
            folder + "/key.pem", "--tls-auth-clients", "no",
        ])
        for (expected, isRight) in [(name, true), ("other.example.org", false)] {
            let tunnel = try stunnel(to: port, expected)
            // A process that a thread of a task has started may not hear of gentler signals.
            defer { kill(tunnel.processIdentifier, SIGKILL) }
            do {
                let store = try await RedisStore.opened("redis:///?socket=\(folder)/\(expected)")
                let isNew = try await store.create(k, StoredItem(value: [1]), at: now)
                XCTAssertTrue(isNew)
                XCTAssertTrue(isRight, "another server was taken for the right one")
            } catch let error as StoreError { XCTAssertFalse(isRight, "\(error)") }
        }
        withExtendedLifetime(server) {}
    }

    /// Starts stunnel4 with the lines of docs/redis.md, and waits until it listens.
    private func stunnel(to port: Int, _ name: String) throws -> Process {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/redis.md")
        let text = try String(contentsOf: path, encoding: .utf8)
        var lines = try XCTUnwrap(text.components(separatedBy: "```ini\n").last?.components(separatedBy: "```").first)
        for (documented, here) in [
            ("127.0.0.1:6379", "\(folder)/\(name)"), ("redis.example.org:6380", "127.0.0.1:\(port)"),
            ("/etc/mpind/redis-ca.pem", folder + "/cert.pem"), ("checkHost = redis.example.org", "checkHost = " + name),
        ] {
            XCTAssertTrue(lines.contains(documented), documented)
            lines = lines.replacing(documented, with: here)
        }
        let file = "\(folder)/\(name).conf"
        try ("foreground = yes\npid =\n" + lines).write(toFile: file, atomically: false, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/stunnel4")
        process.arguments = [file]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        while !isListening("\(folder)/\(name)"), process.isRunning { usleep(10_000) }
        return process
    }

    /// Whether somebody accepts connections there. A socket's file is there a little earlier, and the system's list of
    /// sockets is not read to its end if it is long.
    private func isListening(_ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(file) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private func makeCertificate(of name: String) throws {
        let openssl = Process()
        openssl.executableURL = URL(filePath: "/usr/bin/openssl")
        openssl.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-keyout", folder + "/key.pem", "-out", folder + "/cert.pem", "-subj", "/CN=" + name, "-addext",
            "subjectAltName=DNS:" + name,
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        XCTAssertEqual(openssl.terminationStatus, 0)
    }
}
