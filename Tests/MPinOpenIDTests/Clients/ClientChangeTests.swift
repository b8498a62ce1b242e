import MPinOpenID
import MPinSecrets
import MPinStore
import XCTest

/// Tests what an operator can set, and which clients are refused.
final class ClientChangeTests: XCTestCase {
    private static let now = Moment(microseconds: 1_800_000_000_000_000)

    private func client(_ members: [String: [String]]) throws -> Client {
        var client = Client(id: "shop", name: "shop", created: Self.now)
        try Self.change(["redirect-uri": ["https://shop.example/cb"]].merging(members) { _, new in new })
            .apply(to: &client)
        return client
    }

    static func change(_ members: [String: [String]]) throws -> ClientChange {
        var change = ClientChange()
        for (name, texts) in members.sorted(by: { $0.key < $1.key }) {
            change.set(try XCTUnwrap(ClientMember.named(name), name), texts)
        }
        return change
    }

    private func fault(_ members: [String: [String]]) -> String {
        do { _ = try client(members) } catch { return "\(error)" }
        return ""
    }

    func testTheDefaultsAreThoseOfTheDocuments() throws {
        let shop = try client([:])
        XCTAssertEqual(shop.authMethod, .basic)
        XCTAssertEqual(shop.grants, [.authorizationCode])
        XCTAssertEqual(shop.scopes, ["openid", "profile", "email"])
        XCTAssertEqual(shop.subject, .public)
        XCTAssertEqual(shop.lifetimes.accessToken, 900)
        XCTAssertEqual(shop.lifetimes.idToken, 900)
        XCTAssertEqual(shop.lifetimes.refreshIdle, 30 * 86_400)
        XCTAssertEqual(shop.lifetimes.refreshMax, 180 * 86_400)
        XCTAssertFalse(shop.isFirstParty || shop.isDisabled || shop.mustUsePKCE || shop.claimsInIDToken)
    }

    /// A public client must use PKCE, even if its operator sets `require-pkce` to false (row 34 of the checklist by
    /// which the provider was built).
    func testRow34APublicClientMustUsePKCE() throws {
        XCTAssertTrue(try client(["auth-method": ["none"], "require-pkce": ["false"]]).mustUsePKCE)
        XCTAssertTrue(try client(["require-pkce": ["true"]]).mustUsePKCE)
    }

    /// Each member is shown as it was set, and the store returns the client unchanged.
    func testEveryMemberIsSetShownAndKept() throws {
        let members: [String: [String]] = [
            "name": ["The shop"], "logo": ["https://shop.example/logo.svg"], "auth-method": ["client_secret_post"],
            "disabled": ["true"], "redirect-uri": ["https://shop.example/cb", "https://shop.example/cb2"],
            "post-logout-uri": ["https://shop.example/"], "backchannel-logout-uri": ["https://shop.example/out"],
            "origin": ["https://shop.example"], "grant": ["authorization_code", "refresh_token"],
            "scope": ["openid", "offline_access", "basket:read"], "audience": ["https://api.example", "basket"],
            "resource": ["https://shop.example/api"],
            "first-party": ["true"], "require-pkce": ["true"], "refresh-without-offline-access": ["true"],
            "subject": ["pairwise"], "sector": ["shops"], "amr": ["token"], "claims-in-id-token": ["true"],
            "access-token-seconds": ["60"], "id-token-seconds": ["61"], "refresh-idle-seconds": ["62"],
            "refresh-max-seconds": ["63"], "allow-user": ["alice@example.com", "bob"],
            "allow-group": ["staff", "team 7"],
        ]
        // ForwardAuthTests tests the member that does not go with a redirect URI.
        XCTAssertEqual(Set(members.keys), Set(ClientMember.all.map(\.name)).subtracting(["forward-auth"]))
        var shop = try client(members)
        shop.secrets = [ClientSecret(hash: SecretHash(of: "a secret"), created: Self.now, expires: Self.now)]
        for member in ClientMember.all { XCTAssertEqual(member.texts(shop), members[member.name] ?? [], member.name) }
        XCTAssertEqual(try Client(stored: try shop.stored()), shop)
    }

    /// Reads a client that an older version has stored, without the members that were added later: they have their
    /// defaults.
    func testAnOldClientIsRead() throws {
        let old = try Client(stored: Array(#"{"id":"shop","name":"Shop","created":7}"#.utf8))
        XCTAssertEqual(old, Client(id: "shop", name: "Shop", created: Moment(microseconds: 7)))
    }

    /// A service that only asks about tokens needs no redirect URI and no grant.
    func testAResourceNeedsNoUsers() throws {
        let service = try client(["redirect-uri": [""], "grant": [""], "resource": ["https://api.example"]])
        XCTAssertEqual(service.grants, [])
    }

    /// A client that is only on devices without a browser needs no redirect URI.
    func testADeviceNeedsNoRedirectURI() throws {
        let device = try client([
            "redirect-uri": [""], "grant": [Client.Grant.deviceCode.rawValue], "auth-method": ["none"],
        ])
        XCTAssertEqual(device.grants, [.deviceCode])
    }

    func testOneEmptyTextTakesAListAway() throws {
        XCTAssertEqual(try client(["origin": [""], "audience": [""], "sector": [""], "logo": [""]]), try client([:]))
    }

    func testWhatNoClientMayBe() {
        let faults: [(members: [String: [String]], text: String)] = [
            (["redirect-uri": [""]], "redirect-uri: at least one is needed"),
            (
                ["redirect-uri": ["https://a.example/#x"]],
                "redirect-uri https://a.example/#x: must have no fragment (#)"
            ),
            (
                ["redirect-uri": ["https://a.example", "https://a.example"]],
                "redirect-uri: https://a.example is there twice"
            ),
            (["redirect-uri": (0...100).map { "https://a.example/\($0)" }], "redirect-uri: more than 100"),
            (["scope": ["email"]], "scope: needs openid"), (["scope": ["openid email"]], "scope: openid email is none"),
            (
                ["grant": ["refresh_token"]],
                "grant: needs authorization_code or urn:ietf:params:oauth:grant-type:device_code, "
                    + "unless there is a resource"
            ),
            (
                ["grant": ["implicit"]],
                "grant: must be one of \(Client.Grant.allCases.map(\.rawValue).joined(separator: ", "))"
            ), (["resource": ["a b"]], "resource: a b has blanks, or is too long"),
            (["resource": ["x"], "auth-method": ["none"]], "resource: only for a client with a secret"),
            (
                ["grant": ["authorization_code", "refresh_token"]],
                "scope: the grant refresh_token needs offline_access"
            ),
            (
                ["scope": ["openid", "offline_access"]],
                "grant: offline_access and refresh-without-offline-access need refresh_token"
            ),
            (
                ["refresh-without-offline-access": ["true"]],
                "refresh-without-offline-access: only for a client with first-party true"
            ),
            (["name": [" "]], "name: must have 1 to 100 characters that can be seen"),
            (["name": ["Sh\u{202e}op"]], "name: must have 1 to 100 characters that can be seen"),
            (["logo": ["http://127.0.0.1/x.svg"]], "logo: must begin with https://"),
            (
                ["origin": ["https://a.example/"]],
                "origin https://a.example/: must be https://HOST, or http on this machine, without a path"
            ),
            (["first-party": ["yes"]], "first-party: must be true or false"),
            (["access-token-seconds": ["59"]], "access-token-seconds: must be 60 to 86400"),
            (["access-token-seconds": ["1e3"]], "access-token-seconds: must be 60 to 86400"),
            (
                ["refresh-idle-seconds": ["200"], "refresh-max-seconds": ["100"]],
                "refresh-idle-seconds: must not be more than refresh-max-seconds"
            ),
            (["backchannel-logout-uri": ["com.example.app:/x"]], "backchannel-logout-uri: must be https"),
            (
                ["subject": ["pairwise"], "redirect-uri": ["https://a.example", "https://b.example"]],
                "sector: needed, as the redirect URIs have several hosts"
            ),
        ]
        for (members, text) in faults { XCTAssertEqual(fault(members), text) }
    }

    func testRow7AnIDIsPlain() throws {
        for id in ["", "a b", "a/b", "caf\u{e9}", "a\u{0}", String(repeating: "a", count: 65)] {
            var client = Client(id: id, name: "x", created: Self.now)
            let change = try Self.change(["redirect-uri": ["https://a.example"]])
            XCTAssertThrowsError(try change.apply(to: &client), id.debugDescription)
        }
        XCTAssertTrue(Client.isID("Az09._~-"))
    }

    /// The sector of a pairwise client stays when its redirect URI changes, so its users keep their `sub`.
    func testTheSectorStays() throws {
        var shop = try client(["subject": ["pairwise"]])
        XCTAssertEqual(shop.sector, "shop.example")
        try Self.change(["redirect-uri": ["https://other.example/cb"]]).apply(to: &shop)
        XCTAssertEqual(shop.sector, "shop.example")
        XCTAssertEqual(try client(["subject": ["pairwise"], "redirect-uri": ["com.example.app:/cb"]]).sector, "shop")
    }

    func testSecretsAreLongAndKeptAsHashes() throws {
        let secret = try ClientSecret.random()
        XCTAssertEqual(secret.utf8.count, 43)
        XCTAssertEqual(ClientSecret(of: secret, created: Self.now).hash, .open(SHA256.hash(Array(secret.utf8))))
        let own = String(repeating: "s", count: 32)
        for text in [own, own + "\n", own + "\r\n"] { XCTAssertEqual(try ClientSecret.accepted(text, from: "x"), own) }
        let bad = [
            "", String(own.dropLast()), String(own.dropLast()) + "\n", own + " ", own + "\n\n", own + "\u{e4}",
            String(repeating: "s", count: 257),
        ]
        for text in bad { XCTAssertThrowsError(try ClientSecret.accepted(text, from: "x"), text) }
    }
}
