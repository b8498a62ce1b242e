import CRedis
import Glibc
import MPinSecrets

/// A connection to a Redis server, for one thread at a time. Only the initializers and ``replies(to:within:)`` wait.
final class RedisConnection {
    private(set) var descriptor: Int32
    /// Whether the server owes a reply to the password.
    private let hasSentPassword: Bool
    private let reader: RedisReader
    /// The host and port, or the socket, for messages.
    let place: String
    /// What the system did not take yet.
    private var rest: [UInt8] = []

    /// How long it may take to connect. Later it says when a machine that does not answer counts as lost.
    private static let patience = Duration.seconds(2)

    /// Connects to the server, which Sentinels may have to name, and sends the password.
    convenience init(_ url: RedisURL) throws {
        var address = url.addresses.first
        if let name = url.sentinel {
            let primary = try RedisSentinels(url, name).primary()
            try url.requireAllowed(primary)
            address = primary
        }
        try self.init(address, socket: url.socket, passfile: url.passfile, user: url.user, within: Self.patience)
    }

    /// Connects to an address or a socket, and sends the password if there is a file of it.
    init(
        _ address: RedisURL.Address?, socket: String? = nil, passfile: String?, user: String? = nil,
        within patience: Duration
    ) throws {
        place = socket ?? address?.text ?? ""
        reader = try RedisReader(place)
        let (descriptor, reason) = Self.connect(address, socket, Int32(patience / .milliseconds(1)))
        self.descriptor = descriptor
        hasSentPassword = passfile != nil
        guard descriptor >= 0 else { throw RedisFailure.unreachable("Redis at \(place): \(reason)") }
        if let passfile { try sendPassword(user, passfile) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Gives the socket to the caller, who closes it. Bytes that were received and not asked for are lost.
    func handOver() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }

    private static func connect(
        _ address: RedisURL.Address?, _ socket: String?, _ milliseconds: Int32
    ) -> (descriptor: Int32, reason: String) {
        var reason = [CChar](repeating: 0, count: 256)
        let descriptor = mpin_redis_connect(
            address?.host, address?.port ?? 0, socket, milliseconds, &reason, reason.count)
        let text = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return (descriptor, String(decoding: text, as: UTF8.self))
    }

    /// Sends AUTH from memory that is wiped. The socket is new, so it has room for it.
    private func sendPassword(_ user: String?, _ path: String) throws {
        let password: SecretBytes
        do { password = try Self.password(path) } catch { throw RedisFailure.unreachable("redis: \(error)") }
        let names = (user.map { [$0] } ?? []).reduce("") { $0 + "$\($1.utf8.count)\r\n\($1)\r\n" }
        let beginning = "*\(user == nil ? 2 : 3)\r\n$4\r\nAUTH\r\n\(names)$\(password.count)\r\n"
        let command = SecretBytes(joining: [SecretBytes(utf8: beginning), password, SecretBytes(utf8: "\r\n")])
        let count = command.span.withUnsafeBytes { Self.send(descriptor, $0) }
        guard count == command.count else { throw RedisFailure.unreachable("Redis at \(place): does not listen") }
    }

    /// The first line of the file.
    private static func password(_ path: String) throws -> SecretBytes {
        let text = try SecretFile.load(path, limit: 1024)
        let span = text.span
        let end = span.indices.first { [UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(span[$0]) } ?? span.count
        return SecretBytes(copying: span.extracting(first: end))
    }

    private static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Sends as much as the system takes now. The rest is sent by ``flush()``.
    func send(_ bytes: [UInt8]) throws(RedisFailure) {
        rest += bytes
        try flush()
    }

    func flush() throws(RedisFailure) {
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Self.send(descriptor, $0) }
            if count < 0 {
                guard errno == EAGAIN || errno == EINTR else { throw systemFailure }
                if errno == EAGAIN { return }
            }
            rest.removeFirst(max(count, 0))
        }
    }

    var needsToWrite: Bool { !rest.isEmpty }

    /// Reads what has arrived, and hands on each whole reply.
    func receive(_ take: (RedisReply) -> Void) throws(RedisFailure) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return }
                throw count == 0 ? .lost("Redis at \(place): connection closed") : systemFailure
            }
            let failure = buffer.withUnsafeBytes { reader.feed(.init(rebasing: $0.prefix(count)), take) }
            if let failure { throw failure }
            if count < buffer.count { return }
        }
    }

    /// Sends commands and waits for their replies. That to the password comes first.
    func replies(to commands: RedisCommands, within patience: Duration) throws(RedisFailure) -> [RedisReply] {
        let (end, count) = (ContinuousClock.now + patience, commands.count + (hasSentPassword ? 1 : 0))
        var replies: [RedisReply] = []
        rest += commands.bytes
        while true {
            try proceed(&replies)
            guard replies.count < count else { return replies }
            let left = (end - .now) / .milliseconds(1)
            guard left > 0 else { throw .lost("Redis at \(place): no answer in time") }
            let events = needsToWrite ? POLLIN | POLLOUT : POLLIN
            var wanted = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            poll(&wanted, 1, Int32(left.rounded(.up)))
        }
    }

    /// Sends and reads as much as is possible now. A server that takes no more connections says so and closes this one, so
    /// an error that it has sent counts more than one of the system.
    private func proceed(_ replies: inout [RedisReply]) throws(RedisFailure) {
        var failure: RedisFailure?
        do throws(RedisFailure) { try flush() } catch { failure = error }
        do throws(RedisFailure) { try receive { replies.append($0) } } catch { failure = failure ?? error }
        guard let failure else { return }
        for case .error(let message) in replies { throw .refused("Redis at \(place): \(message)") }
        throw failure
    }

    private var systemFailure: RedisFailure { .lost("Redis at \(place): \(String(cString: strerror(errno)))") }
}
