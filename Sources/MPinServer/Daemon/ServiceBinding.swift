import Logging
import MPinSecrets
import MPinService
import MPinStore
import ServiceLifecycle

/// How the servers of a service bind its records to their places (``RecordMAC``): the key, and how far they have come.
///
/// When it is decided that names carry the id of the service (``ServiceID/seal(in:at:)``), all servers begin to write MACs,
/// before they change their names. `mpind migrate --seal` then gives MACs to the records that have none, and notes that in
/// the database. From then on a record without a MAC is refused. In a new database it is so from the beginning.
struct ServiceBinding: Sendable {
    let binding: Binding
    private let mac: RecordMAC
    private let database: any Store
    private let mark: SealedMark?
    private let clock: Clock

    static let foreignKey = StartError(
        "its service has another key: give the key file that belongs to it, or run `mpind migrate --reseal`")
    private static let renewing = StartError(
        "its service was about to get another id: repeat `mpind service renew-id`")
    private static let complete = ItemKey("setting", "sealed_records")

    /// Reads the state of a database. `key`: the server's own key, 32 bytes. Throws `StartError` if the records had MACs
    /// before, and the database denies it.
    init(
        of database: any Store, key: SecretBytes, mark: SealedMark?, clock: @escaping Clock = Moment.now
    ) async throws {
        self.database = database
        self.mark = mark
        self.clock = clock
        guard try await !ServiceID.isRenewing(in: database, at: clock()) else { throw Self.renewing }
        let id = try await Self.id(of: database, key, at: clock())
        let state = try await Self.state(of: database, at: clock())
        try mark?.require(state)
        binding = Binding(state)
        mac = Self.mac(id, key)
    }

    /// The id of the service, which is made if it has none. Throws `StartError` if it is bound to another key.
    static func id(of database: any Store, _ key: SecretBytes, at now: Moment) async throws -> String {
        do {
            if let id = try await ServiceID.read(in: database, key: key, at: now) { return id.text }
            return try await ServiceID.find(in: database, key: key, at: now).text
        } catch is ServiceID.ForeignKey { throw foreignKey }
    }

    /// The MACs of the service with this id and key.
    static func mac(_ id: String, _ key: SecretBytes) -> RecordMAC {
        RecordMAC(secret: key, service: id, owner: Identities.owner)
    }

    /// The store of the service with MACs. `observer` is told of each record that is refused.
    func bound(_ store: any Store, observer: @escaping BoundStore.Observer = { _ in }) -> any Store {
        BoundStore(store, mac, binding, observer: observer)
    }

    /// Reads how far the servers have come.
    func refresh() async throws { binding.advance(to: try await Self.state(of: database, at: clock())) }

    /// Makes the file that says that all records have MACs. Throws `StartError`.
    func note() throws { try mark?.make() }

    /// How far the servers of a database have come.
    static func state(of database: any Store, at now: Moment) async throws -> Binding.State {
        guard let sealed = try await ServiceID.sealed(in: database, at: now) else { return .none }
        // A new database is sealed from the first moment on.
        if sealed == Moment(microseconds: 0) { return .complete }
        return try await database.read(complete, at: now) == nil ? .begun : .complete
    }

    /// Notes in the database that all records have MACs.
    static func finish(_ database: any Store, at now: Moment) async throws {
        let item = StoredItem(value: try "complete".stored())
        try await database.update(complete, at: now, .durable) { $0 = item }
    }
}

/// Looks every second how far the servers have come with the MACs of records, until all records have them.
struct BindingWatch: Service {
    let binding: ServiceBinding
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while binding.binding.state != .complete {
                // If the database does not answer, nobody can log in at this server either.
                try? await binding.refresh()
                try await Task.sleep(for: .seconds(ServiceID.watchSeconds))
            }
            note()
        }
        // The end of a service would be the end of the server.
        try? await gracefulShutdown()
    }

    private func note() {
        do { try binding.note() } catch {
            logger.warning(
                "cannot note beside the key that all records have MACs: who can write to the database could deny it",
                metadata: ["error": "\(error)"])
        }
    }
}
