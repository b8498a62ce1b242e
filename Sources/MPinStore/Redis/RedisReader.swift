import CRedis

/// Makes replies of the bytes that a server sends, in whatever parts they arrive. For one thread at a time.
final class RedisReader {
    private let reader: UnsafeMutablePointer<redisReader>
    /// The host and port, or the socket, for messages.
    private let place: String
    private var frames = RedisFrames()

    init(_ place: String) throws(RedisFailure) {
        guard mpin_redis_is_available() == 1 else {
            throw .unreachable("redis: needs \(MPIN_REDIS_LIBRARY) (Debian 12: libhiredis0.14)")
        }
        guard let reader = mpin_redisReaderCreate() else { throw .unreachable("no memory") }
        self.reader = reader
        self.place = place
    }

    deinit { mpin_redisReaderFree(reader) }

    /// Takes bytes and hands on each reply that is whole with them. Returns why it cannot go on.
    func feed(_ bytes: UnsafeRawBufferPointer, _ take: (RedisReply) -> Void) -> RedisFailure? {
        guard frames.accept(bytes) else {
            return .lost("Redis at \(place): not in Redis's protocol, or longer than any answer that was asked for")
        }
        let fed = mpin_redisReaderFeed(reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        guard fed == REDIS_OK else { return .lost("Redis at \(place): no memory") }
        while true {
            var reply: UnsafeMutablePointer<redisReply>?
            guard mpin_redisReaderGetReply(reader, &reply) == REDIS_OK else {
                return .lost("Redis at \(place): not in Redis's protocol")
            }
            guard let reply else { return nil }
            take(Self.value(reply.pointee))
            mpin_freeReplyObject(reply)
        }
    }

    private static func value(_ reply: redisReply) -> RedisReply {
        let bytes = UnsafeRawBufferPointer(start: reply.str, count: reply.str == nil ? 0 : reply.len)
        switch reply.type {
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: return .bytes(Array(bytes))
        case REDIS_REPLY_ERROR: return .error(String(decoding: bytes, as: UTF8.self))
        case REDIS_REPLY_INTEGER: return .integer(reply.integer)
        case REDIS_REPLY_ARRAY:
            let elements = UnsafeBufferPointer(start: reply.element, count: reply.element == nil ? 0 : reply.elements)
            return .array(elements.map { $0.map { value($0.pointee) } ?? .null })
        default: return .null
        }
    }
}
