import Foundation
import MPinServer
import StoreEngines
import XCTest

/// Tests `mpind migrate` with the roles of docs/postgres.md: one owns the tables, and that of the servers only uses them.
final class MigrateCommandTests: XCTestCase {
    private let backend = Backend.onFreePorts()
    private var state: String { backend.stateFolder }

    override func setUpWithError() throws { try makeFolder(state) }

    override func tearDown() { try? FileManager.default.removeItem(atPath: state) }

    private func migrate(_ words: [String]) throws -> (status: Int32, output: String) {
        let done = try Mpind.run(["migrate"] + words)
        return (done.code, done.output + done.error)
    }

    /// The statements of the guide that make the roles.
    private func guide() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/postgres.md"), encoding: .utf8)
        let block = try XCTUnwrap(text.components(separatedBy: "```sql\n").dropFirst().first)
        return try XCTUnwrap(block.components(separatedBy: "```").first)
    }

    private func serve(_ database: String) throws -> Mpind {
        var words = ["--all-in-one", "--state-dir", state, "--mail-dir", backend.mailFolder, "--force-activate"]
        for (name, port) in [
            ("port", backend.port), ("private-port", backend.privatePort), ("dta1-port", backend.dta1Port),
            ("dta2-port", backend.dta2Port),
        ] { words += ["--" + name, "\(port)"] }
        for name in ["database", "short-lived-store", "signals", "counters"] { words += ["--" + name, database] }
        return try Mpind(words, backend.traffic)
    }

    func testTheOwnerChangesTheTablesAndServersOnlyUseThem() throws {
        let server = try PostgresServer.shared.get()
        let database = try server.newDatabase()
        try server.run(guide(), in: database)
        let (owner, user) = (
            database.replacing("user=mpin", with: "user=mpin_owner"),
            database.replacing("user=mpin", with: "user=mpin_server")
        )
        let early = try serve(user)
        early.waitForLog("mpind migrate")
        XCTAssertNotEqual(early.stop(SIGTERM), 0, early.logText)
        XCTAssertTrue(early.logText.contains("run `mpind migrate` as the owner of the tables"), early.logText)
        let refused = try migrate(["--database", user])
        XCTAssertEqual(refused.status, 1, refused.output)
        XCTAssertTrue(refused.output.contains("as the owner of the tables"), refused.output)

        try "database: \"\(owner)\"\n".write(toFile: state + "/owner.yaml", atomically: true, encoding: .utf8)
        let done = try migrate(["--config", state + "/owner.yaml"])
        XCTAssertEqual(done.status, 0, done.output)
        XCTAssertEqual(
            done.output.split(separator: "\n").map { $0.prefix(13) },
            ["done: step 1:", "done: step 2:", "done: step 3:"])
        for url in [owner, user] {
            let again = try migrate(["--database", url])
            XCTAssertEqual(again.output, "nothing to do: the database is up to date\n")
            XCTAssertEqual(again.status, 0)
        }

        let mpind = try serve(user)
        try mpind.waitUntilReady()
        let client = TestClient(backend: backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(try client.login(alice, pin: "4321").status, 401)
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        let end = Date(timeIntervalSinceNow: 60)
        while try server.run("SELECT count(*) > 0 FROM bucket", in: database) == "f", Date() < end { usleep(10_000) }
        XCTAssertLessThan(Date(), end, "requests are not counted: \(mpind.logText)")
        XCTAssertEqual(mpind.stop(SIGTERM), 0, mpind.logText)
        XCTAssertFalse(mpind.logText.contains("permission denied"), mpind.logText)
        for statement in [
            "CREATE TABLE more (a integer)", "ALTER TABLE bucket ADD COLUMN a integer", "DROP TABLE bucket",
        ] {
            XCTAssertThrowsError(try server.run("SET ROLE mpin_server; " + statement, in: database), statement)
        }
    }

    func testWhatIsNoPostgreSQLDatabaseIsRefused() throws {
        for (words, reason) in [
            (["--database", state + "/rps.sqlite"], "not a postgres: URL"), ([], "give --database"),
            (["--database", "postgres:///mpin?host=/nowhere"], "/nowhere"),
            (["--database", "postgres://mpin:long-and-secret@localhost/mpin"], "passfile"),
        ] {
            let (status, output) = try migrate(words)
            XCTAssertEqual(status, 1, output)
            XCTAssertTrue(output.contains(reason), output)
            XCTAssertFalse(output.contains("secret"), output)
            XCTAssertEqual(output.split(separator: "\n").count, 1, output)
        }
    }
}
