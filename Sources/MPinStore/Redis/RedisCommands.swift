/// Commands in Redis's protocol, which are sent together.
struct RedisCommands {
    enum Word {
        case text(String)
        case bytes([UInt8])
        case number(Int64)
        /// The name under which the session keeps an item.
        case item(ItemKey)
        /// A name of the session that is no item's.
        case name(String)
    }

    private(set) var bytes: [UInt8] = []
    /// The number of commands, and so of the replies.
    private(set) var count = 0
    /// What all names of the session begin with.
    private let prefix: [UInt8]

    init(prefix: [UInt8] = []) { self.prefix = prefix }

    init(_ session: RedisSession, _ words: [Word]) {
        self.init(prefix: session.prefix)
        bytes.reserveCapacity(512)
        add(words)
    }

    mutating func add(_ words: [Word]) {
        bytes.append(UInt8(ascii: "*"))
        put(decimal: words.count)
        for word in words { put(word) }
        count += 1
    }

    private mutating func put(_ word: Word) {
        switch word {
        case .text(let text): put(text.utf8)
        case .bytes(let octets): put(octets)
        case .number(let number): put(String(number).utf8)
        case .item(let key):
            begin(prefix.count + key.table.utf8.count + 1 + key.key.utf8.count)
            bytes += prefix
            bytes += key.table.utf8
            bytes.append(UInt8(ascii: "/"))
            bytes += key.key.utf8
            endLine()
        case .name(let name):
            begin(prefix.count + name.utf8.count)
            bytes += prefix
            bytes += name.utf8
            endLine()
        }
    }

    private mutating func put(_ string: some Collection<UInt8>) {
        begin(string.count)
        bytes += string
        endLine()
    }

    /// Begins a string of so many bytes.
    private mutating func begin(_ count: Int) {
        bytes.append(UInt8(ascii: "$"))
        put(decimal: count)
    }

    private mutating func put(decimal number: Int) {
        bytes += String(number).utf8
        endLine()
    }

    private mutating func endLine() {
        bytes.append(UInt8(ascii: "\r"))
        bytes.append(UInt8(ascii: "\n"))
    }
}

/// What a command has returned.
enum RedisReply: Sendable {
    case bytes([UInt8])
    case integer(Int64)
    case null
    case array([RedisReply])
    /// The command was refused. It has changed nothing.
    case error(String)

    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var array: [RedisReply] { if case .array(let replies) = self { replies } else { [] } }
    var text: String { bytes.map { String(decoding: $0, as: UTF8.self) } ?? "" }
}

/// Why an exchange with the server failed.
enum RedisFailure: Error {
    /// The server refused a command. The connection can be used again.
    case refused(String)
    /// The connection ended while commands were on their way, so they may have been carried out.
    case lost(String)
    /// There was no answer in the caller's time, so the commands may have been carried out. The connection goes on.
    case late(String)
    /// There was no connection, so nothing was sent.
    case unreachable(String)

    var reason: String {
        switch self {
        case .refused(let reason), .lost(let reason), .late(let reason), .unreachable(let reason): reason
        }
    }
}
