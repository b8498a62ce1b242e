/// What the holder of an admin token may do.
package enum AdminScope: String, Sendable, CaseIterable {
    case usersRead = "users:read"
    /// Includes ``usersRead``.
    case usersWrite = "users:write"
    case clientsRead = "clients:read"
    /// Includes ``clientsRead``.
    case clientsWrite = "clients:write"
    case projects
    case sessions
    case keys
    case audit
    case otp

    /// All scopes, for messages to operators.
    package static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Whether a token with this scope may do what `other` allows.
    func includes(_ other: AdminScope) -> Bool {
        switch (self, other) {
        case (.usersWrite, .usersRead), (.clientsWrite, .clientsRead): true
        default: self == other
        }
    }
}
