import Foundation
import MPinCrypto
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import MPinWire
import XCTest

/// Tests verification by mail and registration with key pairs for clients of MIRACL Trust.
final class TrustRegistrationTests: XCTestCase {
    private let user = "alice@example.com"

    private func server(_ members: (inout ProjectChange) -> Void = { _ in }) async throws -> InProcess {
        try await InProcess.trust(self, members)
    }

    private func method(_ answer: Answer) -> String? { answer.object["method"] as? String }

    func testACodeIsGoodForItsUserAndProjectOnceAndForTenMinutes() async throws {
        let server = try await server { $0.verification = .code }
        _ = try await server.projects().add("other", ProjectChange())
        let client = TrustClient(backend: server.backend)
        let other = TrustClient(backend: server.backend, project: "other")
        XCTAssertEqual(method(try client.verify(user)), "code")
        let code = try client.code(user)
        XCTAssertNotNil(code.wholeMatch(of: /[0-9]{6}/), code)
        let unknown = try client.confirm("nobody@example.com", code)
        XCTAssertEqual([unknown.code, unknown.context["projectId"]], ["UNSUCCESSFUL_VERIFICATION", "proj-1"])
        XCTAssertEqual(try other.confirm(user, code).code, "UNSUCCESSFUL_VERIFICATION")
        XCTAssertEqual(try client.confirm(user, code).status, 200)
        XCTAssertEqual(try client.confirm(user, code).code, "UNSUCCESSFUL_VERIFICATION", "used")
        server.advance(seconds: 300)
        _ = try client.verify(user)
        let late = try client.code(user)
        server.advance(seconds: 599)
        XCTAssertEqual(try client.confirm(user, late).status, 200)
        _ = try client.verify(user)
        let tooLate = try client.code(user)
        server.advance(seconds: 601)
        XCTAssertEqual(try client.confirm(user, tooLate).code, "UNSUCCESSFUL_VERIFICATION")
    }

    func testFiveWrongTriesVoidACode() async throws {
        let server = try await server { $0.verification = .code }
        let client = TrustClient(backend: server.backend)
        for (tries, isGood) in [(4, true), (5, false)] {
            XCTAssertEqual(try client.verify(user).status, 200)
            let code = try client.code(user)
            let wrong = code == "000000" ? "000001" : "000000"
            for source in 2..<UInt16(2 + tries) {
                let stranger = TrustClient(backend: server.backend.from(source))
                XCTAssertEqual(try stranger.confirm(user, wrong).status, 400)
            }
            XCTAssertEqual(try client.confirm(user, code).status, isGood ? 200 : 400)
            server.advance(seconds: 300)
        }
    }

    /// A short code is for a user's first device, and for a device that registers again; a further one needs a link.
    func testAFurtherDeviceNeedsALink() async throws {
        let server = try await server { $0.verification = .code }
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let ways: [([String: Any], String)] = [
            ([:], "link"), (["mpinId": device.id], "code"), (["mpinId": "7b7d"], "link"),
        ]
        for (more, expected) in ways {
            server.advance(seconds: 300)
            XCTAssertEqual(method(try client.verify(user, more)), expected, "\(more.keys)")
        }
        _ = try await server.users().change(.revoke, user: user, identity: nil, audit: .off)
        server.advance(seconds: 300)
        XCTAssertEqual(method(try client.verify(user)), "code", "it has no device any more")
    }

    func testTheLinkLeadsToTheProjectsPage() async throws {
        let server = try await server { $0.linkURL = "https://app.example/login/" }
        let client = TrustClient(backend: server.backend)
        XCTAssertEqual(method(try client.verify("a+b@example.com")), "link")
        let code = try client.code("a+b@example.com")
        XCTAssertEqual(Hex.decode(code)?.count, 32, code)
        let mails = try FileManager.default.contentsOfDirectory(atPath: server.backend.mailFolder)
        let mail = try String(
            contentsOfFile: server.backend.mailFolder + "/" + XCTUnwrap(mails.first), encoding: .utf8)
        let link = "https://app.example/login/verification/confirmation?user_id=a%2Bb%40example.com&code=" + code
        XCTAssertTrue(mail.contains(link), mail)
        XCTAssertEqual(try client.confirm("a+b@example.com", code).object["projectId"] as? String, "proj-1")
    }

    /// A device whose link was used or has expired learns for which session it may ask for another mail. Nobody else does.
    func testALinkThatHasEndedTellsItsSession() async throws {
        let server = try await server()
        _ = try await server.projects().add("other", ProjectChange())
        let client = TrustClient(backend: server.backend)
        let other = TrustClient(backend: server.backend, project: "other")
        _ = try client.verify(user, ["accessId": "abc"])
        let link = try client.code(user)
        XCTAssertEqual(try client.confirm(user, String(repeating: "0", count: 64)).context, ["projectId": "proj-1"])
        XCTAssertEqual(try client.confirm("bob@example.com", link).context, ["projectId": "proj-1"])
        XCTAssertEqual(try other.confirm(user, link).context, ["projectId": "other"])
        XCTAssertEqual(try client.confirm(user, link).object["accessId"] as? String, "abc")
        let used = try client.confirm(user, link)
        XCTAssertEqual(used.code, "UNSUCCESSFUL_VERIFICATION")
        XCTAssertEqual(used.context, ["projectId": "proj-1", "accessId": "abc"])
        server.advance(seconds: 300)
        _ = try client.verify(user, ["accessId": "def"])
        let late = try client.code(user)
        server.advance(seconds: 601)
        XCTAssertEqual(try client.confirm(user, late).context, ["projectId": "proj-1", "accessId": "def"])
        server.advance(seconds: 3600)
        XCTAssertEqual(try client.confirm(user, late).context, ["projectId": "proj-1"])
    }

    func testMailsHavePauses() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let first = try client.verify(user)
        let again = try XCTUnwrap(first.object["backoff"] as? Int)
        XCTAssertEqual(Double(again), Double(server.now.seconds + 60), accuracy: 5)
        let early = try client.verify(user)
        XCTAssertEqual([early.code, early.context["backoff"]], ["REQUEST_BACKOFF", "\(again)"])
        XCTAssertEqual(try client.verify("ALICE+x@example.com").status, 200, "another user")
        server.advance(seconds: 61)
        XCTAssertEqual(try client.verify(user).status, 200)
        server.advance(seconds: 61)
        XCTAssertEqual(try client.verify(user).code, "REQUEST_BACKOFF", "the second pause is longer")
    }

    /// The limits on registrations are told in the same form.
    func testTheRateLimitIsAPause() async throws {
        let server = try await InProcess.trust(self, change: { $0.rates.registerIdentity = RateLimit("1/600") })
        let client = TrustClient(backend: server.backend)
        XCTAssertEqual(try client.verify(user).status, 200)
        server.advance(seconds: 61)
        let refused = try client.verify(user)
        XCTAssertEqual([refused.status, Int(refused.context["backoff"] ?? "") == nil ? 0 : 1], [429, 1], refused.text)
        XCTAssertEqual(refused.code, "REQUEST_BACKOFF")
    }

    func testAnActivationTokenIsOfItsUserAndGoodOnce() async throws {
        let server = try await server { $0.pinLength = 5 }
        let client = TrustClient(backend: server.backend)
        let token = try client.activationToken(user)
        let keys = try TrustClient.KeyPair()
        XCTAssertEqual(try client.enrol("bob@example.com", token, keys.publicKey).code, "INVALID_ACTIVATION_TOKEN")
        XCTAssertEqual(try client.enrol(user, token + "0", keys.publicKey).code, "INVALID_ACTIVATION_TOKEN")
        let answer: TrustRegistrationResponse = try client.enrol(user, token, keys.publicKey).json()
        XCTAssertEqual([answer.projectId, answer.curve], ["proj-1", "BN254CX"])
        XCTAssertEqual(answer.pinLength, 5)
        let names = try JSONDecoder().decode([String].self, from: XCTUnwrap(Data(base64Encoded: answer.dtas)))
        XCTAssertEqual(names.map(\.count), [64, 64])
        XCTAssertEqual(try client.enrol(user, token, keys.publicKey).code, "INVALID_ACTIVATION_TOKEN")
        server.advance(seconds: 300)
        let late = try client.activationToken(user)
        server.advance(seconds: 601)
        XCTAssertEqual(try client.enrol(user, late, keys.publicKey).code, "INVALID_ACTIVATION_TOKEN")
    }

    /// The M-Pin ID has the members of version 5 in their order (TRUST wire section 2.1).
    func testTheMPinIDIsOfVersion5() async throws {
        let server = try await server()
        let device = try TrustClient(backend: server.backend).register("a/b@example.com")
        let text = String(decoding: try XCTUnwrap(Hex.decode(device.id)), as: UTF8.self)
        let form =
            /\{"iat":[0-9]{10},"userID":"a\/b@example.com","cID":"proj-1","salt":"[A-Za-z0-9+\/]{22}==","v":5,"scope":\["auth"\],"dta":\[\],"vt":"em"\}/
        XCTAssertNotNil(text.wholeMatch(of: form), text)
    }

    /// TRUST wire section 10, item 1: a public key is a point of order r. A bad one does not use up the token.
    func testAPublicKeyIsAPointOfOrderR() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let token = try client.activationToken(user)
        let good = try TrustClient.KeyPair().publicKey
        var offCurve = good
        offCurve[127] ^= 1
        let vectors = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("Vectors/bn254cx-negative.json"), encoding: .utf8)
        let outside = try XCTUnwrap(Self.bytes("g2_decode-007", in: vectors))
        let none = [UInt8](repeating: 0, count: 128)
        for key in [[], Array(good.dropLast()), good + [0], offCurve, outside, none] {
            let refused = try client.enrol(user, token, key)
            XCTAssertEqual([refused.code, refused.context["params"]], ["INVALID_REQUEST_PARAMETERS", "publicKey"])
        }
        XCTAssertEqual(try client.enrol(user, token, good).status, 200)
    }

    private static func bytes(_ id: String, in vectors: String) -> [UInt8]? {
        guard let start = vectors.range(of: "\"\(id)\""),
            let hex = vectors[start.upperBound...].firstMatch(of: /"bytes": *"([0-9a-f]{256})"/)
        else { return nil }
        return Hex.decode(String(hex.1))
    }

    /// TRUST wire section 10, item 4: a secret URL is for one identity and key, signed for one D-TA, and short-lived.
    func testASecretURLIsForOneIdentityAndAMinute() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let token = try client.activationToken(user)
        let answer: TrustRegistrationResponse = try client.enrol(user, token, TrustClient.KeyPair().publicKey).json()
        let second = try XCTUnwrap(answer.secretUrls.last)
        XCTAssertTrue(second.hasPrefix("http://127.0.0.1:\(server.backend.dta2Port)/dvsClientSecret?"), second)
        let shares = try answer.secretUrls.map { try client.get($0) }
        XCTAssertEqual(shares.map(\.status), [200, 200])
        XCTAssertNotEqual(shares[0].text, shares[1].text)
        let compared = try AuditComparison([("here", AuditPlace(stateDir: server.backend.stateFolder))])
        XCTAssertEqual([compared.shares, compared.findings.count], [2, 0])
        XCTAssertEqual(try client.get(second).text.count, shares[1].text.count, "clients repeat a lost request")
        let hash = try XCTUnwrap(second.firstMatch(of: /hash_mpin_id=([0-9a-f]{64})/)?.1)
        for url in answer.secretUrls {
            let other = url.replacing(hash, with: String(repeating: "0", count: 64))
            XCTAssertEqual(try client.get(other).status, 401)
            XCTAssertEqual(try client.get(url.replacing("dvsClientSecret", with: "clientSecret")).status >= 400, true)
        }
        let query = try XCTUnwrap(answer.secretUrls[0].components(separatedBy: "?").last)
        let crossed = try client.get("http://127.0.0.1:\(server.backend.dta2Port)/dvsClientSecret?" + query)
        XCTAssertEqual(crossed.status, 401, "the D-TAs have keys of their own")
        server.advance(seconds: 61)
        XCTAssertEqual(try answer.secretUrls.map { try client.get($0).status }, [408, 408])
    }

    /// Pages of a project's origins may read its answers, and no others; unknown members of a query are ignored.
    func testCORSIsByProject() async throws {
        let server = try await server { $0.origins = ["https://app.example"] }
        _ = try await server.projects().add("other", ProjectChange())
        func allowed(_ target: String, _ origin: String, _ method: String = "OPTIONS", _ more: [String: String] = [:])
            throws -> [String?]
        {
            let answer = try server.backend.call(
                method, target, method == "POST" ? "{}" : nil, headers: ["Origin": origin].merging(more) { $1 })
            return [answer.headers["access-control-allow-origin"], answer.headers["access-control-allow-headers"]]
        }
        let own = "https://app.example"
        let names = "Content-Type, X-MIRACL-CID, X-MIRACL-CLIENT, X-MIRACL-DEVICE-NAME, X-MIRACL-DEVICE-TAG"
        for path in ["/rps/v2/pass1", "/verification/email", "/registration", "/pushauth"] {
            XCTAssertEqual(try allowed(path + "?project_id=proj-1&x=y", own), [own, names], path)
            XCTAssertEqual(try allowed(path, own, "POST", ["X-MIRACL-CID": "proj-1"]), [own, names], path)
            for foreign in [
                "https://evil.example", own + ".evil.example", own + ":8443", "https://evil-app.example",
                "http://app.example", "null", "",
            ] {
                XCTAssertEqual(try allowed(path + "?project_id=proj-1", foreign), [nil, nil], path + foreign)
            }
            for query in ["", "?project_id=other", "?project_id=none", "?project_id=%00"] {
                XCTAssertEqual(try allowed(path + query, own), [nil, nil], path + query)
            }
        }
        XCTAssertEqual(try allowed("/dta1/dvsClientSecret", own), [own, names])
        for path in ["/rps/v2/signature/7b7d?regOTT=00&", "/rps/v2/clientSettings?"] {
            XCTAssertEqual(try allowed(path + "project_id=proj-1", own, "GET"), [own, names], path)
            XCTAssertEqual(try allowed(path, own, "GET"), [nil, nil], path)
        }
        XCTAssertEqual(try allowed("/verification?project_id=proj-1", own, "POST"), [own, names])
    }

    func testBadRequestsGetErrorsOfTheWire() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let cases: [(String, [String: Any], String, String?)] = [
            ("/verification/email", [:], "INVALID_REQUEST_BODY", "userId"),
            ("/verification/email", ["userId": 5], "INVALID_REQUEST_BODY", "userId"),
            ("/verification/email", ["userId": "", "projectId": "proj-1"], "INVALID_REQUEST_PARAMETERS", "userId"),
            (
                "/verification/email", ["userId": "a\u{200b}", "projectId": "proj-1"], "INVALID_REQUEST_PARAMETERS",
                "userId"
            ),
            (
                "/verification/email", ["userId": "a@b.example", "projectId": "x"], "INVALID_REQUEST_PARAMETERS",
                "projectId"
            ),
            ("/rps/v2/session", ["projectId": "none"], "INVALID_REQUEST_PARAMETERS", "projectId"),
            ("/registration", ["userId": "a"], "INVALID_REQUEST_BODY", "activationToken"),
            ("/rps/v2/pass1", ["scope": "jwt"], "INVALID_REQUEST_BODY", "scope"),
            ("/pushauth?client_id=x", ["prerollId": "a"], "NO_PUSH_TOKEN", nil),
        ]
        for (path, body, code, parameter) in cases {
            let answer = try client.post(path, body)
            XCTAssertEqual(answer.status, 400, path)
            XCTAssertEqual([answer.code, answer.context["params"]], [code, parameter], "\(path) \(body)")
            XCTAssertEqual(answer.object["requestID"] as? String, answer.headers["x-request-id"])
            XCTAssertNotNil(answer.object["info"] as? String)
        }
        let text = try server.backend.call("POST", "/registration", "x", headers: ["X-MIRACL-CID": "proj-1"])
        XCTAssertEqual([text.code, text.context["params"]], ["INVALID_REQUEST_BODY", nil])
        XCTAssertEqual(try client.get("/registration").status, 405)
    }
}
