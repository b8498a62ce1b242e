import Foundation
import MPinOpenID
import MPinSecrets
import MPinServer
import MPinService
import XCTest

/// Tests QuickCodes, with which a device of a user lets a further one register (TRUST wire section 4.12).
final class TrustQuickCodeTests: XCTestCase {
    private let user = "alice@example.com"

    private func code(_ answer: Answer) throws -> String {
        try XCTUnwrap(answer.object["code"] as? String, answer.text)
    }

    func testACodeRegistersADeviceOnceAndWithinFiveMinutes() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let made = try client.quickCode(device)
        let first = try code(made)
        XCTAssertNotNil(first.wholeMatch(of: /[0-9]{6}/), first)
        XCTAssertEqual(made.object["ttlSeconds"] as? Int, 300)
        let end = try XCTUnwrap(made.object["expireTime"] as? Int64)
        XCTAssertEqual(Double(end), Double(server.now.seconds + 300), accuracy: 5)
        let key = try TrustClient.KeyPair().publicKey
        XCTAssertEqual(try client.enrol("bob@example.com", first, key).code, "INVALID_ACTIVATION_TOKEN")
        let second = try client.register(user, token: first, pin: "4321")
        XCTAssertEqual(try client.login(second, pin: "4321").status, 200)
        let id = String(decoding: Hex.decode(second.id) ?? [], as: UTF8.self)
        XCTAssertTrue(id.contains(#""vt":"rc""#), id)
        XCTAssertEqual(try client.enrol(user, first, key).code, "INVALID_ACTIVATION_TOKEN", "used")
        let late = try code(client.quickCode(device))
        server.advance(seconds: 301)
        XCTAssertEqual(try client.enrol(user, late, key).code, "INVALID_ACTIVATION_TOKEN", "expired")
    }

    func testAUserHasOneCodeAndItCannotBeGuessed() async throws {
        let server = try await InProcess.trust(self)
        _ = try await server.projects().add("other", ProjectChange())
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let key = try TrustClient.KeyPair().publicKey
        var (old, new) = ("", "")
        // One in a million times the new code is the old one.
        while old == new { (old, new) = (try code(client.quickCode(device)), try code(client.quickCode(device))) }
        XCTAssertEqual(try client.enrol(user, old, key).code, "INVALID_ACTIVATION_TOKEN", "replaced")
        let other = TrustClient(backend: server.backend, project: "other")
        XCTAssertEqual(try other.enrol(user, new, key).code, "INVALID_ACTIVATION_TOKEN", "of another project")
        XCTAssertEqual(try client.enrol(user, new, key).status, 200)
        let guessed = try code(client.quickCode(device))
        let wrong = guessed == "000000" ? "000001" : "000000"
        for source in 2...6 as ClosedRange<UInt16> {
            let stranger = TrustClient(backend: server.backend.from(source))
            XCTAssertEqual(try stranger.enrol(user, wrong, key).code, "INVALID_ACTIVATION_TOKEN")
        }
        XCTAssertEqual(try client.enrol(user, guessed, key).code, "INVALID_ACTIVATION_TOKEN", "void")
    }

    /// Other tokens of the user cost the code no try.
    func testOnlyCodesCountAsTries() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let code = try code(client.quickCode(client.register(user)))
        let key = try TrustClient.KeyPair().publicKey
        for text in ["", "1", "12", "12345", "1234567", String(repeating: "0", count: 32), "12345x", "１２３４５６"] {
            XCTAssertEqual(try client.enrol(user, text, key).code, "INVALID_ACTIVATION_TOKEN", text)
        }
        XCTAssertEqual(try client.enrol(user, code, key).status, 200)
    }

    /// TRUST wire section 10, item 6: a token is good for its scope only.
    func testTokensAreBoundToTheirScope() async throws {
        let server = try await InProcess.trust(self)
        _ = try await server.projects().add("other", ProjectChange())
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let forApp = try XCTUnwrap(client.login(device).object["jwt"] as? String)
        XCTAssertEqual(try client.quickCode(jwt: forApp).code, "UNAUTHORIZED")
        let forCode = try XCTUnwrap(client.login(device, scope: "reg-code").object["jwt"] as? String)
        let payload = try XCTUnwrap(forCode.split(separator: ".").dropFirst().first.flatMap { Base64URL.decode($0) })
        let claims = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
        XCTAssertEqual(claims["scope"] as? String, "reg-code")
        XCTAssertNotEqual(claims["aud"] as? String, "proj-1", "an app's back end would take it")
        let other = TrustClient(backend: server.backend, project: "other")
        XCTAssertEqual(try other.quickCode(jwt: forCode).code, "UNAUTHORIZED", "of another project")
        for bad in ["", "x", forCode + "x", String(forCode.dropLast(4)) + "AAAA"] {
            XCTAssertEqual(try client.quickCode(jwt: bad).code, "UNAUTHORIZED", bad)
        }
        XCTAssertEqual(try client.quickCode(jwt: forCode).status, 200)
        server.advance(seconds: 61)
        XCTAssertEqual(try client.quickCode(jwt: forCode).code, "UNAUTHORIZED", "expired")
    }

    func testTheProjectSaysWhichDevicesMakeCodes() async throws {
        let server = try await InProcess.trust(self, { $0.quickCodes = .verified })
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let second = try client.register(user, token: code(client.quickCode(device)))
        XCTAssertEqual(try client.quickCode(second).code, "LIMITED_QUICKCODE_GENERATION")
        // A renewal does not change how the user was verified.
        _ = try await server.users().change(.renew, user: user, identity: second.key, audit: .off)
        let third = try client.register(user, token: XCTUnwrap(client.login(second).renewalToken))
        XCTAssertEqual(try client.quickCode(third).code, "LIMITED_QUICKCODE_GENERATION")
        let begun = try client.begin(second, pin: "1234", scope: "jwt")
        XCTAssertEqual(try client.post("/rps/v2/pass1", begun.body).code, "EXPIRED_MPINID", "renewed")
        var change = ProjectChange()
        change.quickCodes = .all
        _ = try await server.projects().set("proj-1", change)
        XCTAssertEqual(try client.quickCode(third).status, 200)
        change.quickCodes = .noDevice
        _ = try await server.projects().set("proj-1", change)
        XCTAssertEqual(try client.quickCode(device).code, "LIMITED_QUICKCODE_GENERATION")
    }

    func testCodesOfARevokedDeviceHaveNoEffect() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let code = try code(client.quickCode(device))
        let jwt = try XCTUnwrap(client.login(device, scope: "reg-code").object["jwt"] as? String)
        _ = try await server.users().change(.revoke, user: user, identity: nil, audit: .off)
        XCTAssertEqual(try client.quickCode(jwt: jwt).code, "UNAUTHORIZED")
        let key = try TrustClient.KeyPair().publicKey
        XCTAssertEqual(try client.enrol(user, code, key).code, "INVALID_ACTIVATION_TOKEN")
    }
}
