import Logging
import MPinCrypto
import MPinSecrets
import MPinStore
import MPinWire

/// The server secret under one master secret, made ready.
struct ServerSecret: Sendable {
    let keyID: String
    /// Nil: a D-TA has another share of it than when the identities were registered.
    let context: ServerContext?
    /// Of the shares that it was made of (``MasterKeysResponse/Key/fingerprint``), in the order of the D-TAs.
    let fingerprints: [String]
    /// These shares: what the D-TAs' time permits are held against.
    let shares: [SecretBytes]
    /// When the first of the D-TAs stops to serve the master secret; nil while it is not being replaced.
    var servedUntil: Moment?

    /// Whether the D-TAs still have the shares that it was made of, as far as they say.
    func isMade(of shares: [String?]) -> Bool { zip(fingerprints, shares).allSatisfy { $1 == nil || $0 == $1 } }

    /// Later master secrets have higher ones.
    var number: Int { Int(keyID) ?? 0 }
}

/// Gets server secrets together from the shares of both D-TAs (wire section 12).
struct ServerSecrets: Sendable {
    let authorities: [TrustAuthorityClient]
    let store: any Store
    let config: RelyingPartyServiceConfig
    let logger: Logger

    /// The server secrets at start, oldest first; waits for as long as the D-TAs may need to come up.
    func gather() async throws -> [ServerSecret] {
        var lists: [[MasterKeysResponse.Key]] = []
        for authority in authorities { lists.append(try await patiently(authority) { try await $0.keys(expires: $1) }) }
        var secrets: [ServerSecret] = []
        for key in common(lists) {
            var shares: [SecretBytes] = []
            for authority in authorities {
                shares.append(
                    try await patiently(authority) { try await $0.serverSecretShare(keyID: key.id, expires: $1) })
            }
            secrets.append(try await secret(key, shares))
        }
        guard let newest = secrets.last else {
            throw StartError("the D-TAs have no master secret in common: was only one of them rotated?")
        }
        guard newest.context != nil else { throw StartError(changed(newest.keyID)) }
        return secrets
    }

    /// `known` as it is now that the D-TAs may have been rotated, oldest first.
    func refreshed(_ known: [ServerSecret]) async throws -> [ServerSecret] {
        var lists: [[MasterKeysResponse.Key]] = []
        for authority in authorities { lists.append(try await authority.keys(expires: expires)) }
        var secrets: [ServerSecret] = []
        for key in common(lists) {
            let before = known.first { $0.keyID == key.id }
            if var same = before, same.isMade(of: key.fingerprints) {
                same.servedUntil = key.servedUntil
                secrets.append(same)
                continue
            }
            var shares: [SecretBytes] = []
            for authority in authorities {
                shares.append(try await authority.serverSecretShare(keyID: key.id, expires: expires))
            }
            let found = try await secret(key, shares)
            secrets.append(found)
            guard found.context != nil else { continue }
            if before == nil { config.audit.record(.keyInUse(key.id)) }
            logger.notice(
                before == nil ? "a new master secret is in use" : "a master secret is again what it was",
                metadata: ["key_id": "\(key.id)"])
        }
        return secrets
    }

    private var expires: String { config.clock().adding(seconds: config.limits.signedSeconds).iso }

    private func patiently<Answer>(
        _ authority: TrustAuthorityClient, _ ask: (TrustAuthorityClient, _ expires: String) async throws -> Answer
    ) async throws -> Answer {
        for attempt in 1... {
            do {
                return try await ask(authority, expires)
            } catch let error as TrustAuthorityClient.Unusable where (400..<500).contains(error.status) {
                // It is up and says no: waiting does not make the keys or clocks agree.
                throw StartError("\(error): do the key files belong together, and are the clocks right?")
            } catch {
                guard attempt < config.limits.gatherTries else {
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

    /// What both D-TAs serve, oldest first: a master secret is whole only with both shares.
    private func common(_ lists: [[MasterKeysResponse.Key]]) -> [CommonKey] {
        guard let first = lists.first, let second = lists.last else { return [] }
        let keys = first.compactMap { key -> CommonKey? in
            guard let other = second.first(where: { $0.id == key.id }), Int(key.id) != nil else { return nil }
            let ends = [key, other].compactMap { $0.servedUntil.flatMap(Moment.init) }
            return (key.id, ends.min(), [key.fingerprint, other.fingerprint])
        }
        if Set(first.map(\.id)) != Set(second.map(\.id)) {
            logger.warning(
                "the D-TAs do not serve the same master secrets: one that only one of them has is not used",
                metadata: [
                    "dta1": "\(first.map(\.id).joined(separator: " "))",
                    "dta2": "\(second.map(\.id).joined(separator: " "))",
                ])
        }
        return keys.sorted { (Int($0.id) ?? 0) < (Int($1.id) ?? 0) }
    }

    private func secret(_ key: CommonKey, _ shares: [SecretBytes]) async throws -> ServerSecret {
        guard let first = shares.first, let second = shares.last else { throw CancellationError() }
        let sum = SecretBytes(count: MPinSize.g2)
        var bytes = sum.mutableSpan
        do { try Shares.recombineG2(first.span, second.span, into: &bytes) } catch {
            throw StartError("the D-TAs' server secret shares do not add up to a server secret")
        }
        var context: ServerContext?
        if try await isUnchanged(sum, keyID: key.id) {
            context = try ServerContext(serverSecret: sum.span)
        } else {
            logger.error("\(changed(key.id))")
        }
        return ServerSecret(
            keyID: key.id, context: context, fingerprints: shares.map(\.fingerprint), shares: shares,
            servedUntil: key.servedUntil)
    }

    /// A D-TA that has lost its master share makes a new one, and no identity registered before could log in again:
    /// better not to use it than to turn everyone's right PIN into a wrong one.
    private func isUnchanged(_ secret: SecretBytes, keyID: String) async throws -> Bool {
        // The first has the name that it had when there was only one.
        let name = "server_secret_hash" + (keyID == ServerKeys.firstID ? "" : "_\(keyID)")
        let now = secret.fingerprint
        return try await store.setting(name, orMake: { now }) == now
    }

    private func changed(_ keyID: String) -> String {
        "a D-TA has another master secret \(keyID) than when the identities in \(config.database) were registered; "
            + "restore its database, or start with a new one here too"
    }
}

extension SecretBytes {
    /// SHA-256 in hex.
    var fingerprint: String {
        var digest = [UInt8](repeating: 0, count: SHA256.size)
        var bytes = digest.mutableSpan
        SHA256.hash(span, into: &bytes)
        return Hex.encode(digest)
    }
}
