import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import MPinWire
import XCTest

/// Tests registrations: requests, mails, confirmation and shares (wire sections 6.2, 6.3, 8.1 and 8.4).
final class RegistrationTests: XCTestCase {
    func testTheIDIsHexOfTheJSONTextThatOldClientsRead() throws {
        let server = try InProcess()
        let registration = try TestClient(backend: server.backend).startRegistration("alice@example.com")
        let text = String(decoding: try XCTUnwrap(Hex.decode(registration.mpinId)), as: UTF8.self)
        let parts = text.wholeMatch(
            of: /\{"mobile": 1, "issued": "(.*)", "userID": "alice@example.com", "salt": "([0-9a-f]{32})"\}/)
        let issued = try XCTUnwrap(parts, text).1
        XCTAssertNotNil(issued.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}/))
        XCTAssertNotNil(registration.regOTT.wholeMatch(of: /[0-9a-f]{32}/))
        XCTAssertNotNil(registration.expireTime?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}/))
        let raw = try server.backend.call("PUT", "/rps/user", "{\"userId\":\"b@c\",\"mobile\":\"7\"}")
        XCTAssertTrue(raw.text.contains("\"active\":false"), "a JSON boolean")
        let id = try XCTUnwrap(Hex.decode(XCTUnwrap(raw.object["mpinId"] as? String)))
        XCTAssertTrue(String(decoding: id, as: UTF8.self).hasPrefix("{\"mobile\": 7,"), "numeric text is a number")
    }

    /// Wire section 17, defect 16: Milagro's server answered 500 to a user id outside ASCII.
    func testUserIDsOutsideASCIIRegisterAndLogIn() throws {
        let mailed = TestClient(backend: try InProcess().keep(in: self).backend)
        let forced = TestClient(backend: try InProcess { $0.delivery = .forceActivate }.keep(in: self).backend)
        for (client, id) in [(mailed, "юзер@example.com"), (forced, "back\\slash \"é\" /"), (forced, "😀")] {
            let user = try client.register(id, pin: "1234")
            XCTAssertEqual(try JSONDecoder().decode(MPinIDContent.self, from: Data(user.bytes)).userID, id)
            XCTAssertEqual(try client.login(user, pin: "1234").object["userId"] as? String, id)
        }
    }

    func testOldClientsExtraMembersAreTakenAndIgnored() throws {
        let server = try InProcess()
        let body = """
            {"userId":"alice@example.com","mobile":1,"deviceName":"phone","userData":"{\\"k\\":1}","activateCode":"",
             "unknown":[1,{"a":null}]}
            """
        XCTAssertEqual(try server.backend.call("PUT", "/rps/user", body).status, 200)
    }

    func testTheRestartKeepsIDAndTokenAndMailsAgain() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let first = try client.startRegistration("alice@example.com")
        try client.confirm("alice@example.com")
        let body = "{\"userId\":\"alice@example.com\",\"regOTT\":\"\(first.regOTT.uppercased())\"}"
        let again: RegisterResponse = try server.backend.call("PUT", "/rps/user/" + first.mpinId.uppercased(), body)
            .json()
        XCTAssertEqual(again.mpinId, first.mpinId)
        XCTAssertEqual(again.regOTT, first.regOTT)
        XCTAssertFalse(again.active)
        XCTAssertEqual(try client.signature(first).status, 401, "a restart begins unconfirmed")
        let mails = try FileManager.default.contentsOfDirectory(atPath: server.backend.mailFolder)
        XCTAssertEqual(mails.count, 2)
        try client.confirm("alice@example.com")
        _ = try client.finishRegistration(again, pin: "1234")
    }

    func testTheRestartOfAnUnknownIDIsANewRegistration() throws {
        let server = try InProcess()
        let answer = try server.backend.call("PUT", "/rps/user/7b7d", "{\"userId\":\"alice@example.com\"}")
        XCTAssertEqual(answer.status, 200)
        XCTAssertNotEqual(answer.object["mpinId"] as? String, "7b7d")
    }

    /// Wire section 17, defect 2: in Milagro's server, the mail for one user's registration could be sent to another
    /// user's mailbox.
    func testARestartForAnotherUserIsRefusedAndMailsNobody() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let victim = try client.startRegistration("victim@example.com")
        let body = "{\"userId\":\"eve@example.com\",\"regOTT\":\"\(victim.regOTT)\"}"
        XCTAssertEqual(try server.backend.call("PUT", "/rps/user/" + victim.mpinId, body).status, 403)
        XCTAssertThrowsError(try server.backend.link(to: "eve@example.com"))
        _ = try server.backend.link(to: "victim@example.com")
    }

    /// Wire section 17, defect 3: in Milagro's server, the host of the link in the mail was taken from the request.
    func testTheLinkStartsWithTheConfiguredURLWhateverTheRequestSays() throws {
        let server = try InProcess { $0.publicURL = "https://login.example.com" }
        let request =
            "PUT /rps/user HTTP/1.1\r\nHost: evil.example.net\r\nX-Forwarded-Host: evil.example.net\r\n"
            + "X-Scheme: https\r\nX-Forwarded-Proto: https\r\nRPS-BASE-URL: https://evil.example.net\r\n"
            + "Connection: close\r\nContent-Length: 30\r\n\r\n{\"userId\":\"alice@example.com\"} "
        XCTAssertEqual(try Sockets.raw(server.backend.port, Data(request.utf8)).status, 200)
        let files = try FileManager.default.contentsOfDirectory(atPath: server.backend.mailFolder)
        let mail = try String(contentsOfFile: server.backend.mailFolder + "/" + XCTUnwrap(files.first), encoding: .utf8)
        XCTAssertTrue(mail.contains("\r\nhttps://login.example.com/mpinActivate?i="), "alone on a line")
        XCTAssertFalse(mail.contains("evil"))
    }

    /// Wire section 17, defect 4: in Milagro's server, anybody could replace the activation key of a registration by a
    /// wrong one.
    func testAWrongActivationKeyIsRefusedAtDeliveryAndHarmsNothing() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        let wrong = "{\"activateKey\":\"\(String(repeating: "0", count: 64))\"}"
        XCTAssertEqual(try server.backend.callPrivate("POST", "/user/" + registration.mpinId, wrong).status, 403)
        XCTAssertEqual(try client.signature(registration).status, 401)
        try client.confirm("alice@example.com")
        XCTAssertEqual(try server.backend.callPrivate("POST", "/user/" + registration.mpinId, wrong).status, 403)
        XCTAssertEqual(try client.signature(registration).status, 200)
    }

    /// Wire section 17, defect 11: in Milagro's server, the expiry in the link was not signed, and the page said
    /// "activated" for any key.
    func testALinkCannotBeChangedAndExpires() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        let link = try server.backend.link(to: "alice@example.com")
        let later = link.replacing(/&e=[^&]+/, with: "&e=2036-01-01T00%3A00%3A00Z")
        let wrongKey = link.replacing(/&s=..../, with: "&s=0000")
        let other = link.replacing(/i=[^&]+/, with: "i=7b7d")
        for changed in [later, wrongKey, other, "/mpinActivate", "/mpinActivate?i=7b7d&e=x&s=00"] {
            for method in ["GET", "POST"] {
                let page = try server.backend.call(method, changed, method == "POST" ? "" : nil)
                XCTAssertEqual(page.status, 403, changed)
                XCTAssertFalse(page.text.contains("activated"))
            }
        }
        server.advance(seconds: 3601)
        XCTAssertEqual(try server.backend.call("GET", link).status, 410)
        XCTAssertTrue(try server.backend.call("POST", link, "").text.contains("expired"))
        XCTAssertEqual(try client.signature(registration).status, 400, "the registration is gone too")
    }

    func testAUsedLinkSaysSo() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        _ = try client.register("alice@example.com", pin: "1234")
        let page = try server.backend.call("POST", server.backend.link(to: "alice@example.com"), "")
        XCTAssertEqual(page.status, 410)
        XCTAssertFalse(page.text.contains("activated"))
    }

    func testThePageEscapesWhatItShowsAndForbidsScripts() throws {
        let server = try InProcess()
        // This user id contains special characters of HTML that are allowed in a mail address.
        let fine = "it's&so@example.com"
        XCTAssertEqual(try server.backend.call("PUT", "/rps/user", "{\"userId\":\(fine.quoted)}").status, 200)
        let page = try server.backend.call("GET", server.backend.link(to: fine))
        XCTAssertTrue(page.text.contains("it&#39;s&amp;so@example.com"))
        XCTAssertTrue(try XCTUnwrap(page.headers["content-security-policy"]).contains("default-src 'none'"))
        XCTAssertEqual(page.headers["x-frame-options"], "DENY")
        XCTAssertEqual(page.headers["referrer-policy"], "same-origin")
    }

    /// Somebody else may have begun the registration, so the page says which device it is and where it is.
    func testThePageOfTheLinkNamesTheDeviceAndItsAddress() throws {
        let server = try InProcess().keep(in: self)
        let body = #"{"mobile":1,"userId":"alice@example.com","deviceName":"Eve's <phone>"}"#
        XCTAssertEqual(try server.backend.from(9).call("PUT", "/rps/user", body).status, 200)
        let page = try server.backend.call("GET", server.backend.link(to: "alice@example.com"))
        XCTAssertTrue(page.text.contains("Eve&#39;s &lt;phone&gt;"), page.text)
        XCTAssertTrue(page.text.contains("from 127.0.0.9."), page.text)
    }

    /// No mail goes to what a program behind the mail server could take for something else than an address.
    func testNoMailGoesToATextThatIsReadAsSomethingElse() throws {
        let server = try InProcess().keep(in: self)
        for user in ["-f@x.y", "{{link}}@x.example", "=?utf-8?q?x?=@y.z"] {
            let body = "{\"mobile\":1,\"userId\":\(user.quoted)}"
            XCTAssertEqual(try server.backend.call("PUT", "/rps/user", body).status, 403, user)
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: server.backend.mailFolder), [])
    }

    /// Wire section 6.3: in Milagro's server, anybody could delete a pending registration by a request with a wrong
    /// regOTT.
    func testAWrongTokenAtSignatureLeavesTheRegistration() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        try client.confirm("alice@example.com")
        let wrong = String(repeating: "0", count: 32)
        XCTAssertEqual(
            try server.backend.call("GET", "/rps/signature/\(registration.mpinId)?regOTT=\(wrong)").status, 400)
        XCTAssertEqual(try client.signature(registration).status, 200)
    }

    /// Wire section 17, defect 18: in Milagro's server, if the second share was lost, the user had to register again.
    func testLostSharesCanBeFetchedAgainForAWhileByTheSameClientOnly() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        try client.confirm("alice@example.com")
        let first = try client.clientSecret(registration)
        server.advance(seconds: 120)
        XCTAssertEqual(try client.clientSecret(registration), first)
        let wrong = "/rps/signature/\(registration.mpinId)?regOTT=\(String(repeating: "0", count: 32))"
        XCTAssertEqual(try server.backend.call("GET", wrong).status, 400)
        server.advance(seconds: 170)
        XCTAssertEqual(try client.clientSecret(registration), first)
        server.advance(seconds: 11)
        XCTAssertEqual(try client.signature(registration).status, 400, "not for ever, however often it was fetched")
    }

    func testARightPINEndsTheTimeInWhichSharesCanBeFetchedAgain() throws {
        let server = try InProcess().keep(in: self)
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        try client.confirm("alice@example.com")
        let alice = try client.finishRegistration(registration, pin: "1234")
        XCTAssertEqual(try client.login(alice, pin: "9999").status, 401)
        XCTAssertEqual(try client.signature(registration).status, 200, "the user has proved nothing yet")
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        XCTAssertEqual(try client.signature(registration).status, 400, "who reads the URL in a log gets nothing")
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
    }

    /// Only a setupDone request with the regOTT in its body ends a registration. Milagro's clients send no body, or one
    /// without the regOTT. They may fetch their shares again.
    func testSetupDoneWithTheTokenEndsTheRegistrationAtOnce() throws {
        let server = try InProcess().keep(in: self)
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        let token = "{\"regOTT\":\"\(registration.regOTT)\"}"
        func report(_ body: String?) throws {
            let answer = try server.backend.call("POST", "/rps/setupDone/" + registration.mpinId, body)
            XCTAssertEqual(answer.status, 200)
            XCTAssertTrue(answer.body.isEmpty)
        }
        try report(token)
        try client.confirm("alice@example.com")
        let alice = try client.finishRegistration(registration, pin: "1234")
        for body in [nil, "", "{\"any\":1}", "no JSON", "{\"regOTT\":7}", "{\"regOTT\":\"00\"}"] {
            try report(body)
            XCTAssertEqual(try client.signature(registration).status, 200, body ?? "no body")
        }
        try report(token)
        XCTAssertEqual(try client.signature(registration).status, 400)
        try report(token)
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
    }

    /// Wire section 6.3: clients append the member `params` unchanged to `certivoxURL + "clientSecret?"`.
    func testTheQueryForTheSecondShareHasTheMembersOfTheProtocolAndLivesAMinute() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        try client.confirm("alice@example.com")
        let target = "/rps/signature/\(registration.mpinId)?regOTT=\(registration.regOTT)&pmiToken=ignored"
        let answer = try server.backend.call("GET", target)
        XCTAssertEqual(Set(answer.object.keys), ["clientSecretShare", "params", "setupDone"])
        let params = try answer.json(SignatureResponse.self).params
        let query = try XCTUnwrap(URLComponents(string: "?" + params)?.queryItems)
        XCTAssertEqual(
            query.map(\.name).sorted(),
            ["app_id", "expires", "hash_mpin_id", "hash_user_id", "key_id", "mobile", "signature"])
        let members = Dictionary(uniqueKeysWithValues: query.map { ($0.name, $0.value ?? "") })
        XCTAssertEqual(members["hash_user_id"], "")
        XCTAssertFalse(params.contains(":"), "colons are escaped")
        let expires = try XCTUnwrap(Moment(XCTUnwrap(members["expires"])))
        XCTAssertTrue((40...60).contains(expires.seconds - server.now.seconds))
    }

    /// Wire section 17, defect 13: a restart prolongs a registration. In Milagro's server, a restarted registration was
    /// nevertheless lost when the time of its first start was over.
    func testARestartedRegistrationOutlivesTheFirstOnesExpiry() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let first = try client.startRegistration("alice@example.com")
        server.advance(seconds: 3000)
        let body = "{\"userId\":\"alice@example.com\",\"regOTT\":\"\(first.regOTT)\"}"
        XCTAssertEqual(try server.backend.call("PUT", "/rps/user/" + first.mpinId, body).status, 200)
        server.advance(seconds: 3000)
        try client.confirm("alice@example.com")
        XCTAssertEqual(try client.signature(first).status, 200)
    }

    func testForcedActivationNeedsNoMail() throws {
        let server = try InProcess { $0.delivery = .forceActivate }
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice")
        XCTAssertTrue(registration.active)
        let user = try client.finishRegistration(registration, pin: "0000")
        XCTAssertEqual(try client.login(user, pin: "0000").status, 200)
    }

    func testSetupDoneHasNoEffectAndNoBody() throws {
        let server = try InProcess()
        let answer = try server.backend.call("POST", "/rps/setupDone/7b7d", "{\"any\":1}")
        XCTAssertEqual(answer.status, 200)
        XCTAssertTrue(answer.body.isEmpty)
    }
}
