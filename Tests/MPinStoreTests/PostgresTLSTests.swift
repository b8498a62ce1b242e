import Foundation
import LoopbackServer
import MPinStore
import StoreEngines
import XCTest

/// Tests connections to a PostgreSQL server that leave this machine: its certificate and name are checked, and a password
/// comes from a file.
final class PostgresTLSTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let k = ItemKey("a", "k")
    private let hostName = "db.example.org"
    private var folder = ""
    private var port = 0

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpind-tls-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try makeCertificates()
        try write("local all all trust\nhostssl all mpin_app 127.0.0.1/32 scram-sha-256\n", to: "hba.conf", mode: 0o644)
        for (file, password) in [("pass", "right-secret"), ("wrong", "wrong-secret"), ("open", "right-secret")] {
            try write("*:*:*:mpin_app:\(password)\n", to: file, mode: file == "open" ? 0o644 : 0o600)
        }
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func started() throws -> PostgresServer {
        port = freePorts(1)[0]
        let server = try PostgresServer(
            settings: [
                "fsync=off", "listen_addresses=127.0.0.1", "hba_file=\(folder)/hba.conf", "ssl=on",
                "ssl_cert_file=\(folder)/server.pem", "ssl_key_file=\(folder)/server.key",
            ], port: port)
        try server.run("CREATE ROLE mpin_app LOGIN PASSWORD 'right-secret'")
        try server.run("ALTER DATABASE mpin OWNER TO mpin_app")
        return server
    }

    private func url(_ name: String, _ passfile: String, _ authority: String) -> String {
        "postgres://mpin_app@\(name)/mpin?hostaddr=127.0.0.1&port=\(port)&passfile=\(folder)/\(passfile)"
            + "&sslrootcert=\(folder)/\(authority).pem"
    }

    func testTheServerItsNameAndThePasswordAreChecked() async throws {
        let server = try started()
        let store = try await PostgresStore.opened(url(hostName, "pass", "authority"))
        let isNew = try await store.create(k, StoredItem(value: [1]), at: now)
        XCTAssertTrue(isNew)
        let isEncrypted =
            "SELECT bool_and(ssl) FROM pg_stat_ssl NATURAL JOIN pg_stat_activity WHERE usename = 'mpin_app'"
        XCTAssertEqual(try server.run(isEncrypted), "t")
        for (name, passfile, authority, expected) in [
            ("other.example.org", "pass", "authority", "does not match host name"),
            (hostName, "pass", "stranger", "certificate verify failed"),
            (hostName, "pass", "nowhere", "nowhere.pem\" does not exist"),
            (hostName, "wrong", "authority", "password authentication failed for user \"mpin_app\""),
            // libpq does not use a file that others may read, and says so on the standard error output.
            (hostName, "open", "authority", "no password supplied"),
            (hostName, "none", "authority", "no password supplied"),
        ] {
            do {
                _ = try await PostgresStore.opened(url(name, passfile, authority))
                XCTFail("opened: \(expected)")
            } catch StoreError.unavailable(let reason) {
                XCTAssertTrue(reason.contains(expected), reason)
                XCTAssertFalse(reason.contains("secret"), reason)
            }
        }
        try await checkThatTheDatabaseEndsConnectionsOfLostMachines(server, store)
    }

    /// Whether the database keeps to it is tested with machines (`make cut-test`).
    private func checkThatTheDatabaseEndsConnectionsOfLostMachines(
        _ server: PostgresServer, _ store: PostgresStore
    ) async throws {
        try server.run(
            """
            CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
                NEW.value = convert_to((SELECT string_agg(setting || coalesce(unit, ''''), '' '' ORDER BY name) FROM pg_settings
                    WHERE name ~ ''^(tcp_|idle_in_transaction_session_timeout)''), ''UTF8''); RETURN NEW; END';
            CREATE TRIGGER see BEFORE INSERT ON lasting_item FOR EACH ROW EXECUTE FUNCTION see()
            """)
        let key = ItemKey("a", "settings")
        _ = try await store.create(key, StoredItem(value: []), at: now)
        let seen = try await store.read(key, at: now)
        XCTAssertEqual(seen.map { String(decoding: $0.value, as: UTF8.self) }, "10000ms 3 5s 5s 20000ms")
    }

    /// Makes an authority, a certificate of the server by it, and an authority that does not know the server.
    private func makeCertificates() throws {
        for authority in ["authority", "stranger"] { try openssl(authority, "authority.example.org") }
        try openssl("server", hostName, "-CA", folder + "/authority.pem", "-CAkey", folder + "/authority.key")
        // The server reads its key as its own user.
        if geteuid() == 0, let user = getpwnam("postgres") {
            XCTAssertEqual(chown(folder + "/server.key", user.pointee.pw_uid, user.pointee.pw_gid), 0)
        }
    }

    private func openssl(_ file: String, _ name: String, _ more: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments =
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-keyout", "\(folder)/\(file).key", "-out", "\(folder)/\(file).pem", "-subj", "/CN=" + name, "-addext",
                "subjectAltName=DNS:" + name,
            ] + more
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
    }

    private func write(_ text: String, to file: String, mode: Int) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
        let isWritten = FileManager.default.createFile(
            atPath: "\(folder)/\(file)", contents: Data(text.utf8), attributes: attributes)
        XCTAssertTrue(isWritten)
    }
}
