import Foundation
import LoopbackServer
import MPinOpenID
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import MPinWire
import XCTest

/// Tests that a user whom a project's back end has verified is nobody else: neither the user of the server with that user
/// id nor that of another project.
final class ProjectUserTests: XCTestCase {
    private static let secret = "a secret for tests, longer than it must be"
    private static let clients =
        ["app", "staff"].map { id in
            """
            - id: \(id)
              secret-sha256: \(Hex.encode(SHA256.hash(Array(secret.utf8))))
              redirect-uri: [https://app.example/cb]
              first-party: true
              auth-method: client_secret_post
              grant: [authorization_code]
              scope: [openid, profile, email, groups]
            """
        }.joined(separator: "\n") + "\n  allow-group: [staff]\n"
    private let user = "victim@example.com"

    private func server() async throws -> InProcess { try await InProcess.trust(self, clients: Self.clients) }

    private func query(_ client: String) -> String {
        "client_id=\(client)&redirect_uri=https://app.example/cb&response_type=code&scope=openid+profile+email+groups"
    }

    /// Logs the device in at a session that the client has opened by JSON. Returns the parameters for the client.
    private func logIn(
        _ server: InProcess, _ device: TrustClient.Device, at id: String, project: String = "proj-1"
    ) throws -> [String: String] {
        let json = ["Content-Type": "application/json"]
        let opened = try server.backend.call("POST", "/authorize?" + query(id), "{}", headers: json).object
        let (wid, webOTT) = (opened["accessId"] as? String ?? "", opened["webOTT"] as? String ?? "")
        let login = try TrustClient(backend: server.backend, project: project).login(device, scope: "oidc", wid: wid)
        XCTAssertEqual(login.status, 200, login.text)
        let end = try server.backend.call("POST", "/authorize/access", "{\"webOTT\":\"\(webOTT)\"}", headers: json)
        let members = URLComponents(string: end.object["redirectURL"] as? String ?? "")?.queryItems ?? []
        return Dictionary(members.map { ($0.name, $0.value ?? "") }) { $1 }
    }

    /// Logs the device in, and returns what userinfo says.
    private func userinfo(
        _ server: InProcess, _ device: TrustClient.Device, at id: String = "app", project: String = "proj-1"
    ) throws -> [String: Any] {
        let code = try XCTUnwrap(logIn(server, device, at: id, project: project)["code"])
        let secret = Self.secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let form =
            "grant_type=authorization_code&redirect_uri=https://app.example/cb&client_id=\(id)&client_secret=\(secret)"
        let token = try server.backend.call(
            "POST", "/oidc/token", form + "&code=" + code,
            headers: ["Content-Type": "application/x-www-form-urlencoded"])
        let bearer = ["Authorization": "Bearer \(token.object["access_token"] as? String ?? token.text)"]
        return try server.backend.call("GET", "/oidc/userinfo", headers: bearer).object
    }

    private func name(_ server: InProcess, _ client: String...) async throws {
        var change = ProjectChange()
        change.clients = client
        _ = try await server.projects().set("proj-1", change)
    }

    private func profiles(_ server: InProcess) async throws -> ProfileAdministration {
        try await ProfileAdministration(
            database: ServiceDatabase(server.backend.stateFolder + "/rps.sqlite"), audit: .off)
    }

    private func put(_ user: String, into group: String, _ server: InProcess) async throws {
        var change = ProfileChange()
        change.groups = [group]
        let changed = try await profiles(server).set(user, change)
        XCTAssertNotNil(changed, user)
    }

    func testABackEndsUserLogsInToItsProjectsClientsOnly() async throws {
        let server = try await server()
        let device = try await server.verified(user)
        XCTAssertEqual(try logIn(server, device, at: "app")["error"], "access_denied")
        try await name(server, "app")
        XCTAssertNotNil(try logIn(server, device, at: "app")["code"])
        XCTAssertEqual(try logIn(server, device, at: "staff")["error"], "access_denied")
    }

    func testABackEndsUserIsNotTheOneWithTheMailbox() async throws {
        let server = try await server()
        let victim = try TrustClient(backend: server.backend).register(user)
        try await put(user, into: "staff", server)
        try await name(server, "app", "staff")
        let device = try await server.verified(user)
        XCTAssertEqual(try logIn(server, device, at: "staff")["error"], "access_denied", "the groups are the victim's")
        let (own, theirs) = (try userinfo(server, victim), try userinfo(server, device))
        XCTAssertEqual(own["email_verified"] as? Bool, true)
        XCTAssertEqual(own["preferred_username"] as? String, user)
        XCTAssertNotEqual(own["sub"] as? String, theirs["sub"] as? String)
        XCTAssertNotNil(theirs["sub"])
        XCTAssertNil(theirs["email_verified"])
        XCTAssertNil(theirs["email"])
        XCTAssertEqual(theirs["groups"] as? [String], [])
        XCTAssertEqual(theirs["preferred_username"] as? String, "proj-1/" + user)
        // A group that the operator gives to the project's user counts.
        try await put("proj-1/" + user, into: "staff", server)
        XCTAssertEqual(try userinfo(server, device, at: "staff")["groups"] as? [String], ["staff"])
    }

    func testUsersOfTwoProjectsAreTwo() async throws {
        let server = try await server()
        _ = try await server.projects().add("other", ProjectChange())
        let (first, second) = (
            try await server.verified(user), try await server.verified(user, project: "other")
        )
        try await name(server, "app")
        XCTAssertNotNil(try logIn(server, first, at: "app")["code"])
        XCTAssertEqual(try logIn(server, second, at: "app", project: "other")["error"], "access_denied")
        let found = try await server.users().find(user: "other/" + user)
        XCTAssertEqual(found.map(\.identity), [second.key])
        XCTAssertEqual(found.map(\.user), ["other/" + user])
    }

    /// On the project's wire and in its token the user id stays the text.
    func testTheProjectKnowsItsUserByTheUserID() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let device = try await server.verified(user)
        let jwt = try XCTUnwrap(client.login(device).object["jwt"] as? String)
        var payload = String(jwt.split(separator: ".")[1]).replacing("-", with: "+").replacing("_", with: "/")
        while payload.count % 4 != 0 { payload += "=" }
        let claims = try JSONSerialization.jsonObject(with: XCTUnwrap(Data(base64Encoded: payload))) as? [String: Any]
        XCTAssertEqual(claims?["sub"] as? String, user)
        let opened: TrustSessionResponse = try client.post("/rps/v2/session", ["userId": user]).json()
        let wid = try XCTUnwrap(opened.qrURL.components(separatedBy: "#").last)
        XCTAssertEqual(try client.login(device, scope: "oidc", wid: wid).status, 200)
        let end = try client.post("/rps/v2/access", ["webOTT": opened.webOTT]).object
        XCTAssertEqual([end["status"], end["userId"]] as? [String], ["authenticated", user])
    }

    /// A device that registers by a QuickCode, or renews its secret, is of the user whose device let it.
    func testFurtherDevicesFollowTheirOrigin() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let device = try await server.verified(user)
        let code = try XCTUnwrap(client.quickCode(device).object["code"] as? String)
        let second = try client.register(user, token: code)
        XCTAssertTrue(String(decoding: Hex.decode(second.id) ?? [], as: UTF8.self).hasSuffix(#""vt":"rc","by":"pv"}"#))
        _ = try await server.users().change(.renew, user: "proj-1/" + user, identity: device.key, audit: .off)
        let token = try XCTUnwrap(
            (client.login(device).object["dvsRegister"] as? [String: Any])?["token"] as? String)
        let renewed = try client.register(user, token: token)
        XCTAssertEqual(try client.login(renewed).status, 200)
        XCTAssertEqual(try logIn(server, renewed, at: "app")["error"], "access_denied")
        XCTAssertEqual(try logIn(server, second, at: "app")["error"], "access_denied")
        let found = try await server.users().find(user: "proj-1/" + user).map(\.identity)
        XCTAssertEqual(Set(found), [device.key, second.key, renewed.key])
        let none = try await server.users().find(user: user)
        XCTAssertTrue(none.isEmpty)
        let mail = try client.register(user)
        let quick = try client.register(user, token: XCTUnwrap(client.quickCode(mail).object["code"] as? String))
        XCTAssertNotNil(try logIn(server, quick, at: "app")["code"])
    }

    /// The website knows users of the server only.
    func testTheWebsiteRefusesABackEndsUser() async throws {
        let server = try await server()
        let device = try await server.verified(user)
        let browser = try TestBrowser(code: server.backend)
        let client = TrustClient(backend: server.backend)
        let proof = try client.prove(device, scope: "oidc", wid: browser.wid)
        XCTAssertEqual(try client.post("/rps/v2/authenticate", proof).status, 200)
        let token = try XCTUnwrap(proof["authOTT"] as? String)
        XCTAssertEqual(try browser.redeem(token).status, 410)
        let own = try client.register(user)
        let second = try client.prove(own, scope: "oidc", wid: TestBrowser(code: server.backend).wid)
        XCTAssertEqual(try client.post("/rps/v2/authenticate", second).status, 200)
        XCTAssertEqual(try browser.redeem(XCTUnwrap(second["authOTT"] as? String)).status, 200)
    }

    func testTheProjectOfOurPagesHasNoBackEnd() async throws {
        let server = try await InProcess.trust(self)
        let projects = try await server.projects()
        if try await !projects.list().contains(where: { $0.project.id == Projects.own }) {
            _ = try await projects.add(Projects.own, ProjectChange())
        }
        func refused(_ work: () async throws -> Void) async -> ProjectRefusal? {
            do { try await work() } catch { return error as? ProjectRefusal }
            return nil
        }
        let token = await refused { _ = try await projects.addToken("x", project: Projects.own, days: 1) }
        XCTAssertEqual(token, .hasNoBackEnd(Projects.own))
        var change = ProjectChange()
        change.clients = ["app"]
        let client = await refused { [change] in _ = try await projects.set(Projects.own, change) }
        XCTAssertEqual(client, .hasNoBackEnd(Projects.own))
        // A token that a version before has made.
        let old = try await projects.addToken("old", project: "proj-1", days: 1).token
        let store = try await openStore(server)
        for (key, item) in try await store.list("project_token", after: nil, limit: 10, at: server.now) {
            let changed = String(decoding: item.value, as: UTF8.self).replacing("proj-1", with: Projects.own)
            let made = try await store.create(
                ItemKey("project_token", key.replacing("proj-1", with: Projects.own)),
                StoredItem(value: Array(changed.utf8), expires: item.expires), at: server.now)
            XCTAssertTrue(made)
        }
        try await projects.removeToken("old", project: "proj-1")
        let answer = try TrustClient(backend: server.backend).call(
            "POST", "/activate/initiate", ["projectId": Projects.own, "userId": user], authorization: "Bearer " + old)
        XCTAssertEqual(answer.code, "UNAUTHORIZED")
    }

    private func openStore(_ server: InProcess) async throws -> any Store {
        try await ServiceDatabase(server.backend.stateFolder + "/rps.sqlite").open()
    }

    func testAClientThatNoProjectNamesIsNoBackEnd() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        let basic = TrustClient.basic("app", Self.secret)
        func initiate() throws -> Answer {
            try client.call("POST", "/activate/initiate", ["userId": user], authorization: basic)
        }
        XCTAssertEqual(try initiate().code, "UNAUTHORIZED")
        try await name(server, "app")
        XCTAssertEqual(try initiate().status, 200)
    }

    func testAClientBelongsToOneProject() async throws {
        let server = try await server()
        try await name(server, "app")
        let projects = try await server.projects()
        _ = try await projects.add("other", ProjectChange())
        var change = ProjectChange()
        change.clients = ["app"]
        do {
            _ = try await projects.set("other", change)
            XCTFail("two projects have the client")
        } catch { XCTAssertEqual(error as? ProjectRefusal, .clientOfAnother("app", "proj-1")) }
        _ = try await projects.set("proj-1", change)
    }

    /// A token for the project would pass as an ID token for the client, so none would be signed.
    func testNoClientHasTheIDOfAProject() async throws {
        let server = try await server()
        let database = server.backend.stateFolder + "/rps.sqlite"
        let clients = try await ClientAdministration(database: ServiceDatabase(database), file: nil, audit: .off)
        do {
            _ = try await clients.add("proj-1", ClientChange(), secret: nil)
            XCTFail("a client has the id of the project")
        } catch { XCTAssertEqual(error as? ClientRegistryFault, .isProject("proj-1")) }
        let client = TrustClient(backend: server.backend)
        XCTAssertEqual(try client.login(client.register(user)).status, 200)
    }

    /// A file of clients can still name one. Then the answer says what is wrong, and the user's device forgets nothing.
    func testALoginTellsThatAClientHasTheIDOfItsProject() async throws {
        let server = try await InProcess.trust(self, project: "app", clients: Self.clients)
        let client = TrustClient(backend: server.backend, project: "app")
        let device = try client.register(user)
        let login = try client.login(device)
        XCTAssertEqual([String(login.status), login.code], ["503", "SERVICE_UNAVAILABLE"])
        XCTAssertTrue(login.text.contains("the project has the id of an OpenID client"), login.text)
        XCTAssertEqual(try client.login(device, pin: "9999").status, 401)
        XCTAssertEqual(try client.login(device, scope: "otp").status, 200, "needs no token")
    }

    /// `proj-1/alice` is the name of a project's user for operators and clients, so nobody else can have it.
    func testNobodyHasTheNameOfAProjectsUser() async throws {
        let server = try await server()
        let client = TrustClient(backend: server.backend)
        for name in ["proj-1/x@example.com", "proj-1/y/x@example.com", "proj-1/\u{301}x@example.com"] {
            XCTAssertEqual(try client.verify(name).context["params"], "userId", name)
        }
        _ = try client.register("new/x@example.com")
        do {
            _ = try await server.projects().add("new", ProjectChange())
            XCTFail("a project has the names of users")
        } catch { XCTAssertEqual(error as? ProjectRefusal, .isNameOfUsers("new")) }
        do {
            _ = try await server.projects().add("proj-1/x", ProjectChange())
            XCTFail("a project has a slash in its id")
        } catch { XCTAssertEqual(error as? ProjectRefusal, .badID("proj-1/x")) }
        let second = try await server.verified("b/" + user)
        let found = try await server.users().find(user: "proj-1/b/" + user).map(\.identity)
        XCTAssertEqual(found, [second.key])
    }

    /// A version before has allowed that several projects name a client, and a client with the id of a project. A start
    /// tells of them, and the operator chooses.
    func testAStartTellsOfClientsOfSeveralProjects() async throws {
        let backend = Backend.onFreePorts()
        try makeFolder(backend.stateFolder)
        // A database of before, whose records have no MACs.
        let store = try SQLiteStore(path: backend.stateFolder + "/rps.sqlite")
        _ = try await store.setting("app_id") { String(repeating: "0", count: 32) }
        let projects = Projects(in: store)
        for id in ["one", "two", "staff"] {
            var project = Project(id: id, name: id, created: .now())
            if id != "staff" { project.clients = ["app"] }
            _ = try await projects.add(project, at: .now())
        }
        let server = try InProcess(backend, clients: Self.clients, isTrust: true).keep(in: self)
        XCTAssertTrue(server.logText.contains("a client belongs to several projects"), server.logText)
        XCTAssertTrue(server.logText.contains("a project has the id of an OpenID client"))
        // Both go on.
        for id in ["one", "two"] {
            let device = try await server.verified(user, project: id)
            XCTAssertNotNil(try logIn(server, device, at: "app", project: id)["code"])
        }
    }

    /// Whoever registers again must be verified by who the M-Pin ID says has done so.
    func testARegistrationBeginsAgainAtItsProjectOnly() async throws {
        let backEnd = try LoopbackServer { _ in .text(200, "") }
        defer { backEnd.stop() }
        let server = try await InProcess.trust(self, { $0.newUserURL = backEnd.url })
        var change = ProjectChange()
        change.newUserURL = backEnd.url
        _ = try await server.projects().add("other", change)
        _ = try await server.projects().add("mail", ProjectChange())
        let client = TrustClient(backend: server.backend)
        let opened = try client.post("/rps/v2/session", ["projectId": "proj-1"]).object["qrURL"] as? String
        let wid = try XCTUnwrap(opened?.components(separatedBy: "#").last)
        let begun = try client.put("/rps/user", ["userId": user, "mobile": 1, "wid": wid])
        let id = try XCTUnwrap(begun.object["mpinId"] as? String, begun.text)
        let again: [String: Any] = ["userId": user, "regOTT": begun.object["regOTT"] ?? "", "mobile": 1]
        for project in ["other", "mail"] {
            let foreign = TrustClient(backend: server.backend, project: project)
            XCTAssertEqual(try foreign.put("/rps/user/" + id, again).status, 404, project)
        }
        XCTAssertEqual(try client.put("/rps/user/" + id, again).object["mpinId"] as? String, id)
    }
}

extension InProcess {
    /// Registers a device of a user whom the back end of the project has verified.
    func verified(_ user: String, project: String = "proj-1") async throws -> TrustClient.Device {
        let client = TrustClient(backend: backend, project: project)
        return try client.register(user, token: try await initiate(user, project: project).get().actToken)
    }

    /// What the server answers the back end of the project that begins a registration: the token, or the error.
    func initiate(
        _ user: String, project: String = "proj-1"
    ) async throws -> Result<TrustInitiationResponse, Sockets.Failure> {
        let client = TrustClient(backend: backend, project: project)
        let bearer = "Bearer " + (try await serviceToken(UUID().uuidString, project: project))
        let answer = try client.call(
            "POST", "/activate/initiate", ["projectId": project, "userId": user], authorization: bearer)
        return answer.status == 200 ? .success(try answer.json()) : .failure(.init(text: answer.code ?? answer.text))
    }
}
