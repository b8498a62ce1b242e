import MPinStore
import NIOConcurrencyHelpers

/// The master shares that a running D-TA serves. They are kept open, and read again after a rotation.
struct MasterKeyring: Sendable {
    private let database: MasterShareDatabase
    private let held: NIOLockedValueBox<[MasterShare]>
    private let clock: Clock

    init(_ database: MasterShareDatabase, clock: @escaping Clock) throws {
        self.database = database
        self.clock = clock
        held = NIOLockedValueBox(try database.shares())
    }

    /// The shares that are served now, oldest first. `freshly`: whether to read the file again.
    func shares(freshly: Bool = false) throws -> [MasterShare] {
        if freshly {
            let found = try database.shares()
            held.withLockedValue { $0 = found }
        }
        let now = clock()
        return held.withLockedValue { $0 }.filter { $0.isServed(at: now) }
    }

    /// The share with that key id; nil when it is retired or was never made.
    func share(_ keyID: String) throws -> MasterShare? {
        if let share = try shares().first(where: { $0.keyID == keyID }) { return share }
        return try shares(freshly: true).first { $0.keyID == keyID }
    }

    func current() throws -> MasterShare {
        guard let share = try shares().last(where: { $0.servedUntil == nil }) else { throw APIError.internalError }
        return share
    }
}
