import Foundation
import MPinSecrets
import MPinServer
import MPinWire
import XCTest

/// Tests the details of HTTP on which Milagro's clients and browser pages depend (wire section 2), and the limits.
final class HTTPTests: XCTestCase {
    func testSettingsHoldWhatOldClientsNeedAndMayNotBeCached() throws {
        let server = try InProcess()
        let answer = try server.backend.call("GET", "/rps/clientSettings")
        let settings = answer.object
        let expected: [String: String] = [
            "signatureURL": "/rps/signature", "registerURL": "/rps/user", "timePermitsURL": "/rps/timePermit",
            "setupDoneURL": "/rps/setupDone", "mpinAuthServerURL": "/rps", "authenticateURL": "/mpinAuthenticate",
            "mobileAuthenticateURL": "/rps/authenticate", "accessNumberURL": "/rps/access",
            "getAccessNumberURL": "/rps/getAccessNumber", "getQrUrl": "/rps/getQrUrl",
            "codeStatusURL": "/rps/codeStatus",
            "certivoxURL": "http://127.0.0.1:\(server.backend.dta2Port)/",
        ]
        for (name, value) in expected { XCTAssertEqual(settings[name] as? String, value, name) }
        XCTAssertEqual(settings["cSum"] as? Int, 1)
        XCTAssertEqual(settings["accessNumberDigits"] as? Int, 7)
        XCTAssertTrue(answer.text.contains("\"requestOTP\":false"))
        XCTAssertTrue(answer.text.contains("\"usePermits\":true"))
        XCTAssertNotNil((settings["appID"] as? String)?.wholeMatch(of: /[0-9a-f]{32}/))
        let seed = settings["seedValue"] as? String
        XCTAssertNotNil(seed?.wholeMatch(of: /[0-9a-f]{200}/))
        XCTAssertEqual(answer.headers["cache-control"], "no-cache, no-store, max-age=0, must-revalidate")
        XCTAssertEqual(answer.headers["pragma"], "no-cache")
        XCTAssertEqual(answer.headers["expires"], "Sat, 26 Jul 1997 05:00:00 GMT")
        let again = try server.backend.call("GET", "/rps/clientSettings")
        XCTAssertNotEqual(again.object["seedValue"] as? String, seed)
        XCTAssertEqual(again.object["appID"] as? String, settings["appID"] as? String)
    }

    /// Wire section 17, defect 15: in Milagro's server, URLs with a double slash gave 404. No URL of ours may have one
    /// after its host.
    func testNoURLInTheSettingsHasADoubleSlash() throws {
        let server = try InProcess()
        for (name, value) in try server.backend.call("GET", "/rps/clientSettings").object {
            guard let url = value as? String else { continue }
            XCTAssertFalse(url.replacing(/^http:\/\//, with: "").contains("//"), "\(name): \(url)")
        }
    }

    func testExpectIsAnsweredWithAnInterim100BeforeTheBodyIsSent() throws {
        let server = try InProcess()
        let file = try Sockets.connect(server.backend.port)
        defer { close(file) }
        let body = "{\"userId\":\"alice@example.com\",\"mobile\":1}"
        let head =
            "PUT /rps/user HTTP/1.1\r\nHost: h\r\nAccept: text/plain\r\nConnection: close\r\n"
            + "Content-Type: application/json; charset=UTF-8\r\nContent-Length: \(body.utf8.count)\r\n"
            + "Expect: 100-continue\r\n\r\n"
        Sockets.send(file, Data(head.utf8))
        let interim = String(decoding: try XCTUnwrap(Sockets.receive(file)), as: UTF8.self)
        XCTAssertEqual(interim, "HTTP/1.1 100 Continue\r\n\r\n")
        Sockets.send(file, Data(body.utf8))
        let answer = Sockets.parse(Sockets.receiveAll(file))
        XCTAssertEqual(answer.statuses, [200])
        XCTAssertEqual(answer.object["active"] as? Bool, false)
    }

    func testNoInterim100UnlessItWasAskedForAndNotForABodyThatIsTooLarge() throws {
        let server = try InProcess()
        for (method, target) in [("PUT", "/rps/user"), ("POST", "/rps/pass1"), ("GET", "/rps/clientSettings")] {
            let answer = try server.backend.call(method, target, method == "GET" ? nil : "{}")
            XCTAssertEqual(answer.statuses.count, 1, "\(method) \(target): \(answer.statuses)")
        }
        let head =
            "PUT /rps/user HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
            + "Content-Length: 70000\r\nExpect: 100-continue\r\n\r\n"
        let file = try Sockets.connect(server.backend.port)
        defer { close(file) }
        Sockets.send(file, Data(head.utf8))
        let first = Sockets.parse(try XCTUnwrap(Sockets.receive(file)))
        XCTAssertEqual(first.statuses, [413])
    }

    func testAnyContentTypeAndAcceptAndTabsAreTaken() throws {
        let server = try InProcess()
        let body = "\t{\r\n\t\"mobile\"\t:\t1 ,\n\t\"userId\" : \"alice@example.com\"\n}\n"
        for type in ["application/json; charset=UTF-8", "application/x-www-form-urlencoded", "text/plain", "nonsense"] {
            let headers = ["Content-Type": type, "Accept": "image/png", "Accept-Encoding": "gzip, deflate"]
            let answer = try server.backend.call("PUT", "/rps/user", body, headers: headers)
            XCTAssertEqual(answer.status, 200, type)
            XCTAssertNil(answer.headers["content-encoding"], "never compressed")
        }
    }

    func testChunkedBodiesAndOldHTTPVersionsAreServed() throws {
        let server = try InProcess()
        let chunked =
            "PUT /rps/user HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "5\r\n{\"use\r\n19\r\nrId\":\"alice@example.com\"}\r\n0\r\n\r\n"
        XCTAssertEqual(try Sockets.raw(server.backend.port, Data(chunked.utf8)).status, 200)
        let old = "GET /rps/clientSettings HTTP/1.0\r\n\r\n"
        let file = try Sockets.connect(server.backend.port)
        defer { close(file) }
        Sockets.send(file, Data(old.utf8))
        XCTAssertEqual(Sockets.parse(try XCTUnwrap(Sockets.receive(file))).status, 200)
    }

    func testAChunkedBodyBeyondTheLimitIsRefused() throws {
        let server = try InProcess()
        var request = Data(
            "PUT /rps/user HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        for _ in 0..<17 { request += Data("1000\r\n".utf8) + Data(repeating: 32, count: 4096) + Data("\r\n".utf8) }
        XCTAssertEqual(try Sockets.raw(server.backend.port, request + Data("0\r\n\r\n".utf8)).status, 413)
        XCTAssertEqual(try server.backend.call("GET", "/rps/clientSettings").status, 200)
    }

    func testTooManyOrTooLargeHeadersAreRefusedAndTheServerGoesOn() throws {
        let server = try InProcess()
        let many = (0..<200).map { "X-H\($0): 1\r\n" }.joined()
        let large = "X-Large: " + String(repeating: "a", count: 20_000) + "\r\n"
        for headers in [many, large, "Content-Length: 3\r\nContent-Length: 4\r\n", "Content-Length: -1\r\n"] {
            let request = "GET /rps/clientSettings HTTP/1.1\r\nHost: h\r\n\(headers)\r\n"
            let answer = try Sockets.raw(server.backend.port, Data(request.utf8))
            XCTAssertTrue((400..<500).contains(answer.status), "\(answer.status)")
        }
        XCTAssertEqual(try Sockets.raw(server.backend.port, Data("rubbish\r\n\r\n".utf8)).status, 400)
        XCTAssertEqual(try server.backend.call("GET", "/rps/clientSettings").status, 200)
    }

    func testAConnectionServesManyRequests() throws {
        let server = try InProcess()
        let one = "GET /rps/clientSettings HTTP/1.1\r\nHost: h\r\n\r\n"
        let last = "GET /rps/clientSettings HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        let file = try Sockets.connect(server.backend.port)
        defer { close(file) }
        Sockets.send(file, Data((one + one + last).utf8))
        let text = String(decoding: Sockets.receiveAll(file), as: UTF8.self)
        XCTAssertEqual(text.components(separatedBy: "HTTP/1.1 200").count - 1, 3)
    }

    func testHEADIsAnsweredWithoutABody() throws {
        let server = try InProcess()
        let answer = try server.backend.call("HEAD", "/rps/clientSettings")
        XCTAssertEqual(answer.status, 405)
        XCTAssertTrue(answer.body.isEmpty)
    }

    func testOptionsAnswers200OnAnyPath() throws {
        let server = try InProcess()
        for (target, port) in [
            ("/rps/pass1", server.backend.port), ("/nope", server.backend.port), ("/x", server.backend.dta2Port),
        ] {
            let answer = try server.backend.call("OPTIONS", target, port: port)
            XCTAssertEqual(answer.status, 200)
            XCTAssertFalse(answer.object.isEmpty)
        }
    }

    /// Wire section 17, defect 11: Milagro's server searched for the origin anywhere in the text of the list, so it
    /// also accepted a part of an origin in the list.
    func testCORSNamesAnOriginOnlyIfItIsInTheListAsAWhole() throws {
        let server = try InProcess { $0.allowOrigin = ["https://app.example.com"] }
        func allowed(_ origin: String?) throws -> String? {
            let headers = origin.map { ["Origin": $0] } ?? [:]
            return try server.backend.call("GET", "/rps/clientSettings", headers: headers)
                .headers["access-control-allow-origin"]
        }
        XCTAssertEqual(try allowed("https://app.example.com"), "https://app.example.com")
        for origin in [
            "https://app.example.com.evil.net", "https://app.example", "app.example.com", "null", "https://",
        ] {
            XCTAssertNil(try allowed(origin), origin)
        }
        XCTAssertNil(try allowed(nil))
        let answer = try server.backend.call("GET", "/rps/nope")
        XCTAssertEqual(answer.headers["access-control-allow-credentials"], "true")
        XCTAssertEqual(answer.headers["access-control-allow-methods"], "GET,PUT,POST,DELETE,OPTIONS")
        XCTAssertEqual(
            answer.headers["access-control-allow-headers"],
            "Content-Type, Depth, User-Agent, X-File-Size, X-Requested-With, X-Requested-By, If-Modified-Since, "
                + "X-File-Name, Cache-Control, WWW-Authenticate")
        for target in ["/service", "/rps/pass1", "/rps/nope"] {
            let origin = "https://app.example.com"
            let asked = try server.backend.call("OPTIONS", target, headers: ["Origin": origin])
            XCTAssertEqual(asked.headers["access-control-allow-origin"], origin, target)
            XCTAssertEqual(asked.headers["vary"], "Origin", target)
            let methods = target == "/service" ? "GET, OPTIONS" : "GET,PUT,POST,DELETE,OPTIONS"
            XCTAssertEqual(asked.headers["access-control-allow-methods"], methods, "whoever serves the listener")
        }
        let authority = try server.backend.call("GET", "/status", port: server.backend.dta2Port)
        XCTAssertNil(authority.headers["access-control-allow-origin"])
        XCTAssertEqual(authority.headers["access-control-allow-methods"], "GET, OPTIONS")
    }

    func testWithoutAListNoOtherSitesPageMayReadAnything() throws {
        let server = try InProcess()
        for (target, port) in [
            ("/rps/clientSettings", server.backend.port), ("/", server.backend.port),
            ("/status", server.backend.dta2Port),
        ] {
            let answer = try server.backend.call("GET", target, headers: ["Origin": "https://any.example"], port: port)
            XCTAssertNil(answer.headers["access-control-allow-origin"], target)
        }
        // Pages of our own website may read answers of D-TA 2, because they fetch their second shares from it.
        let own = "http://127.0.0.1:\(server.backend.port)"
        let answer = try server.backend.call("GET", "/status", headers: ["Origin": own], port: server.backend.dta2Port)
        XCTAssertEqual(answer.headers["access-control-allow-origin"], own)
    }

    func testAnAsteriskStandsForEveryOrigin() throws {
        let server = try InProcess { $0.allowOrigin = ["*"] }
        let answer = try server.backend.call("GET", "/rps/clientSettings", headers: ["Origin": "https://any.example"])
        XCTAssertEqual(answer.headers["access-control-allow-origin"], "*")
    }

    func testSharesAndErrorsAreNotToBeStored() throws {
        let server = try InProcess()
        for (target, port) in [("/rps/nope", server.backend.port), ("/clientSecret", server.backend.dta2Port)] {
            let answer = try server.backend.call("GET", target, port: port)
            XCTAssertEqual(answer.headers["cache-control"], "no-store")
            XCTAssertEqual(answer.headers["x-content-type-options"], "nosniff")
            XCTAssertEqual(answer.headers["referrer-policy"], "no-referrer")
            XCTAssertEqual(answer.headers["x-frame-options"], "DENY")
            XCTAssertEqual(answer.headers["cross-origin-resource-policy"], "same-origin")
            XCTAssertTrue(answer.headers["content-security-policy"]?.hasPrefix("default-src 'none'") ?? false)
            XCTAssertNil(answer.headers["strict-transport-security"], "only over TLS")
        }
    }

    func testThePrivatePathsAreOnThePrivateListenerOnly() throws {
        let server = try InProcess()
        XCTAssertEqual(
            try server.backend.call("GET", "/rps/clientSettings", port: server.backend.privatePort).status, 404)
        XCTAssertEqual(try server.backend.call("GET", "/status").status, 404)
        XCTAssertEqual(try server.backend.callPrivate("GET", "/status").status, 200)
    }

    /// Wire section 17, defect 11: the logs of Milagro's servers contained tokens and ids.
    func testTheLogHoldsNoIDsTokensOrSharesEvenAtDebugLevel() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        let link = try server.backend.link(to: "alice@example.com")
        _ = try server.backend.call("POST", link, "")
        let secret = try client.clientSecret(registration)
        let user = try client.finishRegistration(registration, pin: "739184")
        let permit = try client.timePermit(user)
        let pass2 = try client.pass2(client.pass1(user, pin: "739184", permit: permit))
        XCTAssertEqual(try client.authenticate(pass2).status, 200)
        _ = try server.backend.call("GET", "/rps/nope/\(user.id)?regOTT=\(registration.regOTT)")
        let log = server.logText
        let secrets = [
            registration.regOTT, user.id, "alice@example.com", String(link.suffix(64)), Hex.encode(secret),
            Hex.encode(user.token), Hex.encode(permit.permit), "739184", "regOTT=", "signature=",
            try XCTUnwrap(pass2.object["authOTT"] as? String), Hex.encode(user.hash),
        ]
        for secret in secrets { XCTAssertFalse(log.contains(secret), secret) }
        XCTAssertTrue(log.contains("/rps/signature/{id}"), "routes are there as templates")
        for line in log.split(separator: "\n") {
            XCTAssertNotNil(try? JSONSerialization.jsonObject(with: Data(line.utf8)), String(line))
        }
    }
}
