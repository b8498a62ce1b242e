import Foundation
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import MPinWire
import XCTest

/// Tests that a user of a project takes nothing from the user of the server with the same user id, and that the server's
/// rules for mail addresses are not for users of projects.
final class ProjectUserSeparateTests: XCTestCase {
    private let user = "victim@example.com"

    private func server() async throws -> InProcess { try await InProcess.trust(self, { $0.verification = .code }) }

    private func method(_ answer: Answer) -> String? { answer.object["method"] as? String }

    private func suspend(_ name: String, _ server: InProcess) async throws {
        let made = try await server.users().suspend(
            user: name, reason: "test", by: "operator", until: nil, audit: .off)
        XCTAssertEqual(made.user, name)
    }

    func testTheOperatorSuspendsEachByItsName() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let (own, projects) = (try client.register(user), try await server.verified(user))
        for (name, suspended, other) in [(user, own, projects), ("proj-1/" + user, projects, own)] {
            try await suspend(name, server)
            XCTAssertNotEqual(try client.login(suspended).status, 200, name)
            XCTAssertEqual(try client.login(other).status, 200, name)
            let listed = try await server.users().listSuspensions(after: nil, limit: 10)
            XCTAssertEqual(listed.map(\.user), [name])
            let next = try await server.users().listSuspensions(after: name, limit: 10)
            XCTAssertEqual(next.map(\.user), [])
            let states = try await server.users().find(user: name).map(\.state)
            XCTAssertEqual(states, ["suspended"])
            let ended = try await server.users().resume(user: name, audit: .off)
            XCTAssertEqual(ended?.user, name)
            XCTAssertEqual(try client.login(suspended).status, 200, name)
        }
    }

    /// Nobody need be registered to be suspended.
    func testASuspendedUserOfAProjectRegistersNothing() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let begun = try await server.initiate(user).get()
        try await suspend("proj-1/" + user, server)
        let refused = try await server.initiate(user)
        XCTAssertThrowsError(try refused.get())
        let key = try TrustClient.KeyPair().publicKey
        XCTAssertEqual(try client.enrol(user, begun.actToken, key).status, 403)
        XCTAssertEqual(try client.login(client.register(user)).status, 200, "the one with the mailbox is not")
        _ = try await server.users().resume(user: "proj-1/" + user, audit: .off)
        XCTAssertEqual(try client.enrol(user, begun.actToken, key).status, 200, "the token is left")
    }

    /// A device of the project's user is none of the mailbox, whose first device gets a short code.
    func testADeviceOfAProjectsUserIsNoneOfTheMailbox() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        _ = try await server.verified(user)
        XCTAssertEqual(method(try client.verify(user)), "code")
        let confirmed = try client.confirm(user, client.code(user)).object
        let own = try client.register(user, token: XCTUnwrap(confirmed["actToken"] as? String))
        server.advance(seconds: 301)
        XCTAssertEqual(method(try client.verify(user)), "link")
        let devices = try await server.users().find(user: user).map(\.identity)
        XCTAssertEqual(devices, [own.key])
    }

    /// The back end tells its users apart itself: another spelling is another user, and never one with a mailbox.
    func testAProjectsUserHasTheSpellingOfItsBackEnd() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        _ = try client.register(user)
        var keys: [String: String] = [:]
        for name in ["Victim@example.com", "VICTIM@example.com."] { keys[name] = try await server.verified(name).key }
        for (name, key) in keys {
            let found = try await server.users().find(user: "proj-1/" + name).map(\.identity)
            XCTAssertEqual(found, [key], name)
            let opened: TrustSessionResponse = try client.post("/rps/v2/session", ["userId": name]).json()
            let end = try client.post("/rps/v2/access", ["webOTT": opened.webOTT]).object
            XCTAssertEqual(end["userId"] as? String, name, "the session is for the project's user")
        }
        let own = try await server.users().find(user: user)
        XCTAssertEqual(own.count, 1)
        // Who has the token of one user is not another one.
        let begun = try await server.initiate("Eve@example.com").get()
        _ = try client.register("eve@example.com")
        let key = try TrustClient.KeyPair().publicKey
        XCTAssertEqual(try client.enrol("EVE@example.com", begun.actToken, key).code, "INVALID_ACTIVATION_TOKEN")
    }

    /// The back end can make as many QuickCodes of its user as it likes, and try wrong ones.
    func testWrongCodesOfAProjectsUserAreNotThoseOfTheMailbox() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let (own, device) = (try client.register(user), try await server.verified(user))
        let key = try TrustClient.KeyPair().publicKey
        for round in 0..<5 {
            let code = try XCTUnwrap(client.quickCode(device).object["code"] as? String)
            for source in [2, 2, 3, 3, 4] as [UInt16] {
                let guess = TrustClient(backend: server.backend.from(source))
                let wrong = code == "000000" ? "000001" : "000000"
                XCTAssertEqual(try guess.enrol(user, wrong, key).status, 400, "\(round)")
            }
        }
        let void = try XCTUnwrap(client.quickCode(device).object["code"] as? String)
        XCTAssertEqual(try client.enrol(user, void, key).code, "INVALID_ACTIVATION_TOKEN", "its own are used up")
        let code = try XCTUnwrap(client.quickCode(own).object["code"] as? String)
        XCTAssertEqual(try client.enrol(user, code, key).status, 200)
        server.advance(seconds: 301)
        XCTAssertEqual(method(try client.verify(user, ["mpinId": own.id])), "code")
    }

    /// A QuickCode or a link of one is not in the place of the other's.
    func testCodesOfBothAreGoodAtOnce() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let (own, device) = (try client.register(user), try await server.verified(user))
        let codes = try [own, device].map { try XCTUnwrap(client.quickCode($0).object["code"] as? String) }
        for code in codes { _ = try client.register(user, token: code) }
        for name in [user, "proj-1/" + user] {
            let found = try await server.users().find(user: name)
            XCTAssertEqual(found.count, 2, name)
        }
        server.advance(seconds: 301)
        XCTAssertEqual(try client.verify(user).status, 200)
        let bearer = "Bearer " + (try await server.serviceToken("link", project: "proj-1"))
        let made = try client.call(
            "POST", "/verification", ["projectId": "proj-1", "userId": user], authorization: bearer)
        let link = try XCTUnwrap((made.object["verificationURL"] as? String)?.components(separatedBy: "code=").last)
        for (code, name) in [(try client.code(user), user), (link, "proj-1/" + user)] {
            let token = try XCTUnwrap(client.confirm(user, code).object["actToken"] as? String, name)
            let key = try client.register(user, token: token).key
            let found = try await server.users().find(user: name).map(\.identity)
            XCTAssertTrue(found.contains(key), name)
        }
    }

    /// Operators name a user of a project by `PROJECT/USER`, also for a one-time code.
    func testACodeOfTheOperatorIsForTheUserThatItNames() async throws {
        let server = try await server()
        let users = try await server.users()
        _ = try await users.issueCode(user: "proj-1/" + user, seconds: 60, audit: .off)
        let none = try await users.export(user: user)
        XCTAssertNil(none)
        let export = try await users.export(user: "proj-1/" + user)
        XCTAssertEqual(export?.user, "proj-1/" + user)
    }
}
