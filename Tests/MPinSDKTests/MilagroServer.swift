import Foundation
import LoopbackServer
import MPinCrypto
import MPinHTTP
import MPinSecrets

/// A Milagro system (RPS, RPA and both D-TAs) on one loopback socket, written from wire sections 6, 8 and 9. It has
/// real keys and judges logins as Milagro's server does.
final class MilagroServer: Sendable {
    /// The kinds of requests.
    enum Call: String, CaseIterable, Sendable {
        case clientSettings, register, signature, secondClientSecret, timePermit, permitStorage, secondTimePermit
        case pass1, pass2, authenticate, mobileAuthenticate, logout, codeStatus, authorize, service
        case verification, verificationConfirmation, signingRegister, secondSigningShare
    }

    struct State {
        /// Whether registrations need no confirmation.
        var isForced = true
        var usesPermits = true
        var hasStorage = true
        var stored: [String: String] = [:]
        var date: Int32 = 20778
        var maxAttempts = 3
        /// Whether each client id belongs to a customer. The answer to a registration then contains the customer's
        /// name.
        var namesCustomers = false
        /// The access numbers and QR ids that browsers show at present.
        var browsers: Set<String> = ["2741539", "f75dfd7607ec4213b177a3bd04651736"]
        /// The demands to fetch a new secret that the server sends in its answers to the next logins with the right
        /// PIN, one for each login.
        var demands: [[String: any Sendable]] = []
        /// `settings`: additional members of the client settings. `registration`: additional members of the answer to a
        /// registration.
        var settings: [String: any Sendable] = [:]
        var registration: [String: any Sendable] = [:]
        /// Makes the answer to a request; nil for the usual answer. Tests set it to let requests fail.
        var override: @Sendable (Call, ReceivedRequest) -> Reply? = { _, _ in nil }
        var calls: [Call] = []
        var pending: [String: (regOTT: String, isActive: Bool)] = [:]
        var pass1: [String: Pass1] = [:]
        var tokens: [String: Token] = [:]
        var attempts: [String: Int] = [:]
    }

    struct Pass1 {
        let commitment: [UInt8]
        let y: [UInt8]
        /// The public key of an identity with signing keys; nil for other identities.
        let publicKey: [UInt8]?
    }

    struct Token {
        let mpinID: String
        let isRight: Bool
        let wid: String
        let isOTP: Bool
    }

    let state = Locked(State())
    let master1: [UInt8]
    let master2: [UInt8]
    let context: ServerContext
    private let socket = Locked<LoopbackServer?>(nil)

    /// Makes random master shares for the D-TAs.
    convenience init() throws { try self.init(masters: (randomScalar(), randomScalar())) }

    init(masters: ([UInt8], [UInt8])) throws {
        (master1, master2) = masters
        let share1 = try octets(MPinSize.g2) { [master1] out in
            try TrustAuthority.serverSecretShare(master: master1.span, into: &out)
        }
        let share2 = try octets(MPinSize.g2) { [master2] out in
            try TrustAuthority.serverSecretShare(master: master2.span, into: &out)
        }
        let secret = try octets(MPinSize.g2) { out in try Shares.recombineG2(share1.span, share2.span, into: &out) }
        context = try ServerContext(serverSecret: secret.span)
        let server = try LoopbackServer { [weak self] request in self?.answer(request) ?? .reset() }
        socket.withLock { $0 = server }
    }

    var url: String { socket.withLock { $0?.url ?? "" } }
    var received: [ReceivedRequest] { socket.withLock { $0?.received ?? [] } }
    var calls: [Call] { state.withLock { $0.calls } }

    func stop() { socket.withLock { $0?.stop() } }
    func forgetCalls() {
        state.withLock { $0.calls = [] }
        socket.withLock { $0?.forget() }
    }
    /// Confirms a registration, as when the user opens the link in the mail.
    func activate(_ mpinID: String) { state.withLock { $0.pending[mpinID]?.isActive = true } }
    /// Sets the status of all further answers to requests of this kind; nil restores the usual answers.
    func fail(_ call: Call, status: Int?, message: String = "no") {
        state.withLock { state in
            state.override = { asked, _ in
                guard asked == call, let status else { return nil }
                return .json(status, ["version": "0.3", "message": message])
            }
        }
    }
    func reply(_ call: Call, _ reply: Reply) {
        state.withLock { $0.override = { asked, _ in asked == call ? reply : nil } }
    }

    /// Returns the first or the second time permit share of an identity.
    func permitShare(_ mpinID: String, second: Bool) throws -> String {
        let hash = SHA256.hash(Hex.decode(mpinID) ?? [])
        let date = state.withLock { $0.date }
        let master = second ? master2 : master1
        return Hex.encode(
            try octets(MPinSize.g1) { out in
                try TrustAuthority.timePermitShare(master: master.span, date: date, hashID: hash.span, into: &out)
            })
    }

    private static func call(_ request: ReceivedRequest) -> Call? {
        let parts = request.path.split(separator: "/").map(String.init)
        switch (request.method, parts.first ?? "", parts.count > 1 ? parts[1] : "") {
        case ("GET", "rps", "clientSettings"): return .clientSettings
        case ("PUT", "rps", "user"): return .register
        case ("GET", "rps", "signature"): return .signature
        case ("GET", "rps", "timePermit"): return .timePermit
        case ("POST", "rps", "pass1"): return .pass1
        case ("POST", "rps", "pass2"): return .pass2
        case ("GET", "v3", "clientSecret"): return .secondClientSecret
        case ("GET", "v3", "timePermit"): return .secondTimePermit
        case ("GET", "tp", _): return .permitStorage
        case ("POST", "mpinAuthenticate", _): return .authenticate
        case ("POST", "rps", "authenticate"): return .mobileAuthenticate
        case ("POST", "rps", "codeStatus"): return .codeStatus
        case ("POST", "rps", "dvsregister"): return .signingRegister
        case ("GET", "v3", "dvs"): return .secondSigningShare
        case ("POST", "logout", _): return .logout
        case ("POST", "authorize", _): return .authorize
        case ("GET", "service", _): return .service
        case ("POST", "verification", ""): return .verification
        case ("POST", "verification", "confirmation"): return .verificationConfirmation
        default: return nil
        }
    }

    private func answer(_ request: ReceivedRequest) -> Reply {
        guard let call = Self.call(request) else { return .json(404, ["message": "URI NOT FOUND"]) }
        let override = state.withLock { state in
            state.calls.append(call)
            return state.override
        }
        if let reply = override(call, request) { return reply }
        do { return try usual(call, request) } catch { return .json(500, ["message": "\(error)"]) }
    }

    private func usual(_ call: Call, _ request: ReceivedRequest) throws -> Reply {
        switch call {
        case .clientSettings: return clientSettings()
        case .register: return register(request)
        case .signature: return try signature(request)
        case .secondClientSecret: return try secondClientSecret(request)
        case .timePermit: return try timePermit(request)
        case .permitStorage:
            let stored = state.withLock { $0.stored[request.path] }
            return stored.map { .text(200, $0) } ?? .text(404, "<Error/>")
        case .secondTimePermit: return try secondTimePermit(request)
        case .pass1: return try pass1(request)
        case .pass2: return try pass2(request)
        case .authenticate, .mobileAuthenticate: return authenticate(request, isMobile: call == .mobileAuthenticate)
        case .signingRegister: return try signingRegister(request)
        case .secondSigningShare:
            return .json(200, ["dvsClientSecret": try clientShare(master2, request.query["hash"] ?? "")])
        case .codeStatus: return codeStatus(request)
        case .logout: return .answer(200, body: [])
        case .authorize: return .json(200, ["webOTT": "00", "qrURL": "\(url)/mobile#f75dfd7607ec4213b177a3bd04651736"])
        case .service:
            return .json(
                200, ["name": "Service ü", "url": url, "rps_prefix": "rps", "logo_url": "/logo.png", "type": "online"])
        case .verification: return .json(200, ["status": "OK"])
        case .verificationConfirmation:
            guard request.json["code"] as? String == "123456" else { return .json(401, ["message": "wrong code"]) }
            return .json(200, ["accessId": "aid", "actToken": "activation token", "expireTime": 1_795_229_215])
        }
    }

    private func clientSettings() -> Reply {
        let url = self.url
        return state.withLock { state in
            var settings: [String: Any] = [
                "registerURL": "/rps/user", "signatureURL": "/rps/signature", "timePermitsURL": "/rps/timePermit",
                "mpinAuthServerURL": "/rps", "authenticateURL": "/mpinAuthenticate",
                "mobileAuthenticateURL": "/rps/authenticate", "certivoxURL": "\(url)/v3/", "appID": "app 1",
                "timePermitsStorageURL": state.hasStorage ? "\(url)/tp" : "", "cSum": 1, "useNFC": false,
            ]
            if !state.usesPermits { settings["usePermits"] = false }
            settings["codeStatusURL"] = "/rps/codeStatus"
            for (name, value) in state.settings { settings[name] = value }
            return .json(200, settings)
        }
    }

    private func register(_ request: ReceivedRequest) -> Reply {
        let body = request.json
        guard let userID = body["userId"] as? String, !userID.isEmpty, body["mobile"] as? Int == 1 else {
            return .json(400, ["message": "userId"])
        }
        let asked = request.path.split(separator: "/").dropFirst(2).first.map(String.init)
        return state.withLock { state in
            var mpinID = asked ?? ""
            if let pending = state.pending[mpinID] {
                guard body["regOTT"] as? String == pending.regOTT else { return .json(400, ["message": "regOTT"]) }
            } else {
                let id: [String: Any] = [
                    "mobile": 1, "issued": "2026-11-21 02:36:19.271448", "userID": userID, "salt": UUID().uuidString,
                ]
                mpinID = Hex.encode(Array((try? JSONSerialization.data(withJSONObject: id)) ?? Data()))
            }
            let regOTT = state.pending[mpinID]?.regOTT ?? "9ff3dd0a6f1c4addef2afe2c11966ec0"
            state.pending[mpinID] = (regOTT, state.isForced)
            var answer: [String: Any] = [
                "mpinId": mpinID, "regOTT": regOTT, "active": state.isForced,
                "expireTime": "2026-11-21T03:36:19.271581", "nowTime": "2026-11-21T02:36:19.271581",
            ]
            for (name, value) in state.registration { answer[name] = value }
            if state.namesCustomers { answer["customerId"] = request.header("X-MIRACL-CID") }
            return .json(200, answer)
        }
    }

    private func signature(_ request: ReceivedRequest) throws -> Reply {
        let mpinID = request.path.split(separator: "/").last.map(String.init) ?? ""
        let status = state.withLock { state -> Int in
            guard let pending = state.pending[mpinID] else { return 400 }
            guard pending.regOTT == request.query["regOTT"] else { return 400 }
            guard pending.isActive else { return 401 }
            state.pending[mpinID] = nil
            return 200
        }
        guard status == 200 else { return .answer(status, body: []) }
        let hash = Hex.encode(SHA256.hash(Hex.decode(mpinID) ?? []))
        let params =
            "mobile=1&expires=2026-11-21T02%3A37%3A19Z&app_id=app&hash_mpin_id=\(hash)&signature=5e&hash_user_id="
        return .json(200, ["clientSecretShare": try clientShare(master1, hash), "params": params])
    }

    private func secondClientSecret(_ request: ReceivedRequest) throws -> Reply {
        guard let hash = request.query["hash_mpin_id"], request.query["expires"] == "2026-11-21T02:37:19Z",
            request.query["signature"] == "5e", request.query["hash_user_id"] == ""
        else { return .json(403, ["message": "argument"]) }
        return .json(200, ["clientSecret": try clientShare(master2, hash), "message": "OK"])
    }

    func clientShare(_ master: [UInt8], _ hash: String) throws -> String {
        let hash = Hex.decode(hash) ?? []
        return Hex.encode(
            try octets(MPinSize.g1) { out in
                try TrustAuthority.clientSecretShare(master: master.span, hashID: hash.span, into: &out)
            })
    }

    private func timePermit(_ request: ReceivedRequest) throws -> Reply {
        let mpinID = request.path.split(separator: "/").last.map(String.init) ?? ""
        return .json(
            200,
            [
                "date": state.withLock { Int($0.date) }, "timePermit": try permitShare(mpinID, second: false),
                "signature": "a+b=&", "storageId": Hex.encode(SHA256.hash(Hex.decode(mpinID) ?? [])),
                "message": "M-Pin Time Permit Generated", "version": "0.3",
            ])
    }

    private func secondTimePermit(_ request: ReceivedRequest) throws -> Reply {
        let query = request.query
        guard let hash = query["hash_mpin_id"].flatMap(Hex.decode), query["app_id"] == "app 1", query["mobile"] == "1",
            query["signature"] == "a+b=&"
        else { return .json(401, ["message": "signature"]) }
        let date = state.withLock { $0.date }
        let share = try octets(MPinSize.g1) { [master2] out in
            try TrustAuthority.timePermitShare(master: master2.span, date: date, hashID: hash.span, into: &out)
        }
        return .json(200, ["timePermit": Hex.encode(share), "message": "OK"])
    }
}

/// Returns a random scalar below the group order.
func randomScalar() throws -> [UInt8] {
    try octets(MPinSize.scalar) { out in try RandomScalar.generate(into: &out, random: systemRandom) }
}

/// Returns `count` bytes that `fill` has written.
func octets(_ count: Int, _ fill: (inout MutableSpan<UInt8>) throws -> Void) throws -> [UInt8] {
    var result = [UInt8](repeating: 0, count: count)
    var span = result.mutableSpan
    try fill(&span)
    return result
}
