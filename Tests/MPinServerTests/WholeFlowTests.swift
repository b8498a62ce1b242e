import Foundation
import XCTest

/// Tests a registration and a login from beginning to end, over real sockets, with a mail in a file and its link.
final class WholeFlowTests: XCTestCase {
    func testRegistersByMailAndLogsInWithThePIN() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        XCTAssertFalse(registration.active)
        XCTAssertEqual(try client.signature(registration).status, 401, "not confirmed yet")

        let link = try server.backend.link(to: "alice@example.com")
        let page = try server.backend.call("GET", link)
        XCTAssertEqual(page.status, 200)
        XCTAssertTrue(page.text.contains("alice@example.com"))
        XCTAssertEqual(try client.signature(registration).status, 401, "looking at the link confirms nothing")
        XCTAssertTrue(try server.backend.call("POST", link, "").text.contains("Confirmed"))

        let user = try client.finishRegistration(registration, pin: "1234")
        let wrong = try client.login(user, pin: "1235")
        XCTAssertEqual(wrong.status, 401)
        XCTAssertEqual(wrong.object["message"] as? String, "Wrong PIN.")
        XCTAssertEqual(wrong.headers["www-authenticate"], "Authenticate")
        let right = try client.login(user, pin: "1234")
        XCTAssertEqual(right.status, 200)
        XCTAssertEqual(right.object["userId"] as? String, "alice@example.com")
    }
}
