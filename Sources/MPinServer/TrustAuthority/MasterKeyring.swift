import MPinStore
import NIOConcurrencyHelpers

/// The master shares that a running D-TA serves. They stay in memory, opened, and are read again after a rotation.
struct MasterKeyring: Sendable {
    private let database: MasterShareDatabase
    private let held: NIOLockedValueBox<[MasterShare]>
    private let clock: Clock

    init(_ database: MasterShareDatabase, clock: @escaping Clock) async throws {
        self.database = database
        self.clock = clock
        held = NIOLockedValueBox(try await database.shares())
    }

    /// The shares that are served now, oldest first, as the store contained them when it was last read.
    func shares() -> [MasterShare] {
        let now = clock()
        return held.withLockedValue { $0 }.filter { $0.isServed(at: now) }
    }

    /// Reads the store again, and returns the shares that are served now, oldest first.
    func freshShares() async throws -> [MasterShare] {
        let found = try await database.shares()
        held.withLockedValue { $0 = found }
        return shares()
    }

    /// The share with the key id `keyID`; nil if it is retired or was never made.
    func share(_ keyID: String) async throws -> MasterShare? {
        if let share = shares().first(where: { $0.keyID == keyID }) { return share }
        return try await freshShares().first { $0.keyID == keyID }
    }

    func current() throws -> MasterShare {
        guard let share = shares().last(where: { $0.servedUntil == nil }) else { throw APIError.internalError }
        return share
    }
}
