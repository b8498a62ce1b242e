/// Where a Redis server is: `redis://USER@HOST:PORT/DATABASE?OPTION=VALUE`. User, port (6379), database (0) and options may
/// be left out.
///
/// The options: `passfile` is a file that contains the password, `socket` the path of a Unix socket (then there is no
/// host), `prefix` what all names of keys and of the channel begin with (`mpin`). `tls=off` allows a connection to another
/// machine, which anybody on its way can read. With `sentinel=NAME` the hosts, separated by commas, are those of Sentinels
/// (port 26379), which know the server under this name; `sentinel-passfile` contains their password.
package struct RedisURL: Sendable, Equatable {
    /// A host and its port.
    struct Address: Sendable, Equatable {
        let host: String
        let port: Int32

        var text: String { "\(host):\(port)" }
        var isThisMachine: Bool { ["localhost", "127.0.0.1", "::1"].contains(host) }
    }

    /// The server, or the Sentinels. Empty if there is a socket.
    let addresses: [Address]
    let socket: String?
    let database: Int
    let user: String?
    let passfile: String?
    let prefix: String
    /// The name under which the Sentinels know the server. Nil if the URL names the server itself.
    let sentinel: String?
    let sentinelPassfile: String?
    private let isPlain: Bool

    /// The hosts and ports, or the socket, for messages.
    var place: String { socket ?? addresses.map(\.text).joined(separator: ",") }

    /// Reads what follows `redis:`. Throws ``StoreError/unusable(_:)`` if it is not such a URL or has a password: other
    /// users of the machine can read the arguments of a process. No error repeats what may be a part of a password.
    init(afterScheme rest: Substring) throws {
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let start = parts.first, start.hasPrefix("//") else { throw Self.mistake("not redis://HOST:PORT") }
        let path = start.dropFirst(2).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let authority = path.first else { throw Self.mistake("not redis://HOST:PORT") }
        var options = try Self.options(parts.count > 1 ? parts[1] : "")
        let (user, address) = try Self.user(authority)
        self.user = user
        sentinel = try options.removeValue(forKey: "sentinel").map(Self.word("sentinel", "-._"))
        addresses = try Self.addresses(address, port: sentinel == nil ? 6379 : 26379)
        database = try Self.database(path.count > 1 ? path[1] : "")
        passfile = options.removeValue(forKey: "passfile")
        sentinelPassfile = options.removeValue(forKey: "sentinel-passfile")
        socket = options.removeValue(forKey: "socket")
        prefix = try Self.word("prefix", "-")(options.removeValue(forKey: "prefix") ?? "mpin")
        isPlain = try Self.isPlain(options.removeValue(forKey: "tls"))
        guard addresses.isEmpty == (socket != nil) else { throw Self.mistake("give a host or socket=PATH") }
        guard sentinel != nil || addresses.count < 2 else { throw Self.mistake("several hosts need sentinel=NAME") }
        guard sentinel != nil || sentinelPassfile == nil else {
            throw Self.mistake("sentinel-passfile needs sentinel=NAME")
        }
        guard sentinel == nil || socket == nil else { throw Self.mistake("Sentinels have no socket") }
        guard user == nil || passfile != nil else { throw Self.mistake("a user needs passfile=FILE") }
        for address in addresses { try requireAllowed(address) }
    }

    /// Throws ``StoreError/unusable(_:)`` if the address is that of another machine, unless `tls=off` allows that.
    func requireAllowed(_ address: Address) throws {
        guard isPlain || address.isThisMachine else {
            throw Self.mistake("\(address.host) is another machine, and \(Self.noTLS)")
        }
    }

    /// Why there is no `rediss:`, and what to do.
    static let noTLS = """
        there is no TLS here: let stunnel4 on this machine connect to it (docs/redis.md), or add tls=off in a network \
        that nobody else can read
        """

    private static func mistake(_ text: String) -> StoreError { .unusable("redis: " + text) }

    private static func user(_ authority: Substring) throws -> (user: String?, address: Substring) {
        guard let at = authority.lastIndex(of: "@") else { return (nil, authority) }
        let user = authority[..<at]
        guard !user.contains(":") else { throw mistake("a URL may not contain a password: give passfile=FILE") }
        return (user.isEmpty ? nil : String(user), authority[authority.index(after: at)...])
    }

    private static func addresses(_ list: Substring, port: Int32) throws -> [Address] {
        guard !list.isEmpty else { return [] }
        return try list.split(separator: ",", omittingEmptySubsequences: false).map { try address($0, port: port) }
    }

    private static func address(_ address: Substring, port usual: Int32) throws -> Address {
        var (host, rest) = (address.prefix { $0 != ":" }, address.drop { $0 != ":" })
        if address.hasPrefix("[") {
            host = address.dropFirst().prefix { $0 != "]" }
            rest = address.drop { $0 != "]" }.dropFirst()
        }
        guard !host.isEmpty else { throw mistake("a host is missing") }
        guard !rest.isEmpty else { return Address(host: String(host), port: usual) }
        guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()), port > 0 else {
            throw mistake("the port is not a number from 1 to 65535")
        }
        return Address(host: String(host), port: Int32(port))
    }

    private static func database(_ text: Substring) throws -> Int {
        guard !text.isEmpty else { return 0 }
        guard let number = Int(text), (0..<1_000_000).contains(number) else {
            throw mistake("the database is not a number")
        }
        return number
    }

    private static func options(_ query: Substring) throws -> [String: String] {
        var options: [String: String] = [:]
        for option in query.split(separator: "&") {
            let pair = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if pair[0] == "password" { throw mistake("a URL may not contain a password: give passfile=FILE") }
            guard ["passfile", "socket", "prefix", "tls", "sentinel", "sentinel-passfile"].contains(pair[0]) else {
                throw mistake("an option is none of passfile, socket, prefix, tls, sentinel and sentinel-passfile")
            }
            guard pair.count == 2, !pair[1].isEmpty, options.updateValue(pair[1], forKey: pair[0]) == nil else {
                throw mistake("\(pair[0]): an option needs one value")
            }
        }
        return options
    }

    /// Returns a function that checks the value of an option: at most 64 letters, digits and some `others`.
    private static func word(_ option: String, _ others: String) -> (String) throws -> String {
        { text in
            guard text.utf8.count <= 64,
                text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || others.contains($0)) })
            else { throw mistake("\(option)=\(text): not at most 64 letters, digits and \(others)") }
            return text
        }
    }

    private static func isPlain(_ text: String?) throws -> Bool {
        guard let text else { return false }
        guard text == "off" else { throw mistake("tls=\(text): not off") }
        return true
    }
}
