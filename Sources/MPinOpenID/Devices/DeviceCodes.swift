package import MPinStore

/// The device codes (RFC 8628): 32 random bytes each, of which the store has only the hash. A device asks with its code
/// whether a person has allowed it, until the person has decided or ten minutes are over.
package struct DeviceCodes: Sendable {
    /// What a device asks for. It is found by the code that the device shows.
    package struct Request: Sendable, Equatable, Codable, Storable {
        package let userCode: UserCode
        /// The ``OpaqueToken/key`` of the device code.
        let key: String
        package let clientID: String
        package let scopes: [String]
    }

    fileprivate struct Record: Codable, Storable {
        let clientID: String
        let ends: Moment
        /// How many seconds the device must wait between two polls.
        var interval = DeviceCodes.interval
        /// Before this time, a poll is too early.
        var nextPoll: Moment
        /// The last poll, and whether it was too early. By them a repeated poll is recognised.
        var lastPoll: String?
        var wasEarly = false
        /// Whether the person has refused.
        var isDenied = false
        /// What the person has allowed. Nil until then.
        var authorization: Authorization?
        /// The grant that the code was redeemed for. Nil if it was not redeemed yet.
        var grantID: String?
    }

    package static let seconds = 600
    /// The seconds between two polls of a device, at first.
    package static let interval = 5
    /// The seconds that are added to the interval after each poll that came too early.
    fileprivate static let penalty = 5
    /// A poll may come so many seconds early, because some take longer on their way than others.
    fileprivate static let tolerance = 1

    private let table: Table<Record>
    /// The requests that nobody has decided about, by their user codes. These are not hashed: a user code only leads to
    /// the page that asks whoever types it to log in, and a hash of so short a text hides nothing.
    private let requests: Table<Request>

    package init(in store: any Store) {
        table = Table("oidc_device", in: store)
        requests = Table("oidc_user_code", in: store)
    }

    /// Stores a new request, and returns the device code and what the device shows.
    func begin(_ client: Client, scopes: [String], at now: Moment) async throws -> (OpaqueToken, UserCode) {
        let (device, ends) = (try OpaqueToken.random(), now.adding(seconds: Self.seconds))
        let record = Record(clientID: client.id, ends: ends, nextPoll: now)
        _ = try await table.create(device.key, record, expires: ends.adding(seconds: Codes.memory), at: now)
        while true {
            let request = Request(userCode: try .random(), key: device.key, clientID: client.id, scopes: scopes)
            let isNew = try await requests.update(request.userCode.text, at: now, .volatile) { entry in
                guard entry == nil || entry?.value == request else { return false }
                entry = .init(request, expires: ends)
                return true
            }
            if isNew { return (device, request.userCode) }
        }
    }

    /// Returns the request of the device that shows this code. Nil if there is none, or a person has decided about it.
    func request(_ code: UserCode, at now: Moment) async throws -> Request? {
        try await requests.read(code.text, at: now)
    }

    /// Allows the device what it has asked for. Returns false if its time is over, or if somebody else has decided.
    func allow(_ request: Request, _ authorization: Authorization, at now: Moment) async throws -> Bool {
        try await requests.delete(request.userCode.text, at: now)
        return try await table.update(request.key, at: now, .durable) { entry in
            guard let record = entry?.value, now < record.ends, !record.isDenied,
                (record.authorization ?? authorization) == authorization
            else { return false }
            entry?.value.authorization = authorization
            return true
        }
    }

    /// Refuses the device what it has asked for, unless it was allowed before.
    func deny(_ request: Request, at now: Moment) async throws {
        try await requests.delete(request.userCode.text, at: now)
        try await table.update(request.key, at: now) { entry in
            if entry?.value.authorization == nil { entry?.value.isDenied = true }
        }
    }

    package enum Outcome: Sendable, Equatable {
        case granted(Authorization)
        /// The code was redeemed before, for this grant.
        case replayed(grantID: String)
        /// The person has not decided yet.
        case pending
        /// The same, and the device must ask less often.
        case early
        case denied
        case expired
        /// There is no such code of this client.
        case unknown
    }

    /// Redeems the code for a new grant, if a person has allowed it. If several requests try at once, only one succeeds.
    func poll(_ code: OpaqueToken, of client: Client, for grantID: String, at now: Moment) async throws -> Outcome {
        try await table.store.performOnce(
            PollDevice(key: table.key(code.key), clientID: client.id, grantID: grantID, now: now), at: now, .durable)
    }
}

private struct PollDevice: NamedChange {
    static let name = "poll-device"

    let key: ItemKey
    let clientID: String
    /// The id of the grant that the poll would begin. It is new in each poll, so it also names the poll.
    let grantID: String
    let now: Moment

    var keys: [ItemKey] { [key] }

    func run(_ items: inout Items) throws -> DeviceCodes.Outcome {
        try Table<DeviceCodes.Record>.change(&items[key]) { entry in
            guard var record = entry?.value, record.clientID == clientID else { return .unknown }
            if let spent = record.grantID, spent != grantID { return .replayed(grantID: spent) }
            guard now < record.ends else { return .expired }
            guard !record.isDenied else { return .denied }
            let outcome = outcome(&record)
            entry?.value = record
            return outcome
        }
    }

    private func outcome(_ record: inout DeviceCodes.Record) -> DeviceCodes.Outcome {
        if let authorization = record.authorization {
            record.grantID = grantID
            return .granted(authorization)
        }
        if record.lastPoll != grantID {
            record.lastPoll = grantID
            record.wasEarly = now < record.nextPoll
            if record.wasEarly { record.interval = min(record.interval + DeviceCodes.penalty, DeviceCodes.seconds) }
            record.nextPoll = now.adding(seconds: record.interval - DeviceCodes.tolerance)
        }
        return record.wasEarly ? .early : .pending
    }
}

extension DeviceCodes.Request: Packable {
    package init(packed members: inout Unpacker) throws {
        userCode = try members.value()
        key = try members.text()
        clientID = try members.text()
        scopes = try members.texts()
    }

    package func pack(into members: inout Packer) throws {
        try members.put(userCode)
        members.put(key)
        members.put(clientID)
        members.put(scopes)
    }
}
