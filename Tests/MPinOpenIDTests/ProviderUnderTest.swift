import MPinOpenID
import MPinSecrets
import MPinStore
import MPinWire
import StoreEngines
import Synchronization
import XCTest

/// A provider for tests. Its store makes every change twice, as after a lost result; its clock moves only when the test
/// says so. It has three clients: `app` with a secret, the public client `phone`, and the service `api`, which is an
/// audience and has no users of its own.
final class ProviderUnderTest: Sendable {
    static let issuer = "https://id.example"
    static let uri = "https://app.example/cb"
    static let api = "https://api.example"
    static let secret = "a secret : with + and % in it, long enough"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    let provider: OpenIDProvider
    let store: any Store
    let events = Events()
    /// The key under which the signing keys are sealed in the store.
    let sealKey: SecretBytes
    private let time: Time

    final class Time: Sendable {
        let offset = Mutex<Int>(0)
        let start = Moment(microseconds: 1_800_000_000_000_000)
        var now: Moment { start.adding(seconds: offset.withLock { $0 }) }
    }

    final class Events: Sendable {
        let all = Mutex<[OpenIDEvent]>([])
        let revoked = Mutex<Set<String>>([])
        /// The projects that name the clients.
        let owners = Mutex<[String]>([])
        /// Runs once, the next time that the provider asks whether a user is revoked.
        let meanwhile = Mutex<(@Sendable () async throws -> Void)?>(nil)
    }

    init(_ change: (inout Client) -> Void = { _ in }) async throws {
        let (time, events) = (Time(), events)
        self.time = time
        var app = Client(id: "app", name: "App", created: time.now)
        app.redirectURIs = [try RedirectURI(Self.uri)]
        app.secrets = [ClientSecret(of: Self.secret, created: time.now)]
        app.grants = [.authorizationCode, .refreshToken]
        app.scopes = ["openid", "profile", "email", "offline_access"]
        app.isFirstParty = true
        change(&app)
        var phone = Client(id: "phone", name: "Phone", created: time.now)
        phone.authMethod = .none
        phone.redirectURIs = [try RedirectURI("http://127.0.0.1/cb")]
        phone.grants = app.grants
        phone.scopes = app.scopes
        let store = RepeatingStore(MemoryStore())
        self.store = store
        sealKey = try .random(count: 32)
        let keys = SigningKeys(in: store, sealKey: sealKey)
        try await keys.refresh(at: time.now)
        var api = Client(id: "api", name: "API", created: time.now)
        api.secrets = app.secrets
        api.grants = [.tokenExchange]
        api.resources = [Self.api]
        let table = Clients([app, phone, api])
        provider = try await OpenIDProvider(
            issuer: Self.issuer, durable: store, shortLived: store, keys: keys,
            client: { id in table.all.withLock { $0[id] } },
            permission: { login in
                let work = events.meanwhile.withLock { work in
                    defer { work = nil }
                    return work
                }
                try await work?()
                return !events.revoked.withLock { $0.contains(login.userID) }
            },
            owners: { id in id == "app" ? events.owners.withLock { $0 } : [] },
            observer: { event in events.all.withLock { $0.append(event) } }, clock: { time.now })
        self.table = table
    }

    private final class Clients: Sendable {
        let all: Mutex<[String: Client]>
        init(_ clients: [Client]) { all = Mutex(Dictionary(uniqueKeysWithValues: clients.map { ($0.id, $0) })) }
    }

    private let table: Clients

    func client(_ id: String = "app") throws -> Client { try XCTUnwrap(table.all.withLock { $0[id] }) }

    func change(_ id: String, _ change: @Sendable (inout Client) -> Void) throws {
        var client = try client(id)
        change(&client)
        let changed = client
        table.all.withLock { $0[id] = changed }
    }

    func pass(seconds: Int) { time.offset.withLock { $0 += seconds } }
    var now: Moment { time.now }

    /// Returns a code for a user who has just logged in. `more` are further parameters of the authorization request.
    func code(
        _ user: String = "alice@example.com", of id: String = "app", scope: String = "openid", pkce: Bool = true,
        in session: BrowserSession? = nil, _ more: [(String, String)] = []
    ) async throws -> String {
        let uri = id == "app" ? Self.uri : "http://127.0.0.1/cb"
        var members = [("client_id", id), ("redirect_uri", uri), ("response_type", "code"), ("scope", scope)] + more
        if pkce { members += [("code_challenge", Self.challenge), ("code_challenge_method", "S256")] }
        let parameters = try XCTUnwrap(RequestParameters(RequestParameters.query(members)))
        let reading = try await provider.read(parameters).reading
        guard case .accepted(let request) = reading else { throw Failure(text: "\(reading)") }
        var used = session
        if used == nil { used = try await begin(user, for: id).1 }
        guard let used, try await provider.sessions.open(id, with: used.id, at: now) else {
            throw Failure(text: "the session has ended")
        }
        let client = try client(id)
        if !client.isFirstParty { try await provider.allow(request, of: client, by: used.login) }
        let answer = try await provider.answer(request, used.login, sessionID: used.id)
        return try XCTUnwrap(answer.first { $0.0 == "code" }?.1)
    }

    /// Begins the session of a user who has just entered the PIN to log in to a client. `old` is the browser's cookie.
    func begin(
        _ user: String = "alice@example.com", for id: String = "app", replacing old: SessionCookie? = nil,
        phoneKey: String? = nil
    ) async throws -> (SessionCookie, BrowserSession) {
        let login = UserLogin(userID: user, mpinID: "00", time: now)
        let progress = LoginProgress(fresh: login, isByNumber: false, phoneKey: phoneKey)
        let begun = try await provider.beginSession(progress, login, for: id, replacing: old)
        return try XCTUnwrap(begun)
    }

    struct Failure: Error { let text: String }

    /// Sends a request to the token endpoint: as `app` with its secret in a Basic header, or as the public client
    /// `phone`.
    func token(
        _ members: [(String, String)], by id: String = "app", secret: String = ProviderUnderTest.secret
    ) async throws -> TokenAnswer {
        let isPublic = id == "phone"
        let members = isPublic ? members + [("client_id", id)] : members
        let parameters = try XCTUnwrap(RequestParameters(RequestParameters.query(members)))
        return try await provider.token(parameters, header: isPublic ? nil : Self.basic(id, secret))
    }

    static func basic(_ id: String, _ secret: String) -> String {
        let halves = [id, secret].map { half in String(RequestParameters.query([("", half)]).dropFirst()) }
        return "Basic " + Data(halves.joined(separator: ":").utf8).base64EncodedString()
    }

    func redeem(
        _ code: String, by id: String = "app", verifier: String? = ProviderUnderTest.verifier,
        uri: String? = nil
    ) async throws -> TokenAnswer {
        let home = id == "app" ? Self.uri : "http://127.0.0.1/cb"
        var members = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", uri ?? home)]
        if let verifier { members.append(("code_verifier", verifier)) }
        return try await token(members, by: id)
    }

    func refresh(_ token: String, by id: String = "app", scope: String? = nil) async throws -> TokenAnswer {
        let members = [("grant_type", "refresh_token"), ("refresh_token", token)]
        return try await self.token(members + (scope.map { [("scope", $0)] } ?? []), by: id)
    }

    /// Returns the token endpoint's error that `work` throws. Nil if it throws none.
    func fault<Value>(_ work: () async throws -> Value) async throws -> TokenFault.Code? {
        do {
            _ = try await work()
            return nil
        } catch let fault as TokenFault { return fault.code }
    }

    /// Returns the error of userinfo for an access token. Nil if the token is accepted.
    func bearerFault(_ token: String?) async throws -> BearerFault? {
        do {
            _ = try await provider.userinfo(try XCTUnwrap(token))
            return nil
        } catch let fault as BearerFault { return fault }
    }
}

/// Returns header and claims of a JWT without verifying its signature.
func decoded(_ token: String?) throws -> (header: [String: JSONValue], claims: [String: JSONValue]) {
    let parts = try XCTUnwrap(token).split(separator: ".").prefix(2).map { part -> [String: JSONValue] in
        let bytes = try XCTUnwrap(Base64URL.decode(part))
        return try JSON.decode(from: bytes.span)
    }
    return (parts[0], parts[1])
}
