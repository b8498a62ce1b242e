import MPinSecrets
import MPinServer
import XCTest

/// Tests that the admin API refuses what an operation does not know: a misspelt restriction must not be ignored.
final class AdminInputTests: AdminAPITestCase {
    /// An operation, with the names of its parameters and a body that it takes.
    private typealias Operation = (method: String, target: String, body: String?)

    /// All operations but those that make something.
    private static let operations: [Operation] = [
        ("GET", "/users", nil), ("GET", "/users/alice%40example.com", nil),
        ("POST", "/users/alice%40example.com/block", "{}"), ("POST", "/users/alice%40example.com/unblock", "{}"),
        ("POST", "/users/alice%40example.com/revoke", "{}"), ("POST", "/users/alice%40example.com/renew", "{}"),
        ("GET", "/users/alice%40example.com/export", nil), ("DELETE", "/users/alice%40example.com", nil),
        ("POST", "/users/alice%40example.com/suspend", "{}"), ("POST", "/users/alice%40example.com/resume", nil),
        ("GET", "/suspensions", nil), ("GET", "/clients", nil), ("POST", "/clients", "{}"),
        ("GET", "/clients/blog", nil),
        ("PATCH", "/clients/blog", "{}"), ("DELETE", "/clients/blog", nil), ("POST", "/clients/blog/disable", nil),
        ("POST", "/clients/blog/rotate-secret", "{}"), ("GET", "/projects", nil),
        ("POST", "/projects/shop/tokens", "{}"), ("GET", "/projects/shop/tokens", nil),
        ("DELETE", "/projects/shop/tokens/back", nil), ("GET", "/sessions", nil), ("DELETE", "/sessions/x", nil),
        ("GET", "/users/alice%40example.com/sessions", nil), ("DELETE", "/users/alice%40example.com/sessions", nil),
        ("GET", "/signing-keys", nil), ("POST", "/signing-keys/rotate", nil), ("DELETE", "/signing-keys/x", nil),
        ("GET", "/audit", nil), ("POST", "/otp/verify", "{}"),
    ]

    func testNoOperationTakesWhatItDoesNotKnow() throws {
        let server = try start()
        let token = try token(server, "all", Set(AdminScope.allCases))
        _ = try TestClient(backend: server.backend).register("alice@example.com", pin: "1234")
        func refused(_ method: String, _ target: String, _ body: String? = nil, _ name: String) throws {
            let answer = try ask(server, method, target, body, token: token)
            XCTAssertEqual(answer.status, 400, "\(method) \(target) \(body ?? "")")
            XCTAssertTrue(answer.text.contains(name), answer.text)
        }
        for (method, target, body) in Self.operations {
            for name in ["state", "Limit", "identity", "everywere", ""] {
                try refused(method, "\(target)?\(name)=blocked", body, "\(name): no parameter")
            }
            let strange = #"{"identiy":"5f1c"}"#
            try refused(method, target, strange, body == nil ? "takes no body" : "identiy: no member")
        }
        for twice in ["/users?limit=1&limit=2", "/users?prefix=a&prefix=", "/audit?from=1&from=1"] {
            try refused("GET", twice, nil, "given twice")
        }
        try refused("GET", "/users?pref%69x=a", nil, "no parameter")
        let shown = try ask(server, "GET", "/users/alice%40example.com", token: token)
        XCTAssertTrue(shown.text.contains(#""state":"active""#), "nothing has happened to the user: \(shown.text)")
    }

    /// A program that has lost the identity sends null, or an empty text.
    func testARestrictionWithoutAValueIsNoRequestForAllDevices() throws {
        let server = try start()
        let token = try token(server, "desk", [.usersWrite])
        let client = TestClient(backend: server.backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        for change in ["block", "revoke", "renew", "unblock"] {
            for (body, status) in [
                (#"{"identiy":"5f1c"}"#, 400), (#"{"identity":null}"#, 400), (#"{"identity":""}"#, 404),
                (#"{"Identity":"5f1c"}"#, 400), (#"{"identity":["5f1c"]}"#, 400), ("null", 400), ("[]", 400),
                (#""5f1c""#, 400), (#"{"identity":"5f1c","identity":"5f1c"}"#, 400),
            ] {
                let answer = try ask(server, "POST", "/users/alice%40example.com/\(change)", body, token: token)
                XCTAssertEqual(answer.status, status, "\(change) \(body)")
            }
        }
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        let body = "{\"identity\":\"\(Hex.encode(alice.hash))\"}"
        let blocked = try ask(server, "POST", "/users/alice%40example.com/block", body, token: token)
        XCTAssertTrue(blocked.text.contains(#""state":"blocked""#), blocked.text)
    }
}
