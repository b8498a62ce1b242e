import Logging
import MPinSecrets
import MPinService
import MPinStore
import ServiceLifecycle

/// How the servers of a service bind its records to their places (``RecordMAC``): the key, and how far they have come.
///
/// From the moment of ``ServiceID/sealed`` on all servers write MACs, and `mpind migrate --seal` gives them to the records
/// that have none. When it has done so, it notes that in the database, and a record without a MAC is refused. In a new
/// database both is so from the beginning.
struct ServiceBinding: Sendable {
    let binding: Binding
    private let mac: RecordMAC
    private let database: any Store
    private let mark: SealedMark?
    private let clock: Clock

    static let foreignKey = StartError(
        "its service has another key: give the key file that belongs to it, or run `mpind migrate --reseal`")
    private static let complete = ItemKey("setting", "sealed_records")

    /// Reads the state of a database. `key`: the server's own key, 32 bytes. Throws `StartError` if the records had MACs
    /// before, and the database denies it.
    init(
        of database: any Store, key: SecretBytes, mark: SealedMark?, clock: @escaping Clock = Moment.now
    ) async throws {
        self.database = database
        self.mark = mark
        self.clock = clock
        let id: ServiceID
        do { id = try await ServiceID.find(in: database, key: key, at: clock()) } catch is ServiceID.ForeignKey {
            throw Self.foreignKey
        }
        let state = try await Self.state(of: database, at: clock())
        try mark?.require(state)
        binding = Binding(state)
        mac = RecordMAC(secret: key, service: id.text, owner: Identities.owner)
    }

    /// The store of the service with MACs. `observer` is told of each record that is refused.
    func bound(_ store: any Store, observer: @escaping BoundStore.Observer = { _ in }) -> any Store {
        BoundStore(store, mac, binding, observer: observer)
    }

    /// Reads how far the servers have come. Makes the file that keeps it beside the key.
    func refresh() async throws {
        binding.advance(to: try await Self.state(of: database, at: clock()))
        if binding.state == .complete { try mark?.make() }
    }

    /// How far the servers of a database have come.
    static func state(of database: any Store, at now: Moment) async throws -> Binding.State {
        guard let sealed = try await ServiceID.sealed(in: database, at: now) else { return .none }
        // A new database is sealed from the first moment on.
        if sealed == Moment(microseconds: 0) { return .complete }
        if try await database.read(complete, at: now) != nil { return .complete }
        return sealed <= now ? .begun : .none
    }

    /// Notes in the database that all records have MACs.
    static func finish(_ database: any Store, at now: Moment) async throws {
        let item = StoredItem(value: try "complete".stored())
        try await database.update(complete, at: now, .durable) { $0 = item }
    }
}

extension ItemKey {
    /// The key for a log. A few keys are what a person types in, and may not be there; an operator finds them by their
    /// SHA-256, 16 hex digits of it.
    var shownKey: String {
        let isHash = key.utf8.count == 64 && Hex.decode(key) != nil
        return isHash ? key : "SHA-256 " + Hex.encode(Array(SHA256.hash(Array(key.utf8)).prefix(8)))
    }
}

/// Looks every few seconds how far the servers have come with the MACs of records, until all have them.
struct BindingWatch: Service {
    let binding: ServiceBinding
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                do { try await binding.refresh() } catch {
                    logger.error("not known whether all records have MACs", metadata: ["error": "\(error)"])
                }
                try await Task.sleep(for: .seconds(ServiceID.watchSeconds))
            }
        }
    }
}
