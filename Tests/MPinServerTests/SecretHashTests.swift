import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import XCTest

/// Tests that the hashes of secrets are sealed when no server of the version before uses the database any more, and that the
/// secrets go on.
final class SecretHashTests: XCTestCase {
    private let backend = Backend.onFreePorts()
    private var state: String { backend.stateFolder }
    private var database: String { state + "/rps.sqlite" }
    private let secret = String(repeating: "s", count: 80)

    override func tearDown() { try? FileManager.default.removeItem(atPath: state) }

    private func running() throws -> Mpind {
        let mpind = try Mpind(backend, ["--trust"])
        try mpind.waitUntilReady()
        return mpind
    }

    private func run(_ words: [String], in place: [String]? = nil) throws -> String {
        let done = try Mpind.run(words + (place ?? ["--state-dir", state]))
        guard done.code == 0 else { throw Sockets.Failure(text: "\(words): \(done.error)") }
        return done.output
    }

    private func token(_ name: String, in place: [String]? = nil) throws -> String {
        try String(XCTUnwrap(run(["project", "token", "add", "shop", name], in: place).split(separator: "\n").last))
    }

    /// Adds the client whose id and name are `id`, with the secret of the test.
    private func addClient(_ id: String) throws {
        let file = state + "/" + id + ".secret"
        try secret.write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        _ = try run(["client", "add", id, "--redirect-uri", "https://\(id).example/cb", "--secret-file", file])
    }

    /// What the database has of all service tokens and clients.
    private func rows() throws -> String {
        let query = "SELECT value FROM item WHERE kind IN ('project_token', 'clients')"
        return try SQLiteConnection(path: database).texts(query).joined()
    }

    /// Whether the credentials are right: those that are not get 401 before anybody looks at the signature.
    private func isRight(_ authorization: String) throws -> Bool {
        let signature: [String: Any] = [
            "mpinId": "00", "u": "04", "v": "05", "publicKey": "00", "hash": "00", "dtas": "",
        ]
        let body: [String: Any] = ["signature": signature, "timestamp": 1, "type": "x"]
        let answer = try TrustClient(backend: backend).call("POST", "/dvs/verify", body, authorization: authorization)
        XCTAssertTrue([400, 401].contains(answer.status), answer.text)
        return answer.status == 400
    }

    func testHashesOfTheVersionBeforeAreSealedAndTheSecretsGoOn() throws {
        try running().stop(SIGTERM)
        try makeOld(database)
        _ = try run(["project", "add", "shop", "--client", "web"])
        let before = try token("before")
        try addClient("web")
        let document = "00"
        let proofs = [
            "Bearer \(before)", TrustClient.basic("before", before), TrustClient.hmac("before", before, document),
            TrustClient.basic("web", secret), TrustClient.hmac("web", secret, document),
        ]
        let hashes = [before, secret].map { Hex.encode(SHA256.hash(Array($0.utf8))) }
        XCTAssertEqual(try hashes.map(rows().contains), [true, true], "as the version before reads it")
        let mpind = try running()
        XCTAssertEqual(try proofs.map(isRight), proofs.map { _ in true })
        XCTAssertEqual(try hashes.map(rows().contains), [true, true], "a server of the version before may run")

        _ = try run(["migrate", "--seal"])
        mpind.waitForLog("hashes of secrets are sealed")
        XCTAssertEqual(try hashes.map(rows().contains), [false, false])
        XCTAssertFalse(try rows().contains("\"hash\""))
        XCTAssertEqual(try proofs.map(isRight), proofs.map { _ in true })
        let after = try token("after")
        XCTAssertFalse(try rows().contains(Hex.encode(SHA256.hash(Array(after.utf8)))))
        XCTAssertTrue(try isRight(TrustClient.hmac("after", after, document)))
        XCTAssertFalse(try isRight(TrustClient.hmac("after", before, document)))
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// A row whose hash is not sealed, for example because `migrate --seal` was interrupted, is sealed at the start. A command
    /// needs the key of the service, and takes it from where the server has it.
    func testARowOfBeforeIsSealedAtTheStartAndCommandsNeedTheKey() async throws {
        try running().stop(SIGTERM)
        _ = try run(["project", "add", "shop"])
        let tokens = try await ProjectTokens(in: ServiceDatabase(database).open())
        let (_, text) = try await tokens.add("old", project: "shop", days: 1, sealing: nil, at: .now())
        XCTAssertTrue(try rows().contains("\"hash\""))
        let mpind = try running()
        XCTAssertFalse(try rows().contains("\"hash\""))
        XCTAssertTrue(try isRight(TrustClient.hmac("old", text, "00")))
        XCTAssertEqual(mpind.stop(SIGTERM), 0)

        _ = try token("beside", in: ["--database", database])
        let other = state + "/elsewhere.sqlite"
        _ = try run(["backup", other], in: ["--database", database])
        let foreign = state + "/foreign.key"
        _ = try KeyFile.create(foreign)
        for (place, reason) in [
            ([], "give --service-key-file"), (["--service-key-file", foreign], "its service has another key"),
        ] as [([String], String)] {
            let done = try Mpind.run(["project", "token", "add", "shop", "x", "--database", other] + place)
            XCTAssertEqual(done.code, 1)
            XCTAssertTrue(done.error.contains(reason), done.error)
        }
        let named = ["--database", other, "--service-key-file", state + "/rps.key"]
        _ = try token("named", in: named)
        _ = try run(["project", "token", "list", "shop"], in: named)
    }
}
