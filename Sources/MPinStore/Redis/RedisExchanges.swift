import Glibc
import NIOCore
import Synchronization

/// The exchanges of a connection, on its event loop. Redis answers in order, so each gets its reply.
///
/// Commands that are begun before the event loop gets to send them go out together, and after them the question whether
/// the server has been the primary all the time (``RedisTenure``). So the replies wait for the answer to that.
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
    /// The commands that are not sent yet, and their exchanges.
    private var output = ByteBuffer()
    private var unsent: [Exchange] = []
    /// What the server still has to answer.
    private var expected = CircularBuffer<Expected>()
    /// The exchanges that have their reply, and wait for what the server says about its tenure.
    private var answered: [(exchange: Exchange, reply: RedisReply)] = []
    private var isWatching = false

    /// The largest number of exchanges that are not answered yet, questions for the tenure included.
    private static let mostWaiting = 10_000
    /// The bytes of a few commands.
    private static let usualSize = 4096
    private static let unasked = "Redis: a reply that nobody has asked for"
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

    /// Sends a command when the event loop has done what waits now.
    func begin(_ exchange: Exchange, _ command: [UInt8]) {
        if isIdle { noticeEnd() }
        if let refusal = loss ?? (expected.count < Self.mostWaiting ? nil : "Redis: too many wait for an answer") {
            exchange.continuation?.resume(throwing: RedisFailure.unreachable(refusal))
            return
        }
        if unsent.isEmpty { context?.eventLoop.assumeIsolated().execute { self.send() } }
        output.writeBytes(command)
        unsent.append(exchange)
        watch()
    }

    private var isIdle: Bool { expected.isEmpty && unsent.isEmpty }

    private func send() {
        guard loss == nil else { return }
        output.writeBytes(RedisTenure.question)
        for exchange in unsent { expected.append(.reply(exchange)) }
        expected.append(.tenure)
        unsent.removeAll(keepingCapacity: true)
        context?.writeAndFlush(wrapOutboundOut(output), promise: nil)
        output.clear(minimumCapacity: Self.usualSize)
    }

    /// A connection that ended since the last exchange is noticed here, where nothing is sent yet: later nobody could tell
    /// whether a change was made.
    private func noticeEnd() {
        guard loss == nil else { return }
        switch arrived {
        case .some(0): lose("Redis at \(place): connection closed")
        case .some: lose(Self.unasked)
        case nil: break
        }
    }

    /// The number of bytes that can be read now, at most 1; 0: the connection has ended. Nil if there is nothing.
    private var arrived: Int? {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? nil : max(count, 0)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let failure = unwrapInboundIn(data).withUnsafeReadableBytes { reader.feed($0) { take($0) } }
        if let failure { lose(failure.reason) }
    }

    private func take(_ reply: RedisReply) {
        guard loss == nil else { return }
        switch expected.popFirst() {
        case .reply(let exchange): answered.append((exchange, reply))
        case .tenure: finish(tenure.lasts(reply))
        case nil: lose(Self.unasked)
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
    private func lose(_ reason: String) {
        guard loss == nil else { return }
        loss = reason
        sharedLoss.isLost = true
        for exchange in answered.map(\.exchange) + sent {
            exchange.continuation?.resume(throwing: RedisFailure.lost(reason))
        }
        for exchange in unsent { exchange.continuation?.resume(throwing: RedisFailure.unreachable(reason)) }
        (answered, unsent, expected) = ([], [], [])
        context?.close(promise: nil)
    }

    /// The exchanges whose reply has not come.
    private var sent: [Exchange] {
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
            // On a busy loop the answers may be there and not read yet.
            if self.loss == nil, self.arrived == nil { self.expire(at: .now) }
            if !self.isIdle { self.watch() }
        }
    }

    private func expire(at now: ContinuousClock.Instant) {
        guard let oldest = answered.first?.exchange ?? sent.first else { return }
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
