import MPinCrypto
import MPinSecrets
import MPinService
import Synchronization

/// A D-TA in the memory of the test.
final class FakeAuthority: Authority {
    let name: String
    let index: Int
    let givesPermitsOfToday = false
    /// A scalar of 32 bytes.
    private let master: Mutex<[UInt8]>

    init(_ index: Int) throws {
        name = "authority \(index)"
        self.index = index
        master = Mutex(try Self.scalar())
    }

    /// Replaces the master share by another one with the same id, as after the loss of a database.
    func loseShare() throws {
        let scalar = try Self.scalar()
        master.withLock { $0 = scalar }
    }

    func keys() async throws -> [MasterKey] {
        [MasterKey(id: "1", servedUntil: nil, fingerprint: try await serverSecretShare(keyID: "1").fingerprint)]
    }

    func serverSecretShare(keyID: String) async throws -> SecretBytes {
        try output(MPinSize.g2) { master, share throws(MPinError) in
            try TrustAuthority.serverSecretShare(master: master, into: &share)
        }
    }

    func clientSecretShare(_ id: MPinID, keyID: String) async throws -> SecretBytes { try share(of: id.hash) }

    func clientSecretTicket(_ id: MPinID, keyID: String) -> String { Hex.encode(id.hash) }

    func keyedSecretTicket(_ id: MPinID, publicKey: [UInt8], keyID: String) -> String {
        Hex.encode(SHA256.hash(id.bytes + publicKey))
    }

    func keyedSecretShare(_ id: MPinID, publicKey: [UInt8], keyID: String) async throws -> SecretBytes {
        try share(of: SHA256.hash(id.bytes + publicKey))
    }

    /// Returns the share that a client gets for its ticket.
    func clientSecretShare(ticket: String) throws -> SecretBytes { try share(of: Hex.decode(ticket) ?? []) }

    func permitShare(_ permit: Permit) async throws -> SecretBytes { throw AuthorityFailure(.failure, "no permits") }

    func permitShareForClient(_ permit: Permit) async throws -> SecretBytes { try await permitShare(permit) }

    func permitTicket(_ permit: Permit) -> String { "" }

    func holder(_ permit: Permit) -> [UInt8] { permit.hash }

    private func share(of hash: [UInt8]) throws -> SecretBytes {
        try output(MPinSize.g1) { master, share throws(MPinError) in
            try TrustAuthority.clientSecretShare(master: master, hashID: hash.span, into: &share)
        }
    }

    private func output(
        _ count: Int, _ fill: (Span<UInt8>, inout MutableSpan<UInt8>) throws(MPinError) -> Void
    ) throws -> SecretBytes {
        let master = master.withLock { $0 }
        let share = SecretBytes(count: count)
        var bytes = share.mutableSpan
        try fill(master.span, &bytes)
        return share
    }

    private static func scalar() throws -> [UInt8] {
        var scalar = [UInt8](repeating: 0, count: MPinSize.scalar)
        var bytes = scalar.mutableSpan
        try RandomScalar.generate(into: &bytes, random: systemRandom)
        return scalar
    }
}
