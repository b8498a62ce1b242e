import Foundation
import LoopbackServer
import MPinHTTP
import XCTest

/// A mail server on a real loopback socket. It takes one mail for each connection.
private final class MailServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let answers: [String: String]
    private let transcript = Locked<[String]>([])

    /// Starts the server. `answers` replaces the usual answers to the commands that begin with these words; `greeting`
    /// stands for the first line, before any command.
    init(_ answers: [String: String] = [:]) throws {
        (listener, port) = try listenOnLoopback()
        self.answers = answers
        Thread.detachNewThread { [self] in
            defer { close(listener) }
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                serve(connection)
                close(connection)
            }
        }
    }

    var url: String { "smtp://127.0.0.1:\(port)" }
    /// Every received line, without its line end.
    var lines: [String] { transcript.withLock { $0 } }
    /// The lines of the message, without the dots that SMTP puts before a line that begins with a dot.
    var message: [String] {
        let lines = self.lines
        guard let start = lines.firstIndex(of: "DATA"), let end = lines.firstIndex(of: ".") else { return [] }
        return lines[(start + 1)..<end].map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 }
    }

    /// Ends the accepting thread, which then closes the socket.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func serve(_ connection: Int32) {
        var isInData = false
        _ = send(Array((answers["greeting"] ?? "220 test ESMTP\r\n").utf8), to: connection)
        var pending: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            pending += chunk.prefix(count)
            while let end = Data(pending).range(of: Data([13, 10])) {
                let line = String(decoding: pending[..<end.lowerBound], as: UTF8.self)
                pending.removeFirst(end.upperBound)
                transcript.withLock { $0.append(line) }
                if isInData && line != "." { continue }
                let command = isInData ? "." : String(line.prefix { $0 != " " && $0 != ":" })
                isInData = command == "DATA" && answers["DATA"] == nil
                guard send(Array(answer(command).utf8), to: connection), command != "QUIT" else { return }
            }
        }
    }

    private func answer(_ command: String) -> String {
        if let answer = answers[command] { return answer }
        switch command {
        case "DATA": return "354 go on\r\n"
        case "QUIT": return "221 bye\r\n"
        default: return "250 ok\r\n"
        }
    }
}

final class SMTPTests: XCTestCase {
    private let mail = Mail(from: "mpin@example.com", to: "alice@example.com", subject: "Confirm", text: "Hello\n")

    private func server(_ answers: [String: String] = [:]) throws -> MailServer {
        let server = try MailServer(answers)
        addTeardownBlock { server.stop() }
        return server
    }

    private func failure(_ mail: Mail, url: String, user: String? = nil, milliseconds: UInt32 = 20_000) -> SMTPFailure?
    {
        do throws(SMTPFailure) {
            try SMTP.send(
                mail, server: SMTPServer(url: url, user: user, password: "p"),
                deadline: .after(milliseconds: milliseconds))
            return nil
        } catch { return error }
    }

    func testMailArrivesWithEnvelopeAndHeaders() throws {
        let server = try server()
        let link = "https://example.com/mpinActivate?i=\(String(repeating: "7b", count: 200))&e=1&s=2"
        var mail = mail
        mail.text = "Open:\n\n\(link)\n.\n..dots\nend"
        XCTAssertNil(failure(mail, url: server.url))
        XCTAssertTrue(server.lines.contains("MAIL FROM:<mpin@example.com>"))
        XCTAssertTrue(server.lines.contains("RCPT TO:<alice@example.com>"))
        let message = server.message
        let split = try XCTUnwrap(message.firstIndex(of: ""))
        let headers = Dictionary(
            uniqueKeysWithValues: message[..<split].map { line -> (String, String) in
                let parts = line.components(separatedBy: ": ")
                return (parts[0], parts.dropFirst().joined(separator: ": "))
            })
        XCTAssertEqual(headers["From"], "<mpin@example.com>")
        XCTAssertEqual(headers["To"], "<alice@example.com>")
        XCTAssertEqual(headers["Subject"], "Confirm")
        XCTAssertEqual(headers["MIME-Version"], "1.0")
        XCTAssertEqual(headers["Content-Type"], "text/plain; charset=utf-8")
        XCTAssertEqual(headers["Content-Transfer-Encoding"], "7bit")
        XCTAssertNotNil(headers["Message-ID"]?.range(of: "^<[0-9a-f]{32}@example.com>$", options: .regularExpression))
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "EEE, d MMM yyyy HH:mm:ss Z"
        let date = try XCTUnwrap(headers["Date"].flatMap(format.date(from:)))
        XCTAssertLessThan(abs(date.timeIntervalSinceNow), 60)
        XCTAssertEqual(Array(message[(split + 1)...]), ["Open:", "", link, ".", "..dots", "end"])
    }

    func testTextInOtherScriptsArrivesUnchanged() throws {
        let server = try server()
        var mail = mail
        mail.text = "Grüße, żółw, 你好\n"
        mail.subject = "Bestätigung für 你好 " + String(repeating: "ü", count: 60)
        XCTAssertNil(failure(mail, url: server.url))
        let message = server.message
        XCTAssertTrue(message.contains("Grüße, żółw, 你好"))
        XCTAssertTrue(message.contains("Content-Transfer-Encoding: 8bit"))
        let start = try XCTUnwrap(message.firstIndex { $0.hasPrefix("Subject: ") })
        let lines = [String(message[start].dropFirst(9))] + message[(start + 1)...].prefix { $0.hasPrefix(" ") }
        let words = lines.map { $0.trimmingCharacters(in: .whitespaces) }
        let decoded = words.map { word -> String in
            XCTAssertLessThanOrEqual(word.utf8.count, 75)
            let inner = word.dropFirst("=?utf-8?B?".count).dropLast(2)
            return String(decoding: Data(base64Encoded: String(inner)) ?? Data(), as: UTF8.self)
        }
        XCTAssertEqual(decoded.joined(), mail.subject)
    }

    /// The subject looks like an encoded word. If it were sent as it is, a mail program would decode it and show
    /// another subject.
    func testASubjectThatReadsLikeAnEncodedWordIsEncodedItself() throws {
        let server = try server()
        var mail = mail
        mail.subject = "=?utf-8?B?YQ==?="
        XCTAssertNil(failure(mail, url: server.url))
        let encoded = Data(mail.subject.utf8).base64EncodedString()
        XCTAssertTrue(server.message.contains("Subject: =?utf-8?B?\(encoded)?="))
    }

    func testLinesTooLongForMailTravelInBase64() throws {
        let server = try server()
        var mail = mail
        mail.text = String(repeating: "x", count: 2000) + "\nend\n"
        XCTAssertNil(failure(mail, url: server.url))
        let message = server.message
        XCTAssertTrue(message.contains("Content-Transfer-Encoding: base64"))
        let split = try XCTUnwrap(message.firstIndex(of: ""))
        let body = message[(split + 1)...]
        XCTAssertTrue(body.allSatisfy { $0.count <= 76 })
        let text = String(decoding: Data(base64Encoded: body.joined()) ?? Data(), as: UTF8.self)
        XCTAssertEqual(text, mail.text.replacingOccurrences(of: "\n", with: "\r\n"))
    }

    func testInjectionIsRefusedAndNothingSent() throws {
        let server = try server()
        let bad = [
            "a@b\r\nBcc: c@d", "a@b\nc", "a@b>", "<a@b", "a b@c", "a@b,c@d", "", "a", "@b", "a@", "a@b@c", "a@b\u{0}",
        ]
        for address in bad {
            var mail = mail
            mail.to = address
            XCTAssertEqual(failure(mail, url: server.url), .invalidAddress, address)
            mail = self.mail
            mail.from = address
            XCTAssertEqual(failure(mail, url: server.url), .invalidAddress, address)
        }
        for subject in ["a\r\nBcc: c@d", "a\nb", "a\rb", "a\u{0}b"] {
            var mail = mail
            mail.subject = subject
            XCTAssertEqual(failure(mail, url: server.url), .invalidSubject, subject)
        }
        XCTAssertEqual(server.lines, [])
    }

    func testServerThatRefusesIsAFailure() throws {
        for (command, answer) in [
            ("greeting", "554 no\r\n"), ("MAIL", "550 no\r\n"), ("RCPT", "550 no\r\n"), (".", "552 no\r\n"),
        ] {
            let server = try server([command: answer])
            guard case .network(let text) = failure(mail, url: server.url) else { return XCTFail(command) }
            XCTAssertTrue(text.contains(server.url), text)
        }
    }

    func testSilentServerEndsAtTheDeadline() throws {
        let server = try server(["greeting": ""])
        XCTAssertEqual(failure(mail, url: server.url, milliseconds: 300), .timedOut)
    }

    func testNoServerAndNoMailURL() {
        guard case .network = failure(mail, url: "smtp://127.0.0.1:1") else { return XCTFail("no failure") }
        for url in ["", "http://127.0.0.1", "127.0.0.1", "smtp://u:p@127.0.0.1"] {
            XCTAssertEqual(failure(mail, url: url), .invalidURL, url)
        }
    }

    func testTLSIsAskedForWhereItIsOffered() throws {
        let server = try server([
            "EHLO": "250-test\r\n250 STARTTLS\r\n", "STARTTLS": "454 later\r\n",
        ])
        _ = failure(mail, url: server.url)
        XCTAssertTrue(server.lines.contains("STARTTLS"), "\(server.lines)")
    }

    /// A connection to 0.0.0.0 reaches this machine, but 0.0.0.0 is not a loopback address, so the client must treat it
    /// like another machine. Without TLS it must not send the mail there, because an attacker on the way could have
    /// removed the server's offer of STARTTLS.
    func testWithoutTLSNoMailLeavesThisMachine() throws {
        let server = try server()
        guard case .network = failure(mail, url: "smtp://0.0.0.0:\(server.port)") else {
            return XCTFail("it was sent: \(server.lines)")
        }
        XCTAssertFalse(server.lines.contains { $0.hasPrefix("MAIL") }, "\(server.lines)")
    }

    func testEachMessageHasItsOwnID() throws {
        XCTAssertNotEqual(try mail.message(date: 0), try mail.message(date: 0))
        let text = String(decoding: try mail.message(date: 951_782_400), as: UTF8.self)
        XCTAssertTrue(text.contains("Date: Tue, 29 Feb 2000 00:00:00 +0000\r\n"), text)
    }
}
