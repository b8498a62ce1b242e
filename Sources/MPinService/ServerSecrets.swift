package import Logging
import MPinCrypto
import MPinSecrets
package import MPinStore

/// The server secret of one master secret, with its precomputed context.
struct ServerSecret: Sendable {
    let keyID: String
    /// The precomputed secret; nil if a D-TA has a different share of it than when the identities were registered.
    let context: ServerContext?
    /// The fingerprints of its shares (``MasterKey/fingerprint``), in the order of the D-TAs.
    let fingerprints: [String]
    /// Its shares, against which the D-TAs' time permits are checked.
    let shares: [SecretBytes]
    /// When the first of the D-TAs stops serving the master secret; nil while it is not being replaced.
    var servedUntil: Moment?

    /// Whether the D-TAs still have the shares that this secret was made of. `shares` contains their fingerprints, and
    /// nil for an old D-TA that does not report one.
    func isMade(of shares: [String?]) -> Bool { zip(fingerprints, shares).allSatisfy { $1 == nil || $0 == $1 } }

    /// The key id as a number, which is higher for later master secrets.
    var number: Int { Int(keyID) ?? 0 }
}

/// Combines server secrets from the shares of all D-TAs (wire section 12).
package struct ServerSecrets: Sendable {
    private let authorities: [any Authority]
    private let store: any Store
    private let place: String
    private let gatherTries: Int
    let clock: Clock
    private let observer: ServiceObserver
    private let logger: Logger

    /// Makes the source of server secrets. `store` keeps the hashes of the secrets under which identities were
    /// registered; `place` is the store's name in messages to the operator.
    package init(
        _ authorities: [any Authority], store: any Store, place: String, rules: ServiceRules,
        observer: @escaping ServiceObserver, logger: Logger
    ) {
        self.authorities = authorities
        self.store = store
        self.place = place
        gatherTries = rules.limits.gatherTries
        clock = rules.clock
        self.observer = observer
        self.logger = logger
    }

    /// Gets the server secrets at the start of the RPS, oldest first. Waits for D-TAs that are still starting.
    func gather() async throws -> [ServerSecret] {
        var lists: [[MasterKey]] = []
        for authority in authorities { lists.append(try await retrying(authority) { try await $0.keys() }) }
        var secrets: [ServerSecret] = []
        for key in common(lists) {
            var shares: [SecretBytes] = []
            for authority in authorities {
                shares.append(try await retrying(authority) { try await $0.serverSecretShare(keyID: key.id) })
            }
            secrets.append(try await secret(key, shares))
        }
        guard let newest = secrets.last else {
            throw StartError("the D-TAs have no master secret in common: was only one of them rotated?")
        }
        guard newest.context != nil else { throw StartError(changed(newest.keyID)) }
        return secrets
    }

    /// Gets the server secrets again, oldest first, because the D-TAs may have replaced the master secret. Unchanged
    /// ones are taken from `known`.
    func refreshed(_ known: [ServerSecret]) async throws -> [ServerSecret] {
        var lists: [[MasterKey]] = []
        for authority in authorities { lists.append(try await authority.keys()) }
        var secrets: [ServerSecret] = []
        for key in common(lists) {
            let before = known.first { $0.keyID == key.id }
            if var same = before, same.isMade(of: key.fingerprints) {
                same.servedUntil = key.servedUntil
                secrets.append(same)
                continue
            }
            var shares: [SecretBytes] = []
            for authority in authorities { shares.append(try await authority.serverSecretShare(keyID: key.id)) }
            let found = try await secret(key, shares)
            secrets.append(found)
            guard found.context != nil else { continue }
            if before == nil { observer(.keyInUse(key.id)) }
            logger.notice(
                before == nil ? "a new master secret is in use" : "a master secret is again what it was",
                metadata: ["key_id": "\(key.id)"])
        }
        return secrets
    }

    private func retrying<Answer>(
        _ authority: any Authority, _ ask: (any Authority) async throws -> Answer
    ) async throws -> Answer {
        for attempt in 1... {
            do {
                return try await ask(authority)
            } catch let answer as AuthorityFailure where answer.kind == .refusal {
                // The D-TA is running and refuses the request. Waiting would not make the keys or clocks agree.
                throw StartError("\(answer): do the key files belong together, and are the clocks right?")
            } catch {
                guard attempt < gatherTries else {
                    throw StartError("no server secret share from \(authority.name): \(error)")
                }
                logger.warning(
                    "waiting for a server secret share", metadata: ["from": "\(authority.name)", "error": "\(error)"])
                try await Task.sleep(for: .seconds(1))
            }
        }
        throw CancellationError()
    }
}

extension ServerSecrets {
    private typealias CommonKey = (id: String, servedUntil: Moment?, fingerprints: [String?])

    /// The master secrets that all D-TAs serve, oldest first. A server secret needs the shares of all.
    private func common(_ lists: [[MasterKey]]) -> [CommonKey] {
        guard let first = lists.first else { return [] }
        let keys = first.compactMap { key -> CommonKey? in
            let same = lists.compactMap { list in list.first { $0.id == key.id } }
            guard same.count == lists.count, Int(key.id) != nil else { return nil }
            return (key.id, same.compactMap(\.servedUntil).min(), same.map(\.fingerprint))
        }
        if Set(lists.map { Set($0.map(\.id)) }).count > 1 {
            let served = zip(1..., lists).map { index, list in
                ("dta\(index)", Logger.MetadataValue("\(list.map(\.id).joined(separator: " "))"))
            }
            logger.warning(
                "the D-TAs do not serve the same master secrets: one that only one of them has is not used",
                metadata: Dictionary(uniqueKeysWithValues: served))
        }
        return keys.sorted { (Int($0.id) ?? 0) < (Int($1.id) ?? 0) }
    }

    private func secret(_ key: CommonKey, _ shares: [SecretBytes]) async throws -> ServerSecret {
        let whole: SecretBytes
        do { whole = try Self.sum(shares) } catch {
            throw StartError("the D-TAs' server secret shares do not add up to a server secret")
        }
        var context: ServerContext?
        if try await isUnchanged(whole, keyID: key.id) {
            context = try ServerContext(serverSecret: whole.span)
        } else {
            logger.error("\(changed(key.id))")
        }
        return ServerSecret(
            keyID: key.id, context: context, fingerprints: shares.map(\.fingerprint), shares: shares,
            servedUntil: key.servedUntil)
    }

    /// The sum of at least two points of G2, 128 bytes each.
    private static func sum(_ shares: [SecretBytes]) throws -> SecretBytes {
        guard var whole = shares.first, shares.count > 1 else { throw CancellationError() }
        for share in shares.dropFirst() {
            let sum = SecretBytes(count: MPinSize.g2)
            var bytes = sum.mutableSpan
            try Shares.recombineG2(whole.span, share.span, into: &bytes)
            whole = sum
        }
        return whole
    }

    /// Whether the secret is the same as when identities were registered under it. It has changed if a D-TA has lost
    /// its master share and made a new one. Such a secret is not used, because it would make every right PIN a wrong
    /// one.
    private func isUnchanged(_ secret: SecretBytes, keyID: String) async throws -> Bool {
        // The hash of the first secret has no number in its name, because earlier versions had only one secret.
        let name = "server_secret_hash" + (keyID == ServerKeys.firstID ? "" : "_\(keyID)")
        let now = secret.fingerprint
        return try await store.setting(name, orMake: { now }) == now
    }

    private func changed(_ keyID: String) -> String {
        "a D-TA has another master secret \(keyID) than when the identities in \(place) were registered; "
            + "restore its database, or start with a new one here too"
    }
}

extension SecretBytes {
    /// The SHA-256 hash of the bytes, in hex.
    package var fingerprint: String {
        var digest = [UInt8](repeating: 0, count: SHA256.size)
        var bytes = digest.mutableSpan
        SHA256.hash(span, into: &bytes)
        return Hex.encode(digest)
    }
}
