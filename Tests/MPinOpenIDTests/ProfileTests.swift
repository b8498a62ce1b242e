import MPinOpenID
import MPinStore
import MPinWire
import StoreEngines
import XCTest

/// Tests profiles: what an operator and a user may set, when an address counts as verified, and what clients get of it.
/// Row numbers are those of the checklist by which the provider was built; each comment says what its row demands.
final class ProfileTests: XCTestCase {
    private let alice = "alice@example.com"
    private let start = Moment(microseconds: 1_800_000_000_000_000)
    private let profiles = Profiles(in: RepeatingStore(MemoryStore()))

    private func change(_ change: (inout ProfileChange) -> Void) -> ProfileChange {
        var made = ProfileChange()
        change(&made)
        return made
    }

    private func userinfo(_ test: ProviderUnderTest, _ scope: String) async throws -> JSONValue {
        let answer = try await test.redeem(try await test.code(scope: scope))
        return try await test.provider.userinfo(answer.accessToken)
    }

    /// Row 55: userinfo gives each claim by its scope. Row 48: `email_verified` is a boolean, and `updated_at` a number
    /// of seconds.
    func testRows48And55EveryClaimByItsScope() async throws {
        let test = try await ProviderUnderTest { $0.scopes += ["groups"] }
        let wanted = change {
            ($0.name, $0.email, $0.picture) = ("Alice A.", "a@example.org", "https://pics.example/a.png")
            ($0.locale, $0.groups) = ("de-CH", ["staff", "Domain Admins"])
        }
        _ = try await test.provider.profiles.change(alice, wanted, at: test.now)
        let all = try await userinfo(test, "openid profile email groups")
        let claims: [String: JSONValue] = [
            "name": .string("Alice A."), "preferred_username": .string(alice), "email": .string("a@example.org"),
            "email_verified": .bool(false), "picture": .string("https://pics.example/a.png"),
            "updated_at": .int(test.now.epochSeconds), "locale": .string("de-CH"),
            "groups": .array([.string("staff"), .string("Domain Admins")]),
        ]
        for (name, value) in claims { XCTAssertEqual(all[name], value, name) }
        XCTAssertNotNil(all["sub"])
        let places = [
            "profile": ["name", "preferred_username", "picture", "updated_at", "locale"],
            "email": ["email", "email_verified"], "groups": ["groups"],
        ]
        for (scope, names) in places {
            guard case .object(let found) = try await userinfo(test, "openid " + scope) else { return XCTFail(scope) }
            XCTAssertEqual(Set(found.keys), Set(names + ["sub"]), scope)
        }
    }

    /// Row 55: a user without a profile has the user id as name, and no claims without a value.
    func testRow55AUserWithoutAProfile() async throws {
        let test = try await ProviderUnderTest { $0.scopes += ["groups"] }
        guard case .object(let found) = try await userinfo(test, "openid profile email groups") else {
            return XCTFail()
        }
        XCTAssertEqual(
            found.filter { $0.key != "sub" },
            [
                "name": .string(alice), "preferred_username": .string(alice), "email": .string(alice),
                "email_verified": .bool(false), "groups": .array([]),
            ])
        let code = try await test.code("bob", scope: "openid email")
        let bob = try await test.provider.userinfo(try await test.redeem(code).accessToken)
        XCTAssertEqual([bob["email"], bob["email_verified"]], [nil, nil])
    }

    /// Row 53: the claims of a profile are not in the ID token, unless the client is registered so. Row 32: the parameter
    /// `claims` asks for one of them there.
    func testRows32And53TheIDToken() async throws {
        let test = try await ProviderUnderTest()
        let picture = change { $0.picture = "https://pics.example/a.png" }
        _ = try await test.provider.profiles.change(alice, picture, at: test.now)
        func claims(_ more: [(String, String)] = []) async throws -> [String: JSONValue] {
            let code = try await test.code(scope: "openid profile", pkce: true, more)
            return try decoded(try await test.redeem(code).idToken).claims
        }
        let plain = try await claims()
        XCTAssertEqual([plain["picture"], plain["name"], plain["updated_at"]], [nil, nil, nil])
        let named = try await claims([("claims", #"{"id_token":{"picture":null}}"#)])
        XCTAssertEqual([named["picture"], named["name"]], [.string("https://pics.example/a.png"), nil])
        try test.change("app") { $0.claimsInIDToken = true }
        let whole = try await claims()
        XCTAssertEqual(whole["picture"], .string("https://pics.example/a.png"))
        XCTAssertEqual(whole["updated_at"], .int(test.now.epochSeconds))
    }

    /// The discovery document lists the claims and scopes that exist.
    func testDiscovery() async throws {
        let metadata = try await ProviderUnderTest().provider.metadata(languages: ["en"])
        guard case .array(let claims)? = metadata["claims_supported"],
            case .array(let scopes)? = metadata["scopes_supported"]
        else { return XCTFail("no lists") }
        for name in ["sub", "name", "email", "email_verified", "picture", "updated_at", "locale", "groups"] {
            XCTAssertTrue(claims.contains(.string(name)), name)
        }
        XCTAssertTrue(scopes.contains(.string("groups")))
    }

    /// Row 48: a user id is verified when the link in the mail to it is opened, if it is a mail address.
    func testRow48TheLinkOfARegistration() async throws {
        for user in [alice, "bob", "carol@@example.com"] { try await profiles.proveUserID(user, at: start) }
        let proven = try await profiles.profile(of: alice, at: start)
        XCTAssertEqual([proven.email, proven.isEmailVerified ? "yes" : "no"], [alice, "yes"])
        XCTAssertEqual(proven.updated, start)
        for user in ["bob", "carol@@example.com", "dave@example.com"] {
            let other = try await profiles.profile(of: user, at: start)
            XCTAssertFalse(other.isEmailVerified, user)
            XCTAssertNil(other.updated)
        }
        // A second device is registered by another mail.
        try await profiles.proveUserID(alice, at: start.adding(seconds: 9))
        let again = try await profiles.profile(of: alice, at: start)
        XCTAssertEqual(again, proven)
    }

    /// Row 48: an address that the operator has set is not verified, and the link to the user id does not verify it.
    func testRow48TheOperatorsAddress() async throws {
        try await profiles.proveUserID(alice, at: start)
        func set(_ email: String) async throws -> Profile {
            try await profiles.change(alice, change { $0.email = email }, at: start)
        }
        let same = try await set(alice)
        XCTAssertTrue(same.isEmailVerified)
        let other = try await set("b@example.com")
        XCTAssertEqual([other.email, other.isEmailVerified ? "yes" : "no"], ["b@example.com", "no"])
        try await profiles.proveUserID(alice, at: start)
        let still = try await profiles.profile(of: alice, at: start)
        XCTAssertFalse(still.isEmailVerified)
        let removed = try await set("")
        XCTAssertEqual([removed.email, removed.isEmailVerified ? "yes" : "no"], [alice, "no"])
        try await profiles.proveUserID(alice, at: start)
        let proven = try await profiles.profile(of: alice, at: start)
        XCTAssertTrue(proven.isEmailVerified)
    }

    /// Row 48: a new address counts when its link is opened. Until then the old one stays, with what is known about it.
    func testRow48AChangedAddressCountsAfterItsLink() async throws {
        try await profiles.proveUserID(alice, at: start)
        let token = try await profiles.requestEmail("new@example.com", for: alice, at: start)
        let waiting = try await profiles.profile(of: alice, at: start)
        XCTAssertEqual([waiting.email, waiting.pendingEmail?.address], [alice, "new@example.com"])
        XCTAssertTrue(waiting.isEmailVerified)
        let late = start.adding(seconds: Profiles.linkSeconds - 1)
        let looked = try await profiles.emailLink(token, at: late)
        XCTAssertEqual(looked.map { [$0.userID, $0.address] }, [alice, "new@example.com"])
        let confirmed = try await profiles.confirmEmail(token, at: late)
        XCTAssertEqual(confirmed?.link, looked)
        XCTAssertEqual(confirmed?.old, alice)
        let changed = try await profiles.profile(of: alice, at: late)
        XCTAssertEqual(changed.email, "new@example.com")
        XCTAssertTrue(changed.isEmailVerified)
        XCTAssertNil(changed.pendingEmail)
        XCTAssertEqual(changed.updated, late)
        let twice = try await profiles.confirmEmail(token, at: late)
        XCTAssertNil(twice)
    }

    /// A link is not valid if it has expired, if a later one has replaced it, or if the user has changed their mind.
    func testLinksThatAreNotValid() async throws {
        let first = try await profiles.requestEmail("a@example.com", for: alice, at: start)
        let second = try await profiles.requestEmail("b@example.com", for: alice, at: start)
        let replaced = try await profiles.confirmEmail(first, at: start)
        XCTAssertNil(replaced)
        let expired = try await profiles.confirmEmail(second, at: start.adding(seconds: Profiles.linkSeconds))
        XCTAssertNil(expired)
        try await profiles.cancelEmail(for: alice, at: start)
        let cancelled = try await profiles.confirmEmail(second, at: start)
        XCTAssertNil(cancelled)
        let invented = try await profiles.confirmEmail(try .random(), at: start)
        XCTAssertNil(invented)
        let profile = try await profiles.profile(of: alice, at: start)
        XCTAssertEqual([profile.email, profile.isEmailVerified ? "yes" : "no"], [alice, "no"])
    }

    /// Values that are refused leave the profile as it was, and the error names the member.
    func testValuesThatAreRefused() async throws {
        let long = String(repeating: "x", count: 101)
        let refused: [(ProfileFault.Member, ProfileChange)] =
            [long, " ", "a\u{202e}b", "a\nb"].map { text in (.name, change { $0.name = text }) }
            + [
                "alice", "a@", "@b", "a@b@c", "a b@c", "a@b,c@d", "<a@b>", "a@b\r\nTo: c@d", "a@.b", "a@b.", "a@-b",
                "a\u{200b}@b", String(repeating: "x", count: 65) + "@b",
                "a@" + String(repeating: "x.", count: 130) + "x",
            ].map { text in (.email, change { $0.email = text }) }
            + [
                "http://pics.example/a", "//pics.example/a", "javascript:alert(1)", "data:image/png;base64,AA",
                "https://user@pics.example/", "https://pics.example/\"onload=x", "com.example.app:/a",
            ].map { text in (.picture, change { $0.picture = text }) }
            + ["d", "de_CH", "de-", "german language", "de-" + long].map { text in
                (.locale, change { $0.locale = text })
            }
            + [
                ["a,b"], ["a\nb"], [" a"], ["a", "a"], ["a", ""], ["gr\u{fc}n"], [long],
                (0...ProfileChange.maxGroups).map(String.init),
            ].map { texts in (.groups, change { $0.groups = texts }) }
        for (member, wrong) in refused {
            do {
                _ = try await profiles.change(alice, wrong, at: start)
                XCTFail("taken: \(wrong)")
            } catch let fault as ProfileFault { XCTAssertEqual(fault.member, member, "\(wrong)") }
        }
        let untouched = try await profiles.profile(of: alice, at: start)
        XCTAssertEqual(untouched, Profile(userID: alice))
        do {
            _ = try await profiles.requestEmail("a@b, c@d", for: alice, at: start)
            XCTFail("taken")
        } catch let fault as ProfileFault { XCTAssertEqual(fault.description, "email: is no mail address") }
    }

    /// An empty value removes a member. A change that changes nothing leaves the time of the last one.
    func testEmptyValuesRemove() async throws {
        let all = change {
            ($0.name, $0.picture, $0.locale) = ("A", "https://pics.example/a", "en")
            $0.groups = ["staff"]
        }
        let before = try await profiles.change(alice, all, at: start)
        let later = start.adding(seconds: 60)
        let same = try await profiles.change(alice, all, at: later)
        XCTAssertEqual(same, before)
        let none = change { ($0.name, $0.picture, $0.locale, $0.groups) = ("", "", "", [""]) }
        XCTAssertEqual(none.names, ["name", "picture", "locale", "groups"])
        let after = try await profiles.change(alice, none, at: later)
        XCTAssertEqual([after.name, after.picture, after.locale], [nil, nil, nil])
        XCTAssertEqual([after.groups.count, after.updated == later ? 1 : 0], [0, 1])
        try await profiles.remove(alice, at: later)
        let gone = try await profiles.profile(of: alice, at: later)
        XCTAssertEqual(gone, Profile(userID: alice))
    }

    /// A user sees the consents to all clients, but only their own, and can withdraw each one.
    func testConsentsAreListedAndWithdrawn() async throws {
        let consents = Consents(in: RepeatingStore(MemoryStore()))
        for number in 0..<150 {
            let client = Client(id: "c\(1000 + number)", name: "C", created: start)
            try await consents.allow(["openid"], of: client, by: "u", at: start)
            try await consents.allow(["openid"], of: client, by: "v", at: start)
        }
        let client = Client(id: "c1007", name: "C", created: start)
        try await consents.allow(["email"], of: client, by: "u", at: start.adding(seconds: 5))
        let listed = try await consents.list(of: "u", at: start)
        XCTAssertEqual(listed.map(\.clientID), (0..<150).map { "c\(1000 + $0)" })
        XCTAssertEqual(listed[7].scopes, ["email", "openid"])
        XCTAssertEqual(listed[7].since, start)
        let withdrawn = try await consents.withdraw(clientID: "c1007", by: "u", at: start)
        let twice = try await consents.withdraw(clientID: "c1007", by: "u", at: start)
        XCTAssertEqual([withdrawn, twice], [true, false])
        let (own, other) = (try await consents.list(of: "u", at: start), try await consents.list(of: "v", at: start))
        XCTAssertEqual([own.count, other.count], [149, 150])
    }

    /// When a user has withdrawn the consent, the client's tokens are no longer accepted. The refresh token stays dead
    /// when the user consents again.
    func testWithdrawingAConsentEndsTokens() async throws {
        let test = try await ProviderUnderTest { $0.isFirstParty = false }
        let answer = try await test.redeem(try await test.code(scope: "openid offline_access"))
        let before = try await test.bearerFault(answer.accessToken)
        XCTAssertNil(before)
        let consents = test.provider.consents
        _ = try await consents.withdraw(clientID: "app", by: alice, at: test.now)
        let after = try await test.bearerFault(answer.accessToken)
        XCTAssertEqual(after, .invalidToken)
        let token = try XCTUnwrap(answer.refreshToken)
        let refused = try await test.fault { try await test.refresh(token) }
        XCTAssertEqual(refused, .invalidGrant)
        try await consents.allow(["openid", "offline_access"], of: try test.client(), by: alice, at: test.now)
        let again = try await test.fault { try await test.refresh(token) }
        XCTAssertEqual(again, .invalidGrant)
    }
}
