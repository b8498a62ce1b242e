import Hummingbird
import MPinSecrets
import MPinWire

/// What browsers and phones ask about browser sessions (wire sections 6.9 to 6.12).
extension RelyingPartyService {
    /// POST /getAccessNumber (wire section 6.9).
    func getAccessNumber() async throws -> Response {
        let checkSum = config.accessNumberUseCheckSum
        var (number, answer) = try await startSession { try AccessNumber.random(checkSum: checkSum) }
        answer.accessNumber = number
        return .json(answer)
    }

    /// POST /getQrUrl (wire section 6.11).
    func getQRCode() async throws -> Response {
        var (id, answer) = try await startSession { Hex.encode(try randomBytes(16)) }
        answer.qrUrl = config.baseURL + "#" + id
        return .json(answer)
    }

    /// A session under a name that no live one has. That takes a second try only where very many are live.
    private func startSession(
        _ name: () throws -> String
    ) async throws -> (wid: String, answer: BrowserSessionResponse) {
        let now = config.clock()
        let seconds = limits.accessNumberSeconds
        let expires = now.adding(seconds: seconds + limits.accessNumberGraceSeconds)
        for _ in 0..<limits.accessNumberTries {
            let (wid, webOTT) = (try name(), Hex.encode(try randomBytes(16)))
            if try await browsers.start(wid, webOTT: webOTT, expires: expires, at: now) {
                return (wid, BrowserSessionResponse(webOTT: webOTT, ttlSeconds: seconds, start: Int(now.seconds)))
            }
        }
        throw APIError(.serviceUnavailable, "No access number is free", retryAfter: 1)
    }

    /// POST /access (wire section 6.10): answered at once, or, where the browser says that it will wait, as soon as the
    /// status is another one.
    func access(_ request: Request) async throws -> Response {
        let body = try await request.json(AccessRequest.self, limits)
        let webOTT = body.webOTT.lowercased()
        guard let wid = try await browsers.wid(webOTT: webOTT, at: config.clock()) else {
            return .json(AccessResponse(status: "expired"))
        }
        let showsRefusals = body.refusals != nil
        let first = try await status(wid, webOTT: webOTT, showsRefusals)
        let seconds = min(max(body.wait?.value ?? 0, 0), limits.pageWaitSeconds)
        guard seconds > 0, !first.isFinal, first.status == body.status ?? first.status,
            first.refusals == body.refusals?.value
        else { return .json(first) }
        let changed = try await browsers.wait(wid, seconds: seconds) {
            let now = try await status(wid, webOTT: webOTT, showsRefusals)
            return now.status == first.status && now.refusals == first.refusals ? nil : now
        }
        return .json(changed ?? first)
    }

    private func status(_ wid: String, webOTT: String, _ showsRefusals: Bool) async throws -> AccessResponse {
        let now = config.clock()
        return try await browsers.look(wid, webOTT: webOTT, at: now) {
            $0.show(at: now, showsRefusals: showsRefusals)
        }
            ?? AccessResponse(status: "expired")
    }

    /// POST /codeStatus (wire section 6.12). A report about an unknown code is no error to old clients. There are so few
    /// numbers that anybody could find the live ones, and write on their pages: they are all answered alike, and reports
    /// on them, which are no part of a login, are dropped.
    func codeStatus(_ request: Request) async throws -> Response {
        let body = try await request.json(CodeStatusRequest.self, limits)
        guard Self.isReport(body.status) else { throw APIError(.badRequest, "Not a status that a phone may report") }
        let userID = UserID.normal(body.userId ?? "")
        guard userID.utf8.count <= limits.userIDBytes else {
            throw APIError(.badRequest, "userId must have at most \(limits.userIDBytes) bytes")
        }
        if let hidden = UserID.hiddenCharacters(in: userID) {
            throw APIError(.badRequest, "userId must not hold \(hidden)")
        }
        let wid = (body.wid ?? "").lowercased()
        if !AccessNumber.isNumber(wid) {
            let known: Void? = try await browsers.change(wid, at: config.clock()) {
                $0.report(status: body.status, userID: userID)
            }
            guard known != nil else { return .json(CodeStatusResponse()) }
        }
        guard body.status == "wid" else { return .json(CodeStatusResponse()) }
        return .json(CodeDetailsResponse(name: config.serviceName, logoURL: config.serviceIconURL))
    }

    /// A short word, and none of those that only the server may tell a browser.
    private static func isReport(_ status: String) -> Bool {
        (1...32).contains(status.utf8.count) && !["new", "authenticate", "expired"].contains(status)
            && status.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil
    }
}

extension AccessResponse {
    /// Whether there is nothing more to wait for.
    fileprivate var isFinal: Bool { status == "authenticate" || status == "expired" }
}
