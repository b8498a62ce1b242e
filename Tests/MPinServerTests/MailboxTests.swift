import Foundation
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import MPinWire
import XCTest

/// Tests that other spellings of a user id, and other users with the same mailbox, give nobody more than the user id itself.
final class MailboxTests: XCTestCase {
    private let user = "device@example.com"

    private func server() async throws -> InProcess { try await InProcess.trust(self, { $0.verification = .code }) }

    private func method(_ answer: Answer) -> String? { answer.object["method"] as? String }

    private func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }

    /// A further device gets no code of six digits, however the address is spelled.
    func testAFurtherDeviceOfAMailboxNeedsALink() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        for known in [user, "d.e@gmail.com"] { _ = try client.register(known) }
        for spelled in [
            "DEVICE@example.com", "Device@Example.COM.", "device+1@example.com", "DEVICE+a.b@example.com..",
            "de@googlemail.com", "D.e+x@GMail.com.",
        ] {
            server.advance(seconds: 301)
            XCTAssertEqual(method(try client.verify(spelled)), "link", spelled)
        }
        XCTAssertEqual(method(try client.verify("device2@example.com")), "code", "another mailbox")
    }

    /// An M-Pin ID is no secret, so it may not be worth more guesses than a mailbox has a day.
    func testADayHasTwentyWrongCodesForAMailbox() async throws {
        let server = try await server()
        var client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        for _ in 0..<4 {
            server.advance(seconds: 301)
            XCTAssertEqual(method(try client.verify(user, ["mpinId": device.id])), "code")
            let code = try client.code(user)
            for source in [2, 2, 2, 3, 3] as [UInt16] {
                client = TrustClient(backend: server.backend.from(source))
                XCTAssertEqual(try client.confirm(user, wrong(code)).status, 400)
            }
            XCTAssertEqual(try client.confirm(user, code).status, 400, "void")
        }
        client = TrustClient(backend: server.backend)
        let quick = try XCTUnwrap(client.quickCode(device).object["code"] as? String)
        let key = try TrustClient.KeyPair().publicKey
        XCTAssertEqual(try client.enrol(user, quick, key).code, "INVALID_ACTIVATION_TOKEN", "over all ways")
        server.advance(seconds: 301)
        XCTAssertEqual(method(try client.verify(user, ["mpinId": device.id])), "link")
        let link = try client.code(user)
        XCTAssertEqual(try client.confirm(user, link).status, 200)
        XCTAssertEqual(method(try client.verify("someone@example.com")), "code", "another mailbox")
        server.advance(seconds: 86_400)
        XCTAssertEqual(method(try client.verify(user, ["mpinId": device.id])), "code", "the next day")
        XCTAssertEqual(try client.confirm(user, client.code(user)).status, 200)
    }

    /// Five wrong tries make a code void. Of one stranger only three are looked at, so the user still has theirs.
    func testAStrangerDoesNotTakeACodeAway() async throws {
        let server = try await server()
        let (client, stranger) = (
            TrustClient(backend: server.backend), TrustClient(backend: server.backend.from(2))
        )
        _ = try client.verify(user)
        let code = try client.code(user)
        for _ in 0..<9 { XCTAssertEqual(try stranger.confirm(user, wrong(code)).status, 400) }
        XCTAssertEqual(try stranger.confirm(user, code).status, 400, "no more of this asker's tries are looked at")
        XCTAssertEqual(try client.confirm(user, wrong(code)).status, 400)
        XCTAssertEqual(try client.confirm(user, code).status, 200)
    }

    /// The code of a link cannot be guessed, so no wrong try makes it void; and what has another length is no try.
    func testALinkIsNotVoidedByGuesses() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        _ = try client.verify(user)
        let link = try client.code(user)
        for text in ["0", "000000", String(repeating: "0", count: 64)] {
            for source in 2...7 as ClosedRange<UInt16> {
                let stranger = TrustClient(backend: server.backend.from(source))
                XCTAssertEqual(try stranger.confirm(user, text).status, 400)
            }
        }
        XCTAssertEqual(try client.confirm(user, link).status, 200)
    }

    /// The client of a device shows the tag that it showed at the registration, instead of the M-Pin ID.
    func testATagOfTheDeviceIsWorthACode() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let keys = try TrustClient.KeyPair()
        let token = try client.activationToken(user)
        let members = ["userId": user, "activationToken": token, "publicKey": Hex.encode(keys.publicKey)]
        XCTAssertEqual(
            try client.post("/registration", members.merging(["deviceTag": "a1b2"]) { $1 }).status, 200)
        for (tag, expected) in [("a1b2", "code"), ("a1b3", "link"), ("", "link")] {
            server.advance(seconds: 301)
            XCTAssertEqual(method(try client.verify(user, ["deviceTag": tag])), expected, tag)
        }
    }

    func testAnotherSpellingIsTheSameUser() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let first = "Alice@Example.com"
        _ = try client.register(first)
        server.advance(seconds: 301)
        XCTAssertEqual(try client.verify("alice@example.com.").status, 200)
        let code = try client.code(first)
        let token = try XCTUnwrap(client.confirm("ALICE@example.com", code).object["actToken"] as? String)
        let second = try client.register("alice@EXAMPLE.com", token: token)
        XCTAssertEqual(MPinID(hex: second.id)?.userID, "alice@EXAMPLE.com", "as the client wrote it")
        let users = try await server.users()
        let devices = try await users.find(user: first)
        XCTAssertEqual(devices.count, 2)
        XCTAssertEqual(Set(devices.map(\.user)), [first])
        XCTAssertEqual(try client.login(second).status, 200)
        server.advance(seconds: 301)
        let other = try client.register("alice+work@example.com")
        XCTAssertEqual(try client.login(other).status, 200)
        let others = try await users.find(user: "alice+work@example.com")
        XCTAssertEqual(others.count, 1, "a tag makes another user")
    }

    /// The pages of a project may spell its user as they like.
    func testASessionForAnotherSpellingIsForTheUser() async throws {
        let server = try await InProcess.trust(self)
        let client = TrustClient(backend: server.backend)
        let device = try client.register(user)
        let opened: TrustSessionResponse = try client.post(
            "/rps/v2/session", ["projectId": "proj-1", "userId": "Device@example.com."]
        ).json()
        let wid = try XCTUnwrap(opened.qrURL.components(separatedBy: "#").last)
        XCTAssertEqual(try client.login(device, scope: "oidc", wid: wid).status, 200)
        let answer = try client.post("/rps/v2/access", ["webOTT": opened.webOTT])
        XCTAssertEqual(answer.object["status"] as? String, "authenticated")
        XCTAssertEqual(answer.object["userId"] as? String, user)
    }

    /// What looks like nothing, or like a blank, makes no new user: Unicode's White_Space and Default_Ignorable, blank
    /// glyphs, and blanks where nobody sees them.
    func testAUserIdWithBlanksThatNobodySeesIsRefused() async throws {
        let server = try await InProcess.trust(self, { $0.verification = .code })
        let client = TrustClient(backend: server.backend)
        let milagro = try InProcess { $0.delivery = .forceActivate }.keep(in: self)
        let inside: [Unicode.Scalar] = [
            "\u{A0}", "\u{1680}", "\u{2000}", "\u{2003}", "\u{200A}", "\u{2028}", "\u{202F}", "\u{205F}", "\u{3000}",
            "\u{2800}", "\u{3164}", "\u{115F}", "\u{1160}", "\u{FFA0}", "\u{303F}", "\u{13441}", "\u{13442}",
            "\u{16FE4}", "\u{1D159}", "\u{34F}", "\u{FE0F}", "\u{180B}",
        ]
        let names = inside.map { "a\(Character($0))b@example.com" } + [" a@example.com", "a@example.com ", "a  b", " "]
        for name in names {
            let refused = try client.verify(name)
            XCTAssertEqual([refused.code, refused.context["params"]], ["INVALID_REQUEST_PARAMETERS", "userId"], name)
            let answer = try milagro.backend.call("PUT", "/rps/user", "{\"mobile\":1,\"userId\":\(name.quoted)}")
            XCTAssertEqual(answer.status, 400, name.debugDescription)
        }
    }
}
