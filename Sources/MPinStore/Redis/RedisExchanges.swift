import Glibc
import NIOCore
import Synchronization

/// The exchanges of a connection, on its event loop. Redis answers in order, so each gets its reply.
///
/// What is sent in one turn of the event loop goes out together, and after it the question whether the server has been
/// the primary all the time (``RedisTenure``). So the replies wait for the answer to that.
final class RedisExchanges: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    struct Exchange: Sendable {
        /// Nil if nobody wants the reply.
        var continuation: CheckedContinuation<RedisReply, any Error>?
        /// When the caller gives up.
        let deadline: ContinuousClock.Instant
        /// When the connection counts as lost.
        let end: ContinuousClock.Instant
    }

    /// Whether the connection is lost, for all threads.
    final class Loss: Sendable {
        private let hasHappened = Atomic(false)

        var isLost: Bool {
            get { hasHappened.load(ordering: .relaxed) }
            set { hasHappened.store(newValue, ordering: .relaxed) }
        }
    }

    private enum Expected {
        case reply(Exchange)
        case tenure
    }

    private let place: String
    private let descriptor: Int32
    private let tenure: RedisTenure
    private let reader: RedisReader
    private let sharedLoss: Loss
    private var loss: String?
    private var context: ChannelHandlerContext?
    /// What is sent at the end of this turn.
    private var output = ByteBuffer()
    private var expected = CircularBuffer<Expected>()
    /// The exchanges that have their reply, and wait for what the server says about its tenure.
    private var answered: [(exchange: Exchange, reply: RedisReply)] = []
    private var isWatching = false

    /// The largest number of exchanges that are not answered yet.
    private static let mostWaiting = 10_000
    /// The time after which exchanges are looked for whose deadline is over.
    private static let tick = TimeAmount.milliseconds(250)

    init(_ place: String, _ descriptor: Int32, _ tenure: RedisTenure, _ loss: Loss) throws {
        self.place = place
        self.descriptor = descriptor
        self.tenure = tenure
        reader = try RedisReader(place)
        sharedLoss = loss
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Sends a command at the end of this turn.
    func begin(_ exchange: Exchange, _ command: [UInt8]) {
        if expected.isEmpty { noticeEnd() }
        if let refusal = loss ?? (expected.count < Self.mostWaiting ? nil : "Redis: too many wait for an answer") {
            exchange.continuation?.resume(throwing: RedisFailure.unreachable(refusal))
            return
        }
        if output.readableBytes == 0 { context?.eventLoop.assumeIsolated().execute { self.send() } }
        output.writeBytes(command)
        expected.append(.reply(exchange))
        watch()
    }

    private func send() {
        guard loss == nil else { return }
        output.writeBytes(RedisTenure.question)
        expected.append(.tenure)
        context?.writeAndFlush(wrapOutboundOut(output), promise: nil)
        output.clear()
    }

    /// A connection that ended since the last exchange is noticed here, where nothing is sent yet: later nobody could tell
    /// whether a change was made.
    private func noticeEnd() {
        guard loss == nil, context?.channel.isActive == true else { return }
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) {
            lose("Redis at \(place): connection closed")
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let failure = unwrapInboundIn(data).withUnsafeReadableBytes { bytes -> RedisFailure? in
            do throws(RedisFailure) { try reader.feed(bytes) { take($0) } } catch { return error }
            return nil
        }
        if let failure { lose(failure.reason) }
    }

    private func take(_ reply: RedisReply) {
        guard loss == nil else { return }
        switch expected.popFirst() {
        case .reply(let exchange): answered.append((exchange, reply))
        case .tenure: finish(tenure.lasts(reply))
        case nil: lose("Redis: a reply that nobody has asked for")
        }
    }

    /// Ends the exchanges that have their reply. An error has changed nothing, whatever the server was meanwhile.
    private func finish(_ lasts: Bool) {
        let failure = RedisFailure.lost("Redis at \(place): was a replica meanwhile")
        for (exchange, reply) in answered {
            if case .error = reply {
                exchange.continuation?.resume(returning: reply)
            } else {
                exchange.continuation?.resume(with: lasts ? .success(reply) : .failure(failure))
            }
        }
        answered.removeAll(keepingCapacity: true)
        if !lasts { lose(failure.reason) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        lose("Redis at \(place): \(reason)")
    }

    func channelInactive(context: ChannelHandlerContext) { lose("Redis at \(place): connection closed") }

    /// Ends all exchanges and closes the connection.
    func lose(_ reason: String) {
        guard loss == nil else { return }
        loss = reason
        sharedLoss.isLost = true
        output.clear()
        let lost = answered.map(\.exchange) + waiting
        answered = []
        expected = []
        for exchange in lost { exchange.continuation?.resume(throwing: RedisFailure.lost(reason)) }
        context?.close(promise: nil)
    }

    /// The exchanges that have no reply.
    private var waiting: [Exchange] {
        expected.compactMap { if case .reply(let exchange) = $0 { exchange } else { nil } }
    }
}

extension RedisExchanges {
    /// Looks for exchanges whose time is over, as long as there are any.
    private func watch() {
        guard !isWatching else { return }
        isWatching = true
        context?.eventLoop.assumeIsolated().scheduleTask(in: Self.tick) {
            self.isWatching = false
            self.expire(at: .now)
            if !self.expected.isEmpty { self.watch() }
        }
    }

    private func expire(at now: ContinuousClock.Instant) {
        guard let oldest = answered.first?.exchange ?? waiting.first else { return }
        guard now <= oldest.end else { return lose("Redis: no answer in time") }
        for index in answered.indices { giveUp(&answered[index].exchange, at: now) }
        for index in expected.indices {
            guard case .reply(var exchange) = expected[index] else { continue }
            giveUp(&exchange, at: now)
            expected[index] = .reply(exchange)
        }
    }

    /// Ends an exchange whose caller waits no longer. Its reply will still come.
    private func giveUp(_ exchange: inout Exchange, at now: ContinuousClock.Instant) {
        guard exchange.deadline < now, let continuation = exchange.continuation.take() else { return }
        continuation.resume(throwing: RedisFailure.late("Redis: no answer in time"))
    }
}
