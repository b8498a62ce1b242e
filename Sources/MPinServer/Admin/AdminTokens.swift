import MPinOpenID
import MPinSecrets
package import MPinStore

/// The tokens for the admin API, by their names. A token's text has 32 random bytes and is shown once.
package struct AdminTokens: Sendable {
    /// The largest number of days for which a token can be made.
    package static let maxDays = 3650

    private let table: Table<AdminToken>

    package init(in store: any Store) { table = Table("admin_token", in: store) }

    /// Makes a token. Returns what the store has of it, and its text: 43 characters of base64url.
    package func add(
        _ name: String, scopes: Set<AdminScope>, days: Int, at now: Moment
    ) async throws -> (token: AdminToken, text: String) {
        guard Client.isID(name) else { throw AdminTokenFault.name }
        guard !scopes.isEmpty else { throw AdminTokenFault.noScope }
        guard (1...Self.maxDays).contains(days) else { throw AdminTokenFault.days }
        let text = try OpaqueToken.random()
        let token = AdminToken(
            name, hash: text.key, scopes: scopes, created: now, expires: now.adding(seconds: days * 86_400))
        guard try await table.create(name, token, at: now) else { throw AdminTokenFault.exists(name) }
        return (token, text.text)
    }

    /// Returns all tokens in the order of their names, also those that have expired.
    package func list(at now: Moment) async throws -> [AdminToken] { try await table.all(at: now).map(\.value) }

    package func remove(_ name: String, at now: Moment) async throws {
        guard Client.isID(name), try await table.take(name, at: now) != nil else { throw AdminTokenFault.unknown(name) }
    }

    /// Returns the token with this text. Nil if there is none, or it has expired. The hash of the text is compared with
    /// that of every token, in a time that does not depend on where they differ.
    package func find(_ text: some StringProtocol, at now: Moment) async throws -> AdminToken? {
        guard let given = OpaqueToken(text) else { return nil }
        let hash = Array(given.key.utf8)
        var found: AdminToken?
        for token in try await list(at: now) {
            let own = Array(token.hash.utf8)
            if constantTimeEqual(own.span, hash.span) { found = token }
        }
        return found.flatMap { $0.isLive(at: now) ? $0 : nil }
    }

    /// Makes these tokens those of `present`, for a restored database: a token that was removed after the backup must
    /// not come back. With nil, nobody knows which were removed, so none is left.
    package func replace(by present: AdminTokens?, at now: Moment) async throws {
        for token in try await list(at: now) { try await table.delete(token.name, at: now) }
        for token in try await present?.list(at: now) ?? [] {
            _ = try await table.create(token.name, token, at: now)
        }
    }
}

/// The reason why a token cannot be made or removed.
package enum AdminTokenFault: Error, Equatable, CustomStringConvertible {
    case name
    case noScope
    case days
    case exists(String)
    case unknown(String)

    package var description: String {
        switch self {
        case .name: "the name of a token must be 1 to 64 of A-Z a-z 0-9 . _ ~ -"
        case .noScope: "a token needs a scope: \(AdminScope.names)"
        case .days: "a token is made for 1 to \(AdminTokens.maxDays) days"
        case .exists(let name): "there is a token \(name) already"
        case .unknown(let name): "there is no token \(name)"
        }
    }
}
