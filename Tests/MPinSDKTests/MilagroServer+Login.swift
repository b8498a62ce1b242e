import Foundation
import LoopbackServer
import MPinCrypto
import MPinSDK
import MPinSecrets

/// Logins on this device and for a browser (wire sections 6.6 to 6.12), and the additional functions of a MIRACL MFA
/// server.
extension MilagroServer {
    func pass1(_ request: ReceivedRequest) throws -> Reply {
        let body = request.json
        guard let mpinID = body["mpin_id"] as? String, let u = body["U"] as? String, let ut = body["UT"] as? String,
            mpinID == mpinID.lowercased()
        else { return .json(403, ["message": "member"]) }
        let publicKey = (body["publicKey"] as? String).flatMap(Hex.decode)
        let y = try randomScalar()
        return state.withLock { state in
            let isDated = state.usesPermits && publicKey == nil
            guard ut.isEmpty == !isDated else { return .json(403, ["message": "UT"]) }
            state.pass1[mpinID] = Pass1(commitment: Hex.decode(isDated ? ut : u) ?? [], y: y, publicKey: publicKey)
            return .json(200, ["version": "0.3", "pass": 1, "y": Hex.encode(y), "message": "OK"])
        }
    }

    func pass2(_ request: ReceivedRequest) throws -> Reply {
        let body = request.json
        guard let mpinID = body["mpin_id"] as? String, let v = (body["V"] as? String).flatMap(Hex.decode),
            let wid = body["WID"] as? String, let isOTP = body["OTP"] as? Bool
        else { return .json(403, ["message": "member"]) }
        let (first, date) = state.withLock { ($0.pass1.removeValue(forKey: mpinID), $0.usesPermits ? $0.date : 0) }
        guard let first, let id = Hex.decode(mpinID) else { return .json(500, ["message": "Invalid pass one data"]) }
        let isRight = try isProof(v, of: id, first, date: first.publicKey == nil ? date : 0)
        let authOTT = Hex.encode(Array(UUID().uuidString.utf8))
        state.withLock { state in
            guard wid == "0" || state.browsers.contains(wid) else { return }
            state.tokens[authOTT] = Token(mpinID: mpinID, isRight: isRight, wid: wid, isOTP: isOTP)
        }
        var answer: [String: Any] = [
            "version": "0.3", "pass": 2, "authOTT": authOTT, "extra": ["kept": [1, 2.5, NSNull()]],
        ]
        if isOTP { answer["OTP"] = "932826" }
        return .json(200, answer)
    }

    private func isProof(_ v: [UInt8], of id: [UInt8], _ first: Pass1, date: Int32) throws -> Bool {
        guard let key = first.publicKey else {
            return try context.verify(id: id.span, date: date, u: first.commitment.span, y: first.y.span, v: v.span)
        }
        let whole = id + key
        return try context.verify(
            id: whole.span, date: 0, u: first.commitment.span, y: first.y.span, v: v.span, publicKey: key.span)
    }

    func authenticate(_ request: ReceivedRequest, isMobile: Bool) -> Reply {
        let response = request.json["mpinResponse"] as? [String: Any] ?? [:]
        let isWhole = (response["extra"] as? [String: Any])?["kept"] as? NSArray == [1, 2.5, NSNull()] as NSArray
        guard let authOTT = response["authOTT"] as? String, response["pass"] as? Int == 2, isWhole else {
            return .json(400, ["message": "mpinResponse"])
        }
        return state.withLock { state in
            guard let token = state.tokens.removeValue(forKey: authOTT), isMobile == (token.wid != "0") else {
                return .json(412, ["message": "unknown"])
            }
            if token.isRight && state.attempts[token.mpinID, default: 0] < state.maxAttempts {
                state.attempts[token.mpinID] = nil
                if !state.demands.isEmpty { return .json(200, state.demands.removeFirst()) }
                return .json(200, answer(to: request, token))
            }
            state.attempts[token.mpinID, default: 0] += 1
            let isLast = state.attempts[token.mpinID, default: 0] >= state.maxAttempts
            return .json(isLast ? 410 : 401, ["message": "Wrong PIN."])
        }
    }

    /// Returns the answer to a successful login.
    private func answer(to request: ReceivedRequest, _ token: Token) -> [String: Any] {
        if request.json["authzRequest"] as? Bool == true {
            return ["status": 200, "message": "OK", "code": "the code"]
        }
        if request.json["scope"] as? String == "dvs" {
            return ["status": 200, "dvsRegister": ["token": "leave", "curve": "BN254CX"]]
        }
        if token.isOTP {
            return ["expireTime": 1_795_229_215_000, "ttlSeconds": 60, "nowTime": 1_795_229_155_000]
        }
        if token.wid != "0" { return ["logoutURL": "/logout", "logoutData": ["sessionToken": "s", "number": 7]] }
        return ["someUserData": "welcome ü"]
    }

    func codeStatus(_ request: ReceivedRequest) -> Reply {
        guard let wid = request.json["wid"] as? String, state.withLock({ $0.browsers.contains(wid) }) else {
            return .json(412, ["message": "no such session"])
        }
        guard request.json["status"] as? String == "wid" else { return .json(200, ["Status": "OK"]) }
        return .json(200, ["PrerollId": "", "AppLogoUrl": "http://127.0.0.1/icon.png", "AppName": "Interop service"])
    }

    /// Registers an identity for signatures, with the public key of the request.
    func signingRegister(_ request: ReceivedRequest) throws -> Reply {
        guard let key = (request.json["publicKey"] as? String).flatMap(Hex.decode), key.count == MPinSize.g2,
            request.json["dvsRegisterToken"] as? String == "leave"
        else { return .json(403, ["message": "member"]) }
        let id: [String: Any] = ["userID": "alice@example.com", "salt": UUID().uuidString, "v": 5, "scope": ["dvs"]]
        let mpinID = Array(try JSONSerialization.data(withJSONObject: id))
        let hash = Hex.encode(SHA256.hash(mpinID + key))
        return .json(
            200,
            [
                "mpinId": Hex.encode(mpinID), "dvsClientSecretShare": try clientShare(master1, hash),
                "cs2url": "\(url)/v3/dvs?hash=\(hash)", "curve": "BN254CX", "dtas": "WyIwMCIsIjExIl0=",
            ])
    }

    /// Whether a signature is valid, checked with the server secret.
    func isSignature(_ signature: Signature, of hash: [UInt8]) throws -> Bool {
        let id = (Hex.decode(signature.mpinID) ?? []) + signature.publicKey
        let key = signature.publicKey
        let (u, v) = (signature.u, signature.v)
        var e = MutableSpan<UInt8>()
        var f = MutableSpan<UInt8>()
        do {
            try context.onePass(
                date: 0, id: id.span, u: u.span, ut: nil, v: v.span, time: signature.timestamp, message: hash.span,
                publicKey: key.span, e: &e, f: &f)
            return true
        } catch .badPIN { return false }
    }
}
