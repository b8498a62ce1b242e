import HTTPTypes
import Hummingbird
import MPinOpenID

/// The operations of `mpind signing-key`. This server uses the changed keys at once.
extension AdminRoute {
    static let keys = [
        AdminRoute(.get, "/signing-keys", "signing-key list", .keys) { request in
            _ = try request.signingKeys()
            return .json(KeyList(keys: try await request.resources.keyAdministration.list()))
        },
        AdminRoute(.post, "/signing-keys/rotate", "signing-key rotate", .keys) { request in
            .json(KeyList(keys: try await request.resources.keyAdministration.rotate(request.signingKeys())))
        },
        AdminRoute(.delete, "/signing-keys/{kid}", "signing-key withdraw", .keys) { request in
            let kid = try request.name("kid")
            let left = try await request.resources.keyAdministration.withdraw(kid, from: request.signingKeys())
            guard let left else { throw APIError(.notFound, "No such signing key") }
            return .json(KeyList(keys: left))
        },
    ]
}

extension AdminRequest {
    fileprivate func signingKeys() throws(APIError) -> SigningKeys {
        guard let keys = resources.signingKeys else {
            throw APIError(.notFound, "This server is no OpenID provider")
        }
        return keys
    }
}

private struct KeyList: Encodable {
    let keys: [SigningKeyAdministration.Entry]
}
