import Foundation
import MPinOpenID
import MPinSecrets
import MPinStore
import XCTest

final class ClientsFileTests: XCTestCase {
    private let now = Moment(microseconds: 1_800_000_000_000_000)
    private let folder = NSTemporaryDirectory() + "clients-\(UUID().uuidString)"
    private let hash = String(repeating: "0f", count: 32)

    override func setUp() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        let path = "\(folder)/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func error(_ text: String) -> String {
        do { _ = try ClientsFile(text, path: "c.yaml", at: now) } catch { return "\(error)" }
        return ""
    }

    func testClientsAreReadWithTheirSecrets() throws {
        let secret = String(repeating: "s", count: 32)
        let own = try write("secret", secret + "\n")
        let path = try write(
            "clients.yaml",
            """
            # Ours.
            - id: shop
              name: The shop
              redirect-uri: [https://shop.example/cb, "https://shop.example/cb2"]
              first-party: true
              access-token-seconds: 300
              secret-file: \(own)

            - id: app
              auth-method: none
              redirect-uri:
                - http://127.0.0.1/cb
            - id: blog
              redirect-uri: [https://blog.example/cb]
              secret-sha256: [\(hash.uppercased()), \(hash)]
            """, mode: 0o644)
        let file = try ClientsFile(reading: path, at: now)
        let compared = SecretHash.sealed(digest: SHA256.hash(try XCTUnwrap(Hex.decode(hash))), box: [])
        XCTAssertEqual(file.entries.keys.sorted(), ["app", "blog", "shop"])
        let shop = try XCTUnwrap(file.entries["shop"]?.client)
        XCTAssertEqual(shop.name, "The shop")
        XCTAssertEqual(shop.redirectURIs.map(\.text), ["https://shop.example/cb", "https://shop.example/cb2"])
        XCTAssertTrue(shop.isFirstParty)
        XCTAssertEqual(shop.lifetimes.accessToken, 300)
        XCTAssertEqual(shop.secrets, [ClientSecret(of: secret, created: now)])
        XCTAssertEqual(file.entries["blog"]?.client.secrets.map(\.hash), [compared, compared])
        XCTAssertEqual(file.entries["app"]?.client.isPublic, true)
        XCTAssertEqual(file.place(of: "shop"), "\(path):2")
        XCTAssertEqual(file.place(of: "app"), "\(path):9")
    }

    func testAnEmptyFileHasNoClients() throws {
        for text in ["", "# nothing yet\n", "[]\n"] {
            XCTAssertEqual(try ClientsFile(text, path: "c.yaml", at: now).entries.count, 0)
        }
    }

    func testEveryMistakeHasItsLine() {
        let app = "- id: app\n  auth-method: none\n  redirect-uri: [http://127.0.0.1/cb]\n"
        let mistakes: [(text: String, error: String)] = [
            (app + app, "c.yaml:4: the client app is in line 1 already"),
            ("shop:\n  name: x\n", "c.yaml:1: expected a list of clients, each beginning with `- id:`"),
            (app + "- shop\n", "c.yaml:4: expected a client that begins with `- id:`"),
            ("- name: x\n", "c.yaml:1: expected `id:`"),
            (app + "  nmae: x\n", "c.yaml:4: unknown member nmae"),
            (app + "  secret: x\n", "c.yaml:4: unknown member secret"),
            (app + "  origin: https://a.example\n", "c.yaml:4: origin: expected a list of texts"),
            (app + "  name: [a, b]\n", "c.yaml:4: name: expected one value"),
            (
                app + "  logo: http://a.example/x\n",
                "c.yaml:4: app: logo http://a.example/x: must be https; http is for 127.0.0.1, [::1] and localhost only"
            ),
            (app + "  scope: [email]\n", "c.yaml:4: app: scope: needs openid"),
            (app + "  secret-sha256: \(hash)\n", "c.yaml:1: app: a public client has no secret"),
            ("- id: b\n  redirect-uri: [https://b.example/]\n", "c.yaml:1: b: needs secret-file or secret-sha256"),
            (
                "- id: b\n  redirect-uri: [https://b.example/]\n  secret-sha256: 00\n",
                "c.yaml:3: secret-sha256: expected 64 hex digits"
            ),
            (
                "- id: b\n  redirect-uri: [https://b.example/]\n  secret-sha256: [\(hash), \(hash), \(hash)]\n",
                "c.yaml:1: more than two secrets"
            ),
            (
                "- id: a b\n  redirect-uri: [https://b.example/]\n",
                "c.yaml:1: a b: id: must be 1 to 64 of A-Z a-z 0-9 . _ ~ -"
            ),
        ]
        for (text, error) in mistakes { XCTAssertEqual(self.error(text), error) }
        XCTAssertTrue(error(app + "  name: a\n  name: b\n").hasSuffix("not YAML: name is there twice"))
        XCTAssertTrue(error("- id: [\n").hasPrefix("c.yaml:"))
    }

    func testASecretThatOthersCanReadIsRefused() throws {
        for (name, text, mode) in [
            ("open", String(repeating: "s", count: 32), 0o644), ("short", "much-too-short", 0o600),
        ] {
            let own = try write(name, text, mode: mode)
            let found = error("- id: b\n  redirect-uri: [https://b.example/]\n  secret-file: \(own)\n")
            XCTAssertTrue(found.hasPrefix("c.yaml:3: secret-file: "), found)
            XCTAssertFalse(found.contains(text))
        }
    }
}
