import MPinCrypto

/// A registered identity, with or without a key pair.
struct RegisteredIdentity {
    let id: [UInt8], publicKey: [UInt8]?, secret: [UInt8], token: [UInt8], permit: [UInt8], serverSecret: [UInt8]
    let context: ServerContext
    /// The M-Pin ID, without a public key.
    static let plainID = Array(#"{"userID": "alice@example.com"}"#.utf8)
    /// The day for which the permit is valid, in days since 1970.
    static let date: Int32 = 20_000

    init(pin: String, keyPair: Bool) throws {
        let s = try Engine.randomScalar(), one = scalarBytes(1)
        let pair = try keyPair ? Engine.keyPair() : (z: one, publicKey: [])
        id = Self.plainID + pair.publicKey
        let hash = try Engine.hashID(id)
        publicKey = keyPair ? pair.publicKey : nil
        secret = try Engine.multiple(pair.z, Engine.clientShare(s, hash))
        permit = try Engine.multiple(pair.z, Engine.permitShare(s, Self.date, hash))
        token = try Engine.extractPIN(id: id, e: pinScalar(pin, .decimal6), bits: 20, secret: secret)
        serverSecret = try Engine.serverShare(s)
        context = try Engine.serverContext(serverSecret)
    }
}
