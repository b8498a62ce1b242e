import Foundation
import LoopbackServer
import MPinSDK
import MPinSession
import XCTest

/// Tests which ID tokens and answers of userinfo are believed, and what of them is the profile.
final class ClaimTests: SessionTestCase {
    private var session: AppSession?

    override func tearDownWithError() throws {
        session = nil
        try super.tearDownWithError()
    }

    /// A login with these claims. Returns the profile, or the failure.
    private func login(
        _ token: [String: any Sendable], userinfo: [String: any Sendable]? = nil
    ) throws -> Result<[String], SDKError> {
        server.state.withLock { $0.claims = token }
        if let userinfo { server.reply("/userinfo", .json(200, userinfo.merging(["sub": "ann"]) { own, _ in own })) }
        let session = try self.session ?? browsing()
        self.session = session
        let refusal = failure { () throws(SDKError) in try session.login("home") }
        if let refusal { return .failure(refusal) }
        let profile = try session.profile()
        return .success([profile.email, profile.emailVerified])
    }

    /// Address and verification are those of one document. A document that says only that an address is verified, and not
    /// which, says nothing.
    func testAnAddressAndItsVerificationAreOfOneDocument() throws {
        let cases: [([String: any Sendable], [String: any Sendable], [String])] = [
            (["email_verified": true], ["email": "alice@x.example"], ["alice@x.example", ""]),
            (["email": "alice@x.example"], ["email_verified": true], ["alice@x.example", ""]),
            (
                ["email": "alice@x.example"], ["email": "alice@x.example", "email_verified": true],
                ["alice@x.example", "true"]
            ),
            (
                ["email": "alice@x.example", "email_verified": true], ["email": "alice@x.example"],
                ["alice@x.example", "true"]
            ),
            (["email": "alice@x.example", "email_verified": true], [:], ["alice@x.example", "true"]),
            ([:], ["email": "alice@x.example", "email_verified": true], ["alice@x.example", "true"]),
            ([:], ["email": "alice@x.example", "email_verified": false], ["alice@x.example", "false"]),
            (
                ["email_verified": true], ["email": "alice@x.example", "email_verified": true],
                ["alice@x.example", "true"]
            ),
            (["email_verified": true], [:], ["", ""]), ([:], ["email_verified": true], ["", ""]),
        ]
        for (token, userinfo, expected) in cases {
            XCTAssertEqual(try login(token, userinfo: userinfo).get(), expected, "\(token), \(userinfo)")
        }
    }

    /// Two documents that contradict each other let nobody in.
    func testAContradictionIsRefused() throws {
        let pair: [String: any Sendable] = ["email": "alice@x.example", "email_verified": true]
        let cases: [([String: any Sendable], [String: any Sendable])] = [
            (["email_verified": true], ["email": "alice@x.example", "email_verified": false]),
            (["email_verified": false], pair), (pair, ["email": "alice@x.example", "email_verified": false]),
            (pair, ["email": "bob@x.example", "email_verified": true]), (pair, ["email": "Alice@x.example"]),
            (pair, ["email_verified": false]), (["email": "bob@x.example"], pair),
            ([:], ["sub": "bob", "email": "alice@x.example"]), ([:], ["iss": "https://evil.example"]),
        ]
        for (token, userinfo) in cases {
            guard case .failure(let failure) = try login(token, userinfo: userinfo) else {
                XCTFail("\(token), \(userinfo)")
                continue
            }
            XCTAssertEqual(failure.status, .tokenInvalid)
            XCTAssertTrue(failure.text.contains("userinfo"), failure.text)
            XCTAssertFalse(failure.text.contains("alice"), failure.text)
        }
    }

    /// A claim of another type than the specification's is an error, in both documents.
    func testAClaimOfAnotherTypeIsAnError() throws {
        let cases: [[String: any Sendable]] = [
            ["email": "alice@x.example", "email_verified": "true"], ["email": "alice@x.example", "email_verified": 1],
            ["email": ["alice@x.example"]], ["email": 7], ["email": true], ["email_verified": [true]],
            ["name": ["x"]], ["picture": ["x"]], ["picture": false], ["updated_at": true], ["updated_at": ["x"]],
        ]
        for claims in cases {
            let places: [([String: any Sendable], [String: any Sendable]?)] = [(claims, nil), ([:], claims)]
            for (token, userinfo) in places {
                guard case .failure(let failure) = try login(token, userinfo: userinfo) else {
                    XCTFail("\(token), \(userinfo ?? [:])")
                    continue
                }
                XCTAssertEqual(failure.status, .tokenInvalid)
                XCTAssertFalse(failure.text.contains("alice"), failure.text)
            }
        }
    }

    /// A token of later is not valid yet; the clocks may differ by a minute.
    func testATokenIsNotUsedBeforeItsTime() throws {
        let now = Date().timeIntervalSince1970
        let cases: [([String: any Sendable], Bool)] = [
            (["nbf": Int(now) + 600], false), (["nbf": now + 600.5], false), (["nbf": "soon"], false),
            (["nbf": true], false), (["nbf": Int(now) + 30], true),
            (["nbf": now - 7.25], true),
            (["nbf": 1e300], false), (["nbf": -1e300], true),
        ]
        for (claims, isTaken) in cases { XCTAssertEqual(try isLogin(claims), isTaken, "\(claims)") }
    }

    /// Times may have fractions (NumericDate, RFC 7519 section 2).
    func testTimesMayHaveFractions() throws {
        let now = Date().timeIntervalSince1970
        let cases: [([String: any Sendable], Bool)] = [
            (["exp": now + 60.5], true), (["exp": now - 30.5], true), (["exp": now - 90.5], false),
            (["iat": now - 0.25], true), (["iat": now + 90.5], false), (["exp": 1e300], true), (["exp": -1e300], false),
            (["iat": 1e300], false), (["exp": 1e19], true), (["exp": "9999999999"], false),
            (["exp": Int.max, "iat": Int.min], true), (["exp": Int.min], false), (["iat": Int.max], false),
        ]
        for (claims, isTaken) in cases { XCTAssertEqual(try isLogin(claims), isTaken, "\(claims)") }
    }

    private func isLogin(_ claims: [String: any Sendable]) throws -> Bool {
        switch try login(claims) {
        case .success: return true
        case .failure(let failure):
            XCTAssertEqual(failure.status, .tokenInvalid)
            return false
        }
    }

    /// With the exponent 1 everybody can sign: the signature is the padded text itself (RFC 8017 section 8.2).
    func testAKeyByWhichEverybodyCanSignIsNone() throws {
        for exponent: [UInt8] in [[1], [0, 0, 1], [1, 0, 0, 0, 0, 0, 0, 0, 0], []] {
            server.state.withLock { $0.everybodysExponent = exponent }
            guard case .failure(let failure) = try login([:]) else {
                XCTFail("\(exponent)")
                continue
            }
            XCTAssertTrue(failure.text.contains("a key that the provider does not publish"), failure.text)
        }
    }
}
