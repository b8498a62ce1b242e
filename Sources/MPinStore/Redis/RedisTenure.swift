/// The time in which a server is the primary without a break. It draws its replication ID anew whenever it becomes a primary.
///
/// A server that was a replica meanwhile has the items of another one, which may lack the last changes made here: a token
/// that was taken is back. It keeps its `run_id` and its connections, so only the replication ID tells. The server is asked
/// for it after commands. If it is still the same then, they met an unbroken primary.
struct RedisTenure: Sendable {
    private let line: [UInt8]
    private static let primary = Array("role:master\r".utf8)

    /// What is asked after commands.
    static let question: [UInt8] = {
        var commands = RedisCommands()
        commands.add([.text("INFO"), .text("replication")])
        return commands.bytes
    }()

    init(_ replicationID: String) { line = Array("master_replid:\(replicationID)\r".utf8) }

    /// Whether the answer to ``question`` says that the time has not ended.
    func lasts(_ answer: RedisReply) -> Bool {
        guard let text = answer.bytes else { return false }
        let lines = text.split(separator: UInt8(ascii: "\n"))
        return lines.contains { $0.elementsEqual(line) } && lines.contains { $0.elementsEqual(Self.primary) }
    }
}
