package import MPinCrypto

/// The server secrets by the id of the master secret that they come from.
package struct ServerKeys: Sendable {
    /// What the first master secret is called, at every D-TA.
    package static let firstID = "1"

    /// The key of new registrations.
    package let currentID: String
    private let contexts: [String: ServerContext]

    package init(currentID: String, contexts: [String: ServerContext]) {
        self.currentID = currentID
        self.contexts = contexts
    }

    /// Nil: that master secret is retired, and who has a client secret of it must register anew.
    package func context(_ keyID: String) -> ServerContext? { contexts[keyID] }

    /// What to ask the D-TAs for an identity under: its own master secret, or, where that is retired, the current one.
    /// A permit under another master secret opens nothing, but it lets an old client come as far as the verdict, which
    /// is where it can be told to register again.
    package func servedID(_ keyID: String) -> String { contexts[keyID] == nil ? currentID : keyID }
}
