import MPinCrypto

/// The server secrets by the id of the master secret that they come from.
struct ServerKeys: Sendable {
    /// What the first master secret is called, at every D-TA.
    static let firstID = "1"

    /// The key of new registrations.
    let currentID: String
    private let secrets: [String: ServerSecret]

    init(currentID: String, _ secrets: [ServerSecret]) {
        self.currentID = currentID
        self.secrets = Dictionary(secrets.map { ($0.keyID, $0) }) { _, last in last }
    }

    /// Nil: that master secret is retired, and who has a client secret of it must register anew. 503 while a D-TA has
    /// another share of it.
    func context(_ keyID: String) throws(APIError) -> ServerContext? {
        guard let secret = secrets[keyID] else { return nil }
        guard let context = secret.context else { throw .masterSecretChanged }
        return context
    }

    /// Whether that master secret is newer than the newest here.
    func isBehind(_ keyID: String) -> Bool { Int(keyID).map { $0 > Int(currentID) ?? 0 } ?? false }

    /// Whether proofs can be judged and clients registered.
    var isUsable: Bool { secrets[currentID]?.context != nil }

    /// What to ask the D-TAs for an identity under: its own master secret, or, where that is retired, the current one.
    /// A permit under another master secret opens nothing, but it lets an old client come as far as the verdict, which
    /// is where it can be told to register again.
    ///
    /// 503 where its shares would make every right PIN a wrong one.
    func servedID(_ keyID: String) throws(APIError) -> String {
        let served = secrets[keyID] == nil ? currentID : keyID
        _ = try context(served)
        return served
    }
}
