import Foundation
import LoopbackServer
import MPinServer
import MPinStore
import MPinWire
import XCTest

/// Tests what the server tells clients about itself (wire sections 6.1, 6.13 and 6.15), and what it tells the RPA about
/// clients (section 8.1).
final class SettingsTests: XCTestCase {
    private let certain: Set = [
        "certivoxURL", "signatureURL", "registerURL", "timePermitsURL", "timePermitsStorageURL", "setupDoneURL",
        "mpinAuthServerURL", "authenticateURL", "mobileAuthenticateURL", "setDeviceName", "accessNumberUseCheckSum",
        "appID", "requestOTP", "seedValue", "useWebSocket", "accessNumberDigits", "cSum", "useNFC", "usePermits",
        "registrationCodes",
    ]

    func testTheSettingsHoldTheMembersThatTheOptionsAskFor() throws {
        XCTAssertEqual(
            Set(try settings { $0.mobileUseNative = false }.keys),
            certain.union(["accessNumberURL", "getAccessNumberURL"]))
        let digitsOnly = try settings {
            $0.mobileUseNative = false
            $0.requestOTP = true
        }
        XCTAssertEqual(Set(digitsOnly.keys), certain)
        XCTAssertEqual(
            Set(try settings { $0.mobileUseNative = true }.keys),
            certain.union(["accessNumberURL", "getAccessNumberURL", "getQrUrl", "codeStatusURL"]))
    }

    func testTheSettingsHoldTheOptionsValues() throws {
        let plain = try settings { _ in }
        XCTAssertEqual(plain["mpinAuthServerURL"] as? String, "/rps")
        XCTAssertEqual(plain["getAccessNumberURL"] as? String, "/rps/getAccessNumber")
        XCTAssertEqual(plain["accessNumberDigits"] as? Int, 7)
        XCTAssertEqual(plain["cSum"] as? Int, 1)
        XCTAssertEqual((plain["seedValue"] as? String)?.count, 200)
        XCTAssertEqual((plain["certivoxURL"] as? String)?.last, "/")
        let other = try settings(prefix: "mpin") {
            $0.baseURL = "https://login.example.com"
            $0.prefix = "mpin"
            $0.accessNumberUseCheckSum = false
            $0.setDeviceName = true
            $0.useNFC = true
            $0.usePermits = false
            $0.mobileUseNative = true
        }
        XCTAssertEqual(other["mpinAuthServerURL"] as? String, "https://login.example.com/mpin")
        XCTAssertEqual(other["codeStatusURL"] as? String, "https://login.example.com/mpin/codeStatus")
        XCTAssertEqual(other["accessNumberDigits"] as? Int, 6)
        XCTAssertEqual(other["accessNumberUseCheckSum"] as? Bool, false)
        XCTAssertEqual(other["setDeviceName"] as? Bool, true)
        XCTAssertEqual(other["useNFC"] as? Bool, true)
        XCTAssertEqual(other["usePermits"] as? Bool, false)
    }

    func testTheMobileConfigurationIsServedWhereItIsConfigured() throws {
        let list = JSONValue.array([.object(["name": .string("Demo"), "url": .string("https://example.com")])])
        XCTAssertEqual(try get("/rps/mobileConfig") { $0.mobileUseNative = true }.status, 403)
        let withoutCodes = try get("/rps/mobileConfig") {
            $0.mobileConfig = list
            $0.mobileUseNative = false
        }
        XCTAssertEqual(withoutCodes.status, 404)
        let answer = try get("/rps/mobileConfig") {
            $0.mobileConfig = list
            $0.mobileUseNative = true
        }
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(try answer.json(JSONValue.self), list)
    }

    func testTheServiceIsServedWithoutAPrefixWhereItIsConfigured() throws {
        XCTAssertEqual(try get("/service") { _ in }.status, 403)
        let service = ServiceResponse(
            name: "Demo", url: "https://example.com", rps_prefix: "rps", logo_url: "https://example.com/logo.png")
        let answer = try get("/service") { $0.mobileService = service }
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(Set(answer.object.keys), ["name", "url", "rps_prefix", "logo_url", "type"])
        XCTAssertEqual(answer.object["type"] as? String, "online")
    }

    func testTheServiceIsForTheChosenProgramsOnly() throws {
        let service = ServiceResponse(name: "Demo", url: "https://example.com", rps_prefix: "rps", logo_url: "")
        let clients = ["MyApp/2.1", "Other/3"].compactMap(ProductVersion.init)
        let server = try InProcess(changeRPS: {
            $0.mobileService = service
            $0.serviceClients = clients
        }).keep(in: self)
        let table: [(String?, Int)] = [
            ("MyApp/2.1 (phone)", 200), ("MyApp/2.1.0", 200), ("MyApp/2.10", 200), ("MyApp/3", 200), ("Other/3.0", 200),
            ("MyApp/2.0.9", 412), ("MyApp/2", 412), ("Other/2.99", 412), ("myapp/2.1", 406), ("Mozilla/5.0", 406),
            ("MyApp", 406), ("MyApp/", 406), ("MyApp/x", 406), ("MyApp/99999999999999999999", 406), (nil, 406),
        ]
        for (agent, status) in table {
            let headers = agent.map { ["User-Agent": $0] } ?? [:]
            XCTAssertEqual(try server.backend.call("GET", "/service", headers: headers).status, status, agent ?? "none")
        }
    }

    func testTheRPAGetsTheChosenHeadersOfTheClientAndNoOthers() throws {
        let sent = ["User-Agent": "phone", "X-Forwarded-For": "192.0.2.1", "Authorization": "Bearer stolen"]
        let chosen = try verifyHeaders(sending: sent) { $0.forwardUserHeaders = ["user-agent", "authorization"] }
        XCTAssertEqual(chosen["user-agent"], "phone")
        XCTAssertNil(chosen["x-forwarded-for"])
        XCTAssertNil(chosen["rps-base-url"], "nothing is taken from the Host header")
        XCTAssertNotEqual(chosen["authorization"], "Bearer stolen", "the RPS speaks for itself")
        let all = try verifyHeaders(sending: sent.merging(["RPS-BASE-URL": "http://evil.example"]) { $1 }) {
            $0.forwardUserHeaders = ["*"]
            $0.baseURL = "https://login.example.com"
        }
        XCTAssertEqual(all["x-forwarded-for"], "192.0.2.1")
        XCTAssertEqual(all["rps-base-url"], "https://login.example.com")
        XCTAssertEqual(all["host"]?.hasPrefix("127.0.0.1:"), true)
        XCTAssertNotEqual(all["authorization"], "Bearer stolen")
        let none = try verifyHeaders(sending: sent) { _ in }
        XCTAssertNotEqual(none["user-agent"], "phone")
    }

    func testTheSecondDTAAnswersWhatOldServersAskTheCloudAtTheirStart() throws {
        let server = try InProcess()
        let time = try server.backend.call("GET", "/time", port: server.backend.dta2Port)
        let moment = try XCTUnwrap(Moment(XCTUnwrap(time.object["Time"] as? String)))
        XCTAssertLessThan(abs(moment.seconds - server.now.seconds), 5)
        let settings = try server.backend.call("GET", "/apiSettings", port: server.backend.dta2Port)
        XCTAssertEqual(settings.status, 200)
        for name in ["timePermitsStorageURL", "managementConsoleURL", "license_info"] {
            XCTAssertNotNil(settings.object[name], name)
        }
    }

    /// Returns the headers that an RPA receives at /mpinVerify when a client registers with the headers `headers`.
    /// Names are in lower case.
    private func verifyHeaders(
        sending headers: [String: String], _ change: (inout RelyingPartyServiceConfig) -> Void
    ) throws -> [String: String] {
        let rpa = try LoopbackServer { _ in .json(200, ["forceActivate": true]) }
        defer { rpa.stop() }
        let server = try InProcess(changeRPS: {
            $0.verifyURL = rpa.url + "/mpinVerify"
            change(&$0)
        })
        defer { server.stop() }
        let answer = try server.backend.call("PUT", "/rps/user", "{\"userId\":\"a@example.com\"}", headers: headers)
        XCTAssertEqual(answer.status, 200)
        let request = try XCTUnwrap(rpa.received.first)
        XCTAssertEqual(request.json["userId"] as? String, "a@example.com")
        return Dictionary(request.headers.map { ($0.0.lowercased(), $0.1) }) { first, _ in first }
    }

    private func get(_ target: String, _ change: (inout RelyingPartyServiceConfig) -> Void) throws -> Answer {
        let server = try InProcess(changeRPS: change)
        defer { server.stop() }
        return try server.backend.call("GET", target)
    }

    private func settings(
        prefix: String = "rps", _ change: (inout RelyingPartyServiceConfig) -> Void
    ) throws -> [String: Any] { try get("/\(prefix)/clientSettings", change).object }
}
