package import MPinCrypto

/// The server secrets by the id of the master secret that they come from.
package struct ServerKeys: Sendable {
    /// The key of new registrations.
    package let currentID: String
    private let contexts: [String: ServerContext]

    package init(currentID: String, contexts: [String: ServerContext]) {
        self.currentID = currentID
        self.contexts = contexts
    }

    /// Nil: that master secret is retired, and who has a client secret of it must register anew.
    package func context(_ keyID: String) -> ServerContext? { contexts[keyID] }
}
