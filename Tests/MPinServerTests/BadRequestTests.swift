import Foundation
import MPinSecrets
import MPinWire
import XCTest

/// Tests tables of bad requests. Each request must get the 4xx status in its row and a JSON error, and the server must
/// continue.
final class BadRequestTests: XCTestCase {
    private struct Row {
        let name: String
        let method: String
        let target: String
        var body: Data?
        let status: Int
        var port: KeyPath<Backend, Int> = \.port
    }

    /// The values from which the requests are made.
    private struct Scene {
        let user: TestClient.User
        let pending: RegisterResponse
        let u: String
        let ut: String
        let pass2: String
        let params: String
    }

    private let p = "2400000008702a0db0bddf647a6366d3243fd6ee18093ee1be6623ef5c1b55b3"

    func testEveryBadRequestIsRefusedWithItsStatusAndAClearError() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let scene = try scene(client)
        let rows =
            registrationRows(scene) + pass1Rows(scene) + pass2Rows(scene) + privateRows(scene)
            + browserRows() + applicationRows() + authorityRows(scene) + routeRows(scene)
        for row in rows {
            let answer = try server.backend.call(
                row.method, row.target, row.body, port: server.backend[keyPath: row.port])
            XCTAssertEqual(answer.status, row.status, "\(row.name): \(answer.text)")
            XCTAssertFalse((answer.object["message"] as? String ?? "").isEmpty, "\(row.name): no message")
            XCTAssertEqual(answer.object["version"] as? String, "0.3", row.name)
            XCTAssertEqual(
                answer.object["service_name"] as? String, row.status == 404 ? "M-Pin authentication server" : nil,
                row.name)
            if row.status == 404 { XCTAssertEqual(answer.object["message"] as? String, "URI NOT FOUND", row.name) }
            XCTAssertEqual(answer.headers["www-authenticate"], row.status == 401 ? "Authenticate" : nil, row.name)
            XCTAssertEqual(answer.headers["content-type"], "application/json; charset=UTF-8", row.name)
        }
        XCTAssertGreaterThanOrEqual(rows.count, 60)
        XCTAssertEqual(Set(rows.map(\.name)).count, rows.count, "each row is named")
        print("\(rows.count) bad requests refused")

        XCTAssertEqual(try client.login(scene.user, pin: "1234").status, 200, "a good login still works")
        _ = try client.finishRegistration(scene.pending, pin: "1111")
    }

    private func scene(_ client: TestClient) throws -> Scene {
        let user = try client.register("alice@example.com", pin: "1234")
        let pending = try client.startRegistration("bob@example.com")
        try client.confirm("bob@example.com")
        let permit = try client.timePermit(user)
        let commitment = try client.commitment(user, pin: "1234", permit: permit)
        let carol = try client.startRegistration("carol@example.com")
        try client.confirm("carol@example.com")
        let params = try client.signature(carol).json(SignatureResponse.self).params
        let pass2 = try client.pass2Body(client.pass1(user, pin: "1234", permit: permit))
        XCTAssertEqual(try client.backend.call("POST", "/rps/pass2", pass2).status, 200)
        return Scene(
            user: user, pending: pending, u: Hex.encode(commitment.u), ut: Hex.encode(commitment.ut), pass2: pass2,
            params: params)
    }

    private func row(
        _ name: String, _ method: String, _ target: String, _ body: String? = nil, _ status: Int,
        _ port: KeyPath<Backend, Int> = \.port
    ) -> Row {
        Row(name: name, method: method, target: target, body: body.map { Data($0.utf8) }, status: status, port: port)
    }

    private func registrationRows(_ s: Scene) -> [Row] {
        let user = "/rps/user"
        let pending = user + "/" + s.pending.mpinId
        let long = String(repeating: "a", count: 255)
        let rows = [
            row("register: empty body", "PUT", user, "", 400),
            row("register: no JSON", "PUT", user, "userId=alice", 400),
            row("register: cut JSON", "PUT", user, "{\"userId\":\"a", 400),
            row("register: array", "PUT", user, "[]", 400),
            row("register: array of objects", "PUT", user, "[{\"userId\":\"a\"}]", 400),
            row("register: null", "PUT", user, "null", 400),
            row("register: number", "PUT", user, "17", 400),
            row("register: string", "PUT", user, "\"alice\"", 400),
            row("register: empty object", "PUT", user, "{}", 400),
            row("register: empty userId", "PUT", user, "{\"userId\":\"\"}", 400),
            row("register: userId null", "PUT", user, "{\"userId\":null}", 400),
            row("register: userId number", "PUT", user, "{\"userId\":5}", 400),
            row("register: userId object", "PUT", user, "{\"userId\":{}}", 400),
            row("register: userId too long", "PUT", user, "{\"userId\":\"\(long)\"}", 400),
            row("register: line break in userId", "PUT", user, "{\"userId\":\"a@b\\r\\nBcc: c@d\"}", 400),
            row("register: NUL in userId", "PUT", user, "{\"userId\":\"a\\u0000b\"}", 400),
            row("register: mobile null", "PUT", user, "{\"userId\":\"a\",\"mobile\":null}", 400),
            row("register: mobile text", "PUT", user, "{\"userId\":\"a\",\"mobile\":\"phone\"}", 400),
            row("register: mobile fraction", "PUT", user, "{\"userId\":\"a\",\"mobile\":1.5}", 400),
            row("register: mobile huge", "PUT", user, "{\"userId\":\"a\",\"mobile\":99999999999999999999}", 400),
            row("register: deviceName number", "PUT", user, "{\"userId\":\"a\",\"deviceName\":1}", 400),
            row("register: nested 10000 deep", "PUT", user, String(repeating: "[", count: 10_000), 400),
            row("register: no address to mail to", "PUT", user, "{\"userId\":\"a b@c,d\"}", 403),
            row("restart: no regOTT", "PUT", pending, "{\"userId\":\"bob@example.com\"}", 400),
            row("restart: wrong regOTT", "PUT", pending, "{\"userId\":\"bob@example.com\",\"regOTT\":\"00\"}", 400),
            row("restart: regOTT number", "PUT", pending, "{\"userId\":\"bob@example.com\",\"regOTT\":0}", 400),
            row(
                "restart: other userId", "PUT", pending,
                "{\"userId\":\"eve@example.com\",\"regOTT\":\"\(s.pending.regOTT)\"}", 403),
            row("restart: half a byte", "PUT", user + "/7b7", "{\"userId\":\"a\"}", 400),
            row("restart: id no hex", "PUT", user + "/alice", "{\"userId\":\"a\"}", 404),
            row("signature: no regOTT", "GET", "/rps/signature/" + s.pending.mpinId, 400),
            row("signature: wrong regOTT", "GET", "/rps/signature/\(s.pending.mpinId)?regOTT=00", 400),
            row("signature: unknown id", "GET", "/rps/signature/7b7d?regOTT=00", 400),
            row("signature: half a byte", "GET", "/rps/signature/7b7?regOTT=00", 400),
            row("signature: id no JSON", "GET", "/rps/signature/00ff?regOTT=00", 400),
            row("signature: id no hex", "GET", "/rps/signature/xyz?regOTT=00", 404),
            row("setupDone: id no hex", "POST", "/rps/setupDone/xyz", "", 404),
            row("timePermit: half a byte", "GET", "/rps/timePermit/7b7", 400),
            row("timePermit: id no hex", "GET", "/rps/timePermit/xyz", 404),
        ]
        let invalidUTF8 = Data("{\"userId\":\"".utf8) + Data([0xff, 0xfe]) + Data("\"}".utf8)
        return rows + [Row(name: "register: no UTF-8", method: "PUT", target: user, body: invalidUTF8, status: 400)]
    }

    private func row(
        _ name: String, _ method: String, _ target: String, _ status: Int, _ port: KeyPath<Backend, Int> = \.port
    ) -> Row { row(name, method, target, nil, status, port) }

    /// Returns octets that resemble a point of G1 but are not one, each with its fault.
    private func badPoints(_ good: String) -> [(String, String)] {
        let x = String(good.dropFirst(2).prefix(64))
        let y = String(good.suffix(64))
        let off = String(y.dropLast(2)) + (y.hasSuffix("00") ? "01" : "00")
        return [
            ("empty", ""), ("half a byte", String(good.dropLast())), ("64 bytes", String(good.dropLast(2))),
            ("66 bytes", good + "00"), ("no hex", "zz" + good.dropFirst(2)), ("prefix 02", "02" + x + y),
            ("prefix 00", "00" + x + y), ("off the curve", "04" + x + off), ("x is p", "04" + p + y),
            ("y is p", "04" + x + p), ("all ones", "04" + String(repeating: "f", count: 128)),
            ("zero", "04" + String(repeating: "0", count: 128)), ("coordinates exchanged", "04" + y + x),
        ]
    }

    private func pass1Rows(_ s: Scene) -> [Row] {
        let id = s.user.id
        func body(_ id: String, _ u: String, _ ut: String) -> String {
            "{\"pass\":1,\"mpin_id\":\"\(id)\",\"U\":\"\(u)\",\"UT\":\"\(ut)\"}"
        }
        var rows = [
            ("empty body", ""), ("no JSON", "pass"), ("array", "[]"), ("null", "null"), ("number", "1"),
            ("empty object", "{}"), ("no mpin_id", "{\"U\":\"\(s.u)\",\"UT\":\"\(s.ut)\"}"),
            ("no U", "{\"mpin_id\":\"\(id)\",\"UT\":\"\(s.ut)\"}"),
            ("no UT", "{\"mpin_id\":\"\(id)\",\"U\":\"\(s.u)\"}"),
            ("mpin_id number", "{\"mpin_id\":7,\"U\":\"\(s.u)\",\"UT\":\"\(s.ut)\"}"),
            ("mpin_id null", "{\"mpin_id\":null,\"U\":\"\(s.u)\",\"UT\":\"\(s.ut)\"}"),
            ("U a list", "{\"mpin_id\":\"\(id)\",\"U\":[],\"UT\":\"\(s.ut)\"}"),
            ("mpin_id empty", body("", s.u, s.ut)), ("mpin_id half a byte", body("7b7", s.u, s.ut)),
            ("mpin_id no hex", body("alice", s.u, s.ut)),
        ].map { row("pass1: " + $0.0, "POST", "/rps/pass1", $0.1, 403) }
        rows += badPoints(s.ut).map { row("pass1: UT \($0.0)", "POST", "/rps/pass1", body(id, s.u, $0.1), 403) }
        rows += badPoints(s.u).map { row("pass1: U \($0.0)", "POST", "/rps/pass1", body(id, $0.1, s.ut), 403) }
        return rows
    }

    private func pass2Rows(_ s: Scene) -> [Row] {
        let v = s.ut
        let long = String(repeating: "0", count: 65)
        func body(_ change: String) -> String {
            "{\"pass\":2,\"mpin_id\":\"\(s.user.id)\",\"V\":\"\(v)\",\"WID\":\"0\",\"OTP\":false\(change)}"
        }
        var rows = [
            ("replay", s.pass2), ("without pass 1", body("")), ("empty body", ""), ("no JSON", "{"), ("array", "[]"),
            ("null", "null"), ("empty object", "{}"),
            ("no V", "{\"mpin_id\":\"\(s.user.id)\",\"WID\":\"0\",\"OTP\":false}"),
            ("no WID", "{\"mpin_id\":\"\(s.user.id)\",\"V\":\"\(v)\",\"OTP\":false}"),
            ("no OTP", "{\"mpin_id\":\"\(s.user.id)\",\"V\":\"\(v)\",\"WID\":\"0\"}"),
            ("mpin_id number", "{\"mpin_id\":7,\"V\":\"\(v)\",\"WID\":\"0\",\"OTP\":false}"),
            ("no pass 1 of that id", "{\"mpin_id\":\"7b7d\",\"V\":\"\(v)\",\"WID\":\"0\",\"OTP\":false}"),
            ("OTP abc", "{\"mpin_id\":\"\(s.user.id)\",\"V\":\"\(v)\",\"WID\":\"0\",\"OTP\":\"abc\"}"),
            ("OTP 7", "{\"mpin_id\":\"\(s.user.id)\",\"V\":\"\(v)\",\"WID\":\"0\",\"OTP\":7}"),
            ("OTP null", "{\"mpin_id\":\"\(s.user.id)\",\"V\":\"\(v)\",\"WID\":\"0\",\"OTP\":null}"),
            ("WID too long", "{\"mpin_id\":\"\(s.user.id)\",\"V\":\"\(v)\",\"WID\":\"\(long)\",\"OTP\":false}"),
            ("WID number", "{\"mpin_id\":\"\(s.user.id)\",\"V\":\"\(v)\",\"WID\":0,\"OTP\":false}"),
        ].map { row("pass2: " + $0.0, "POST", "/rps/pass2", $0.1, 403) }
        rows += badPoints(v).map { name, point in
            let body = "{\"mpin_id\":\"\(s.user.id)\",\"V\":\"\(point)\",\"WID\":\"0\",\"OTP\":false}"
            return row("pass2: V \(name)", "POST", "/rps/pass2", body, 403)
        }
        return rows
    }

    private func privateRows(_ s: Scene) -> [Row] {
        let key = String(repeating: "0", count: 64)
        let verify =
            "{\"userId\":\"a@b\",\"mpinId\":\"7b7d\",\"mobile\":1,\"activateKey\":\"\(key)\","
            + "\"expireTime\":\"2030-01-01T00:00:00Z\",\"resend\":false,\"deviceName\":\"\",\"userData\":\"\"}"
        return [
            row("activate: wrong key", "POST", "/user/" + s.pending.mpinId, "{\"activateKey\":\"\(key)\"}", 403),
            row("activate: key no hex", "POST", "/user/" + s.pending.mpinId, "{\"activateKey\":\"zz\"}", 403),
            row("activate: unknown id", "POST", "/user/7b7d", "{\"activateKey\":\"\(key)\"}", 401),
            row("activate: finished registration", "POST", "/user/" + s.user.id, "{\"activateKey\":\"\(key)\"}", 401),
            row("activate: array", "POST", "/user/" + s.pending.mpinId, "[]", 400),
            row("activate: no key", "POST", "/user/" + s.pending.mpinId, "{}", 400),
            row("authenticate: authOTT number", "POST", "/authenticate", "{\"authOTT\":5}", 400),
            row("authenticate: no JSON", "POST", "/authenticate", "x", 400),
            row("authenticate: no authOTT", "POST", "/authenticate", "{}", 400),
            row("authenticate: array", "POST", "/authenticate", "[]", 400),
            row("mpinVerify: no token", "POST", "/mpinVerify", verify, 401),
            row("loginResult: not waited for", "POST", "/loginResult", "{\"authOTT\":\"00\",\"status\":200}", 404),
            row("dynamicOptions", "GET", "/dynamicOptions", 403),
            row("dynamicOptions: POST", "POST", "/dynamicOptions", "{}", 403),
            row("dynamicOptions: PUT", "PUT", "/dynamicOptions", "{}", 405),
            row("authenticate: authOTT null", "POST", "/authenticate", "{\"authOTT\":null}", 400),
            row("activate: half a byte", "POST", "/user/7b7", "{\"activateKey\":\"\(key)\"}", 400),
            row("activate: id no hex", "POST", "/user/alice", "{\"activateKey\":\"\(key)\"}", 404),
            row("permit check: no token", "GET", "/mpinPermitUser?mpin_id=7b7d", 401),
            row("getStackInfo", "GET", "/manage/getStackInfo", 404),
            row("a public path", "POST", "/rps/access", "{\"webOTT\":\"00\"}", 404),
        ].map { row in
            var row = row
            row.port = \.privatePort
            return row
        }
    }

    private func browserRows() -> [Row] {
        let bad = [("no JSON", "x"), ("empty body", ""), ("array", "[]"), ("null", "null"), ("empty object", "{}")]
        let member = ["access": "webOTT", "codeStatus": "status", "authenticate": "mpinResponse"]
        var rows = member.flatMap { path, name in
            (bad + [("number", "{\"\(name)\":7}"), ("null member", "{\"\(name)\":null}")]).map {
                row("public \(path): \($0.0)", "POST", "/rps/" + path, $0.1, 400)
            }
        }
        rows += [
            row("access: wait no number", "POST", "/rps/access", "{\"webOTT\":\"00\",\"wait\":\"long\"}", 400),
            row("access: twice the member", "POST", "/rps/access", "{\"webOTT\":\"00\",\"webOTT\":\"01\"}", 400),
            row("codeStatus: wid number", "POST", "/rps/codeStatus", "{\"status\":\"wid\",\"wid\":7}", 400),
            row("codeStatus: no word", "POST", "/rps/codeStatus", "{\"status\":\"a b\",\"wid\":\"00\"}", 400),
            row("public authenticate: no authOTT", "POST", "/rps/authenticate", "{\"mpinResponse\":{}}", 400),
            row(
                "public authenticate: authOTT number", "POST", "/rps/authenticate",
                "{\"mpinResponse\":{\"authOTT\":1}}", 400),
            row(
                "public authenticate: unknown", "POST", "/rps/authenticate", "{\"mpinResponse\":{\"authOTT\":\"ab\"}}",
                412),
            row("mobileConfig: not configured", "GET", "/rps/mobileConfig", 403),
            row("service: not configured", "GET", "/service", 403),
            row("mobileConfig: POST", "POST", "/rps/mobileConfig", "", 405),
            row("service: POST", "POST", "/service", "", 405),
            row("service: under the prefix", "GET", "/rps/service", 404),
            row("accessnumber: the older name", "POST", "/rps/accessnumber", "{\"webOTT\":\"00\"}", 404),
        ]
        for path in ["getAccessNumber", "getQrUrl", "access", "codeStatus", "authenticate"] {
            rows.append(row("\(path): GET", "GET", "/rps/" + path, 405))
        }
        return rows
    }

    private func applicationRows() -> [Row] {
        let session = String(repeating: "0", count: 64)
        return [
            row("mpinLogout: empty body", "POST", "/mpinLogout", "", 400),
            row("mpinLogout: no JSON", "POST", "/mpinLogout", "x", 400),
            row("mpinLogout: array", "POST", "/mpinLogout", "[]", 400),
            row("mpinLogout: no token", "POST", "/mpinLogout", "{\"userId\":\"alice@example.com\"}", 400),
            row("mpinLogout: token number", "POST", "/mpinLogout", "{\"sessionToken\":1}", 400),
            row("mpinLogout: unknown token", "POST", "/mpinLogout", "{\"sessionToken\":\"\(session)\"}", 400),
            row("mpinLogout: GET", "GET", "/mpinLogout", 405),
            row("mpinAuthenticate: GET", "GET", "/mpinAuthenticate", 405),
            row("mpinAuthenticate: no JSON", "POST", "/mpinAuthenticate", "x", 400),
            row("mpinAuthenticate: array", "POST", "/mpinAuthenticate", "[]", 400),
            row("mpinAuthenticate: empty object", "POST", "/mpinAuthenticate", "{}", 400),
            row("mpinAuthenticate: no authOTT", "POST", "/mpinAuthenticate", "{\"mpinResponse\":{}}", 400),
            row("mpinAuthenticate: null", "POST", "/mpinAuthenticate", "{\"mpinResponse\":null}", 400),
            row(
                "mpinAuthenticate: authOTT number", "POST", "/mpinAuthenticate", "{\"mpinResponse\":{\"authOTT\":1}}",
                400),
            row(
                "mpinAuthenticate: unknown", "POST", "/mpinAuthenticate", "{\"mpinResponse\":{\"authOTT\":\"ab\"}}", 408
            ),
        ]
    }

    private func authorityRows(_ s: Scene) -> [Row] {
        let hash = Hex.encode(s.user.hash)
        let zero = String(repeating: "0", count: 64)
        let time = "2030-01-01T00%3A00%3A00Z"
        return [
            row("serverSecret: no arguments", "GET", "/serverSecret", 403, \.dta2Port),
            row(
                "serverSecret: wrong signature", "GET", "/serverSecret?app_id=a&expires=\(time)&signature=00", 401,
                \.dta2Port),
            row("clientSecret: no arguments", "GET", "/clientSecret", 403, \.dta2Port),
            row("clientSecret: POST", "POST", "/clientSecret?" + s.params, "", 405, \.dta2Port),
            row("clientSecret: at the other D-TA", "GET", "/clientSecret?" + s.params, 401, \.dta1Port),
            row(
                "clientSecret: another id", "GET",
                "/clientSecret?" + s.params.replacing(/hash_mpin_id=[0-9a-f]+/, with: "hash_mpin_id=" + hash), 401,
                \.dta2Port),
            row(
                "clientSecret: hash too short", "GET",
                "/clientSecret?" + s.params.replacing(/hash_mpin_id=[0-9a-f]+/, with: "hash_mpin_id=ab"), 403,
                \.dta2Port),
            row(
                "clientSecret: no hash_user_id", "GET",
                "/clientSecret?" + s.params.replacing(/&hash_user_id=/, with: ""), 403, \.dta2Port),
            row(
                "clientSecret: expires moved", "GET",
                "/clientSecret?" + s.params.replacing(/expires=[^&]+/, with: "expires=" + time), 401, \.dta2Port),
            row("timePermit: no signature", "GET", "/timePermit?hash_mpin_id=" + hash, 403, \.dta2Port),
            row(
                "timePermit: wrong signature", "GET", "/timePermit?hash_mpin_id=\(hash)&signature=\(zero)", 401,
                \.dta2Port),
            row(
                "timePermit: hash no hex", "GET", "/timePermit?hash_mpin_id=\(zero.dropLast())z&signature=00", 403,
                \.dta2Port),
            row("timePermits: no count", "GET", "/timePermits?hash_mpin_id=\(hash)&signature=\(zero)", 403, \.dta2Port),
            row(
                "timePermits: count 400", "GET",
                "/timePermits?hash_mpin_id=\(hash)&signature=\(zero)&count=400&expires=\(time)", 403, \.dta2Port),
            row(
                "timePermits: wrong signature", "GET",
                "/timePermits?hash_mpin_id=\(hash)&signature=\(zero)&count=2&expires=\(time)", 401, \.dta2Port),
            row("D-TA: unknown path", "GET", "/nope", 404, \.dta2Port),
        ]
    }

    private func routeRows(_ s: Scene) -> [Row] {
        let big = String(repeating: " ", count: 64 * 1024 + 1)
        return [
            row("unknown path", "GET", "/rps/nope", 404), row("no prefix", "GET", "/clientSettings", 404),
            row("prefix alone", "GET", "/rps", 404), row("permit storage", "GET", "/rps/permitStorage/a/1/b", 404),
            row("settings: POST", "POST", "/rps/clientSettings", "", 405),
            row("user: POST", "POST", "/rps/user", "{}", 405), row("user: GET", "GET", "/rps/user", 405),
            row("user/<id>: POST belongs to the private listener", "POST", "/rps/user/7b7d", "{}", 405),
            row("signature: POST", "POST", "/rps/signature/7b7d", "", 405),
            row("setupDone: GET", "GET", "/rps/setupDone/7b7d", 405),
            row("pass1: GET", "GET", "/rps/pass1", 405), row("pass2: PUT", "PUT", "/rps/pass2", "{}", 405),
            row("pass2: DELETE", "DELETE", "/rps/pass2", 405),
            row("private authenticate on the public listener", "POST", "/authenticate", "{\"authOTT\":\"00\"}", 404),
            row("private user on the public listener", "POST", "/user/7b7d", "{}", 404),
            row("mpinVerify on the public listener", "POST", "/mpinVerify", "{}", 404),
            row("pass1: body of 64 KiB and one byte", "POST", "/rps/pass1", big, 413),
            row("register: body of 64 KiB and one byte", "PUT", "/rps/user", big, 413),
            row("target too long", "GET", "/rps/signature/" + String(repeating: "ab", count: 5000), 414),
        ]
    }
}
