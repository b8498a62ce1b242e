import Logging
import MPinCrypto
import MPinSecrets
import ServiceLifecycle

/// Gets the server secret together at start (wire section 12).
struct ServerSecret: Sendable {
    let authorities: [TrustAuthorityClient]
    let store: any Store
    let config: RelyingPartyServiceConfig
    let logger: Logger

    /// Asks both D-TAs for their shares, for as long as they may need to come up, and adds them.
    func gather() async throws -> ServerKeys {
        var shares: [SecretBytes] = []
        for authority in authorities { shares.append(try await share(authority)) }
        let secret = try sum(shares[0], shares[1])
        try await requireUnchanged(secret)
        let context = try ServerContext(serverSecret: secret.span)
        return ServerKeys(currentID: "1", contexts: ["1": context])
    }

    private func share(_ authority: TrustAuthorityClient) async throws -> SecretBytes {
        for attempt in 1... {
            let expires = config.clock().adding(seconds: config.limits.signedSeconds).iso
            do {
                return try await authority.serverSecretShare(expires: expires)
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

    private func sum(_ first: SecretBytes, _ second: SecretBytes) throws -> SecretBytes {
        let secret = SecretBytes(count: MPinSize.g2)
        var bytes = secret.mutableSpan
        do { try Shares.recombineG2(first.span, second.span, into: &bytes) } catch {
            throw StartError("the D-TAs' server secret shares do not add up to a server secret")
        }
        return secret
    }

    /// A D-TA that has lost its master share makes a new one, and no identity registered before could log in again:
    /// better not to start than to turn everyone's right PIN into a wrong one.
    private func requireUnchanged(_ secret: SecretBytes) async throws {
        var digest = [UInt8](repeating: 0, count: SHA256.size)
        var span = digest.mutableSpan
        SHA256.hash(secret.span, into: &span)
        let now = Hex.encode(digest)
        let known = try await store.setting("server_secret_hash", orMake: { now })
        guard known == now else {
            throw StartError(
                "a D-TA has another master secret than when the identities in \(config.database) were registered; "
                    + "restore its database, or start with a new one here too")
        }
    }
}
