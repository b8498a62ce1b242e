import Foundation
import XCTest

/// Tests what the program tells a person who starts it for the first time.
final class BeginningTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    /// Runs the program. Returns its exit code and its whole output.
    private func run(_ arguments: [String]) throws -> (code: Int32, text: String) {
        let done = try Mpind.run(arguments)
        return (done.code, done.output + done.error)
    }

    func testWithoutArgumentsTheProgramSaysInFiveLinesHowToBegin() throws {
        let (code, text) = try run([])
        XCTAssertEqual(code, 64)
        XCTAssertEqual(text.split(separator: "\n", omittingEmptySubsequences: false).count, 6, "five, and the end")
        for word in [
            "mpind --all-in-one --state-dir state --mail-dir mail", "http://127.0.0.1:8005", "mpind help serve",
        ] {
            XCTAssertTrue(text.contains(word), text)
        }
        XCTAssertFalse(text.contains("error"), text)
    }

    func testHelpShowsTheOptionsOfEachPart() throws {
        for (name, option) in [
            (["serve"], "--state-dir FOLDER"), (["all-in-one"], "--state-dir FOLDER"), (["rps"], "--dta1-url URL"),
            (["rpa"], "--smtp-password-file FILE"), (["dta"], "--rps-key-file FILE"),
            (["dta", "run"], "--rps-key-file FILE"), (["dta"], "SUBCOMMANDS"), (["user", "list"], "--state-dir"),
        ] {
            let (code, text) = try run(["help"] + name)
            XCTAssertEqual(code, 0, text)
            XCTAssertTrue(text.contains(option), "\(name): \(text)")
        }
    }

    private func started(_ more: [String] = []) throws -> Mpind {
        var arguments = ["--all-in-one", "--state-dir", backend.stateFolder]
        for (name, port) in [
            ("port", backend.port), ("private-port", backend.privatePort), ("dta1-port", backend.dta1Port),
            ("dta2-port", backend.dta2Port),
        ] { arguments += ["--" + name, "\(port)"] }
        let mpind = try Mpind(arguments + more, backend.traffic)
        try mpind.waitUntilReady()
        return mpind
    }

    func testReadyNamesTheURL() throws {
        let first = try started()
        XCTAssertTrue(first.logText.contains("mpind is ready at http://127.0.0.1:\(backend.port)\""), first.logText)
        first.stop(SIGTERM)
        let second = try started(["--public-url", "http://localhost:\(backend.port)/"])
        XCTAssertTrue(second.logText.contains("mpind is ready at http://localhost:\(backend.port)\""), second.logText)
        second.stop(SIGTERM)
    }

    func testAFirstStartDoesNotWarnOfALostDatabaseAndALaterOneDoes() throws {
        let first = try started(["--mail-dir", backend.mailFolder])
        XCTAssertTrue(first.logText.contains("made a first master share"), first.logText)
        XCTAssertFalse(first.logText.contains("\"level\":\"warning\""), first.logText)
        XCTAssertFalse(first.logText.contains("restore"), first.logText)
        first.stop(SIGTERM)
        try FileManager.default.removeItem(atPath: backend.stateFolder + "/dta2.sqlite")
        // The RPS must not start, because its identities belong to the master secret that was lost with the D-TA's
        // database.
        let second = try Mpind(backend)
        second.waitForLog("restore its database")
        let lines = second.logText.split(separator: "\n").filter { $0.contains("\"level\":\"warning\"") }
        XCTAssertTrue(
            lines.contains { $0.contains("restore its database") && $0.contains("dta2.sqlite") }, second.logText)
        second.stop(SIGTERM)
    }

    /// A server that sends no mail must warn of it, because users would otherwise wait for a mail that never comes.
    func testAServerThatSendsNoMailSaysSoAtStartInTheCheckAndToUsersWhoRegister() throws {
        let checked = try run(["config", "check", "--all-in-one", "--state-dir", backend.stateFolder])
        XCTAssertEqual(checked.code, 0)
        XCTAssertTrue(checked.text.contains("warning: neither --smtp-url nor --mail-dir is given"), checked.text)
        let mpind = try started()
        XCTAssertTrue(mpind.logText.contains("neither --smtp-url nor --mail-dir is given"), mpind.logText)
        XCTAssertTrue(mpind.logText.contains(backend.stateFolder + "/mail\""), mpind.logText)
        let wish = "{\"mobile\":1,\"userId\":\"alice@example.com\"}"
        let answer = try backend.call("PUT", "/rps/user", wish)
        XCTAssertTrue((answer.object["message"] as? String)?.contains("sends no mails yet") ?? false, answer.text)
        mpind.stop(SIGTERM)
        for more in [["--mail-dir", backend.mailFolder], ["--force-activate"]] {
            let check = try run(["config", "check", "--all-in-one", "--state-dir", backend.stateFolder] + more)
            XCTAssertFalse(check.text.contains("warning"), check.text)
            let mpind = try started(more)
            XCTAssertFalse(mpind.logText.contains("neither --smtp-url"), mpind.logText)
            let answer = try backend.call("PUT", "/rps/user", wish)
            XCTAssertEqual(answer.status, 200)
            XCTAssertNil(answer.object["message"])
            mpind.stop(SIGTERM)
        }
    }
}
