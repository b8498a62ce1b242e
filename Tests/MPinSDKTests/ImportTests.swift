import Foundation
import MPinCrypto
import MPinSDK
import MPinSecrets
import MPinWire
import XCTest

/// Tests that users of three clients of Milagro and MIRACL are imported, with tokens that Milagro's crypto library
/// computed (Tests/Vectors). They can log in with the PINs that they had there.
final class ImportTests: FolderTestCase {
    private var servers: [MilagroServer] = []

    override func tearDownWithError() throws {
        for server in servers { server.stop() }
        servers = []
        try super.tearDownWithError()
    }

    /// Starts a server without time permits and a client core without users.
    private func start(masters: ([UInt8], [UInt8])? = nil) throws -> (MilagroServer, SDK) {
        let server = try masters.map { try MilagroServer(masters: $0) } ?? MilagroServer()
        server.state.withLock { $0.usesPermits = false }
        servers.append(server)
        let sdk = SDK()
        try sdk.initialize(SDKConfig(storagePath: path, backend: server.url))
        return (server, sdk)
    }

    private func source(_ format: ImportFormat, _ users: String, _ secure: String? = nil) -> ImportSource {
        func secret(_ text: String) -> SecretBytes {
            let bytes = Array(text.utf8)
            return SecretBytes(copying: bytes.span)
        }
        return ImportSource(format: format, users: secret(users), secure: secure.map(secret))
    }

    private func json(_ value: Any) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed), as: UTF8.self)
    }

    private func logIn(_ sdk: SDK, _ user: User, _ pin: String) -> Status? {
        let digits = Array(pin.utf8)
        return failure { () throws(SDKError) in
            try sdk.startAuthentication(user)
            _ = try sdk.finishAuthentication(user, pin: digits.span)
        }
    }

    /// Returns an entry of the list `vectors` in a file of Tests/Vectors.
    private func vector(_ file: String, _ id: String) throws -> [String: Any] {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/\(file).json")
        let all = try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any]
        let vectors = try XCTUnwrap(all?["vectors"] as? [[String: Any]])
        return try XCTUnwrap(vectors.first { $0["id"] as? String == id })
    }

    private func texts(_ vector: [String: Any], _ part: String) -> [String: String] {
        (vector[part] as? [String: Any] ?? [:]).compactMapValues { $0 as? String }
    }

    /// Returns a server on which alice@example.com is registered, and her ID and token. Her PIN is one to which the
    /// string hash of Milagro's core gives the number 5.
    private func alice() throws -> (id: String, token: String, server: MilagroServer, sdk: SDK) {
        let session = try vector("bn254cx-mpin", "session-032")
        let master = try XCTUnwrap(Hex.decode(try XCTUnwrap(texts(session, "in")["s"])))
        // Uses the two shares 1 and s - 1, whose sum is the master secret s.
        var rest = master
        rest[31] -= 1
        let (server, sdk) = try start(masters: ([UInt8](repeating: 0, count: 31) + [1], rest))
        return (try XCTUnwrap(texts(session, "in")["id"]), try XCTUnwrap(texts(session, "out")["token"]), server, sdk)
    }

    /// Returns a PIN to which the string hash of Milagro's core gives the number 5.
    private func oldPIN() throws -> String {
        try XCTUnwrap(
            (0..<1_000_000).lazy.map { String(format: "%06d", $0) }.first { pin in
                let digits = Array(pin.utf8)
                var scalar = [UInt8](repeating: 0, count: 32)
                var span = scalar.mutableSpan
                try? PINMapping.legacyHash.scalar(pin: digits.span, into: &span)
                return scalar == [UInt8](repeating: 0, count: 31) + [5]
            })
    }

    private func checkAlice(_ sdk: SDK, pin: String, wrong: String) throws {
        let user = try XCTUnwrap(try sdk.user("alice@example.com"))
        XCTAssertEqual(user.state, .registered)
        XCTAssertEqual(logIn(sdk, user, wrong), .incorrectPIN)
        XCTAssertNil(logIn(sdk, user, pin))
    }

    func testMilagroUserLogsInWithTheOldPIN() throws {
        let alice = try alice()
        let pin = try oldPIN()
        let user =
            ["state": "REGISTERED", "deviceName": "phone", "timePermitCache": ["date": 1, "timePermit": ""]] as Any
        let secure = try json([alice.id.uppercased(): ["token": alice.token]])
        XCTAssertEqual(
            try alice.sdk.importStorage(source(.milagro, try json([alice.server.url: [alice.id: user]]), secure)), 1)
        try checkAlice(alice.sdk, pin: pin, wrong: "0005")
        XCTAssertEqual(try alice.sdk.user("alice@example.com")?.deviceName, "phone")
        // A second import of the same data, this time without the name of the backend, must add no user. After a
        // restart, Alice must still be able to log in.
        XCTAssertEqual(try alice.sdk.importStorage(source(.milagro, try json([alice.id: user]), secure)), 0)
        let again = SDK()
        try again.initialize(SDKConfig(storagePath: path, backend: alice.server.url))
        try checkAlice(again, pin: pin, wrong: "1234")
    }

    func testAnOldTokenIsRenewedUnderItsPIN() throws {
        let alice = try alice()
        let pin = try oldPIN()
        let users = try json([alice.server.url: [alice.id: ["state": "REGISTERED"]]])
        XCTAssertEqual(
            try alice.sdk.importStorage(source(.milagro, users, try json([alice.id: ["token": alice.token]]))), 1)
        alice.server.state.withLock { $0.demands = [["dvsRegister": ["token": "leave"]]] }
        try checkAlice(alice.sdk, pin: pin, wrong: "0005")
        XCTAssertNotEqual(try alice.sdk.user("alice@example.com")?.mpinID, alice.id)
        try checkAlice(alice.sdk, pin: pin, wrong: "0005")
    }

    func testMFAUserLogsInWithTheOldPIN() throws {
        let alice = try alice()
        let users =
            [
                "version": 1,
                "data": [
                    alice.id: [
                        "id": "alice@example.com", "backend": alice.server.url + "/", "customerId": "customer",
                        "appId": "app", "state": "REGISTERED",
                    ]
                ],
            ] as [String: Any]
        let secure = try json([alice.id: ["token": alice.token, "regOTT": "", "accessCode": ""]])
        XCTAssertEqual(try alice.sdk.importStorage(source(.mfa, try json(users), secure)), 1)
        try checkAlice(alice.sdk, pin: try oldPIN(), wrong: "0005")
        let user = try XCTUnwrap(try alice.sdk.user("alice@example.com"))
        XCTAssertEqual(user.customerID, "customer")
        XCTAssertEqual(user.appID, "app")
    }

    func testClientJSUserLogsInWithItsDecimalPIN() throws {
        let alice = try alice()
        let list = [
            [
                "userId": "alice@example.com", "projectId": "p", "state": "REGISTERED", "mpinId": alice.id,
                "token": alice.token, "curve": "BN254CX", "pinLength": 4, "lastUsed": 1_700_000_000_000,
            ]
        ]
        XCTAssertEqual(try alice.sdk.importStorage(source(.clientJS, try json(list))), 1)
        try checkAlice(alice.sdk, pin: "0005", wrong: "0006")
    }

    func testClientJSUserWithAKeyPairLogsInAndCanSign() throws {
        for (id, pin) in [
            ("gen-reg-0", "1234"), ("gen-reg-2", "9999"), ("gen-reg-4", "12345"), ("gen-reg-6", "000001"),
        ] {
            let registration = try vector("bn254cx-trust", id)
            let (sdk, user) = try imported(registration, pinLength: pin.count)
            XCTAssertEqual(user.record.signing?.point, texts(registration, "output")["A"], id)
            XCTAssertTrue(user.canSign, id)
            // Signing keys cannot be registered, because they would replace the key pair that this user needs to log
            // in.
            let digits = Array(pin.utf8)
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.startRegistrationDVS(user, pin: digits.span) }, .flowError)
            XCTAssertEqual(logIn(sdk, user, String("987654".prefix(pin.count))), .incorrectPIN, id)
            XCTAssertNil(logIn(sdk, user, pin), id)
        }
    }

    /// Imports the user with a key pair that a vector registers.
    private func imported(_ registration: [String: Any], pinLength: Int) throws -> (SDK, User) {
        let (input, output) = (texts(registration, "input"), texts(registration, "output"))
        let shares = try ["s1", "s2"].map { try XCTUnwrap(Hex.decode(try XCTUnwrap(input[$0]))) }
        let (_, sdk) = try start(masters: (shares[0], shares[1]))
        let content = try JSONSerialization.jsonObject(with: Data((input["mpinIdText"] ?? "").utf8))
        let userID = try XCTUnwrap((content as? [String: Any])?["userID"] as? String)
        let list = [
            [
                "userId": userID, "projectId": "p", "state": "REGISTERED", "mpinId": input["mpinId"] ?? "",
                "token": output["token"] ?? "", "publicKey": output["publicKey"] ?? "", "dtas": "WyIxIiwiMiJd",
                "pinLength": pinLength,
            ] as [String: Any]
        ]
        XCTAssertEqual(try sdk.importStorage(source(.clientJS, try json(list))), 1, userID)
        return (sdk, try XCTUnwrap(try sdk.user(userID), userID))
    }

    /// A record of an older version does not have the identity's point, so each login computes it. One with the point of
    /// another identity cannot log in, which shows that logins use the point that is stored.
    func testAnOldRecordWithoutThePointLogsIn() throws {
        let (sdk, user) = try imported(try vector("bn254cx-trust", "gen-reg-0"), pinLength: 4)
        let other = texts(try vector("bn254cx-trust", "gen-reg-2"), "output")["A"]
        let store = UserStore(storage: FileStorage(path: path), key: try KeyFile.loadOrCreate(path + ".key"))
        for (point, result) in [(other, Status.incorrectPIN), (nil, nil)] {
            let text = try JSON.encode(user.record).plainText
            let kept = "\"point\":\"\(try XCTUnwrap(user.record.signing?.point))\""
            let changed = text.replacingOccurrences(of: kept + ",", with: point.map { "\"point\":\"\($0)\"," } ?? "")
            let bytes = Array(changed.utf8)
            let record = try JSON.decode(UserRecord.self, from: bytes.span)
            XCTAssertEqual(record.signing?.point, point)
            _ = try store.update(record.key) { $0 = record }
            XCTAssertEqual(logIn(sdk, user, "1234"), result)
        }
    }

    /// Returns users as a Milagro client stores them. Each user's name says what is right or wrong with the data.
    private func milagroUsers(_ alice: (id: String, token: String, server: MilagroServer, sdk: SDK)) throws
        -> (users: [String: Any], secure: [String: Any])
    {
        func id(_ name: String) -> String { Hex.encode(Array(#"{"userID":"\#(name)"}"#.utf8)) }
        let users: [String: Any] = [
            id("started"): ["state": "STARTED_REGISTRATION"], id("activated"): ["state": "ACTIVATED"],
            id("blocked"): ["state": "BLOCKED"], id("good"): ["state": "REGISTERED"],
            id("no token"): ["state": "REGISTERED"], id("short token"): ["state": "REGISTERED"],
            id("no point"): ["state": "REGISTERED"], id("both"): ["state": "REGISTERED"],
            id("no regOTT"): ["state": "STARTED_REGISTRATION"], id("invalid"): ["state": "INVALID"],
            id("unknown"): ["state": "ASLEEP"], id("number"): ["state": 3], id("text"): "REGISTERED",
            "zz": ["state": "REGISTERED"], "": ["state": "REGISTERED"],
            Hex.encode(Array("no JSON".utf8)): ["state": "REGISTERED"],
        ]
        var secure: [String: Any] = [
            id("started"): ["regOTT": "0123456789abcdef0123456789abcdef"],
            id("activated"): ["regOTT": "0123456789abcdef0123456789abcdef"],
            id("short token"): ["token": String(alice.token.dropLast(2))],
            id("no point"): ["token": "04" + String(repeating: "11", count: 64)],
            id("both"): ["token": alice.token, "regOTT": "00"], id("number"): 7,
        ]
        for name in ["good", "invalid", "unknown", "text"] { secure[id(name)] = ["token": alice.token] }
        for other in ["zz", "", Hex.encode(Array("no JSON".utf8))] { secure[other] = ["token": alice.token] }
        return (users, secure)
    }

    func testStatesAreKeptAndDamagedUsersAreLeftOut() throws {
        let alice = try alice()
        let (users, secure) = try milagroUsers(alice)
        XCTAssertEqual(try alice.sdk.importStorage(source(.milagro, try json(users), try json(secure))), 4)
        let states = try alice.sdk.listUsers().map { "\($0.id) \($0.state.name)" }
        XCTAssertEqual(
            states, ["activated ACTIVATED", "blocked BLOCKED", "good REGISTERED", "started STARTED_REGISTRATION"])
    }

    func testClientJSListsKeepWhatIsWhole() throws {
        let alice = try alice()
        func user(_ changes: [String: Any]) -> [String: Any] {
            [
                "userId": "alice@example.com", "state": "REGISTERED", "mpinId": alice.id, "token": alice.token,
            ].merging(changes) { $1 }
        }
        let damaged: [Any] = [
            user(["curve": "BLS383"]), user(["state": "STARTED"]), user(["userId": "bob@example.com"]),
            user(["token": "04"]), user(["publicKey": "00"]), user(["mpinId": NSNull()]), 7, NSNull(), "x", [Any](),
        ]
        XCTAssertEqual(try alice.sdk.importStorage(source(.clientJS, try json(damaged))), 0)
        XCTAssertEqual(try alice.sdk.listAllUsers().count, 0)
        let revoked = damaged + [user(["state": "REVOKED"]), user([:])]
        XCTAssertEqual(try alice.sdk.importStorage(source(.clientJS, try json(revoked))), 1)
        XCTAssertEqual(try alice.sdk.listUsers().map(\.state), [.blocked])
    }

    func testTextsThatAreNoStoreAreErrorsAndImportNothing() throws {
        let (_, sdk) = try start()
        func status(_ format: ImportFormat, _ users: String, _ secure: String? = "{}") -> Status? {
            failure { () throws(SDKError) in _ = try sdk.importStorage(source(format, users, secure)) }
        }
        for text in ["", "x", "[]", "7", "{\"a\":1,\"a\":2}", "{\"a\"", String(repeating: "[", count: 10_000)] {
            XCTAssertEqual(status(.milagro, text), .storageError, text)
            XCTAssertEqual(status(.mfa, text), .storageError, text)
            XCTAssertEqual(status(.milagro, "{}", text), .storageError, text)
        }
        XCTAssertEqual(status(.clientJS, "{}"), .storageError)
        XCTAssertEqual(status(.mfa, "{}"), .storageError)
        XCTAssertEqual(status(.mfa, #"{"version":0,"data":{}}"#), .storageError)
        XCTAssertEqual(status(.mfa, #"{"version":1}"#), .storageError)
        XCTAssertEqual(status(.mfa, #"{"version":2,"data":[]}"#), .storageError)
        XCTAssertEqual(status(.mfa, #"{"version":2,"data":{}}"#), .unsupportedFormat)
        XCTAssertEqual(status(.milagro, "{}", nil), .invalidArgument)
        XCTAssertNil(status(.milagro, "{}"))
        XCTAssertEqual(try sdk.listAllUsers().count, 0)
    }

    func testWithoutABackendOnlyUsersThatNameOneCanBeImported() throws {
        let sdk = SDK()
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try sdk.importStorage(source(.clientJS, "[]")) }, .flowError)
        try sdk.initialize(SDKConfig(storagePath: path))
        let id = Hex.encode(Array(#"{"userID":"bob"}"#.utf8))
        let flat = #"{"\#(id)":{"state":"BLOCKED"}}"#
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try sdk.importStorage(source(.milagro, flat, "{}")) }, .flowError)
        let nested = #"{"https://example.com":\#(flat)}"#
        XCTAssertEqual(try sdk.importStorage(source(.milagro, nested, "{}")), 1)
        XCTAssertEqual(try sdk.listAllUsers().map(\.backend), ["https://example.com"])
    }
}
