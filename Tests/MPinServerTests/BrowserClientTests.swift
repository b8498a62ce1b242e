import Foundation
import MPinServer
import MPinService
import XCTest

/// Tests the options of the client for browsers, and the name of a browser. Tests/EndToEnd has the rest, with browsers.
final class BrowserClientTests: XCTestCase {
    private var folder = ""

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "client-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func error(_ arguments: [String]) throws -> String {
        let all = ["--all-in-one", "--state-dir", folder + "/state", "--mail-dir", folder]
        do {
            _ = try SettingsReader(.serve).read(arguments: all + arguments, environment: [:]).parts()
        } catch { return "\(error)" }
        throw Sockets.Failure(text: "no error for \(arguments)")
    }

    func testAFolderWithoutTheClientIsNamed() throws {
        XCTAssertTrue(try error(["--browser-client", folder]).contains("has no page-client.js"))
        let client = try error(["--browser-client", "none", "--client-origin", "https://id.example.com"])
        XCTAssertTrue(client.contains("--client-origin needs --browser-client"), client)
    }

    func testAnOriginIsNoOtherURL() throws {
        for text in ["id.example.com", "http://id.example.com", "https://id.example.com/", "https://a/b", "https://a?"]
        {
            let error = try error(["--client-origin", text])
            XCTAssertTrue(error.contains("client-origin") && error.contains("without a path"), error)
        }
    }

    func testBrowsersHaveTheNamesThatPeopleKnow() {
        let gecko = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
        let edge = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0"
        let phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Safari/604.1"
        XCTAssertEqual(WaitingBrowser.Place.program(gecko), "Firefox, Linux")
        XCTAssertEqual(WaitingBrowser.Place.program(edge), "Edge, Windows")
        XCTAssertEqual(WaitingBrowser.Place.program(phone), "Safari, iPhone")
        // The system of a phone names the one that it is made of, too.
        let android = "Mozilla/5.0 (Linux; Android 15; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko)"
        let samsung = android + " SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36"
        XCTAssertEqual(WaitingBrowser.Place.program(samsung), "Samsung Internet, Android")
        XCTAssertEqual(WaitingBrowser.Place.program(android + " Chrome/140.0 Mobile Safari/537.36"), "Chrome, Android")
        XCTAssertEqual(WaitingBrowser.Place.program("curl/8.0"), "")
    }
}
