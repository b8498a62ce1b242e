import NIOCore

/// Limits the time for each step of a request, and closes the connection when that time is over. So a client that sends
/// single bytes cannot hold a socket for ever. Each connection has one clock, which is used only on its event loop.
final class RequestClock {
    private enum Reading { case nothing, header, body }

    private let limits: Limits
    /// Is told since when the connection waits for its client; nil if nobody counts the connection.
    private let connection: OpenConnection?
    private var channel: (any Channel)?
    private var reading = Reading.header
    /// Requests that were read and have no answer yet.
    private var unanswered = 0
    /// How many answers are still to be sent before the connection closes; nil if it stays open.
    private var answersLeft: Int?
    /// Whether no byte has arrived yet.
    private var isUnused = true
    /// When the server began to end; nil if it has not.
    private var endBegan: NIODeadline?
    /// When the current step began, for example with the first byte of a header or with the end of an answer.
    private var began = NIODeadline.now() {
        didSet { noteQuiet() }
    }
    /// Answers that the client has not been sent completely.
    private var unsent = 0
    private var alarm: (time: NIODeadline, task: Scheduled<Void>)?

    init(_ limits: Limits, _ connection: OpenConnection? = nil) {
        self.limits = limits
        self.connection = connection
    }

    func start(_ channel: any Channel) {
        self.channel = channel
        began = .now()
        arm()
    }

    func stop() {
        alarm?.task.cancel()
        alarm = nil
        channel = nil
    }

    /// Notes that the server is ending. Requests that have arrived, or arrive within ``Limits/quietMilliseconds``, are
    /// still answered.
    func finish() {
        endBegan = .now()
        arm()
    }

    func bytesArrived() {
        isUnused = false
        guard reading == .nothing else { return }
        reading = .header
        began = .now()
    }

    func headArrived() { reading = .body }

    func endArrived() {
        reading = .nothing
        unanswered += 1
        began = .now()
    }

    /// Notes that the request whose head has just arrived is the last one of its connection.
    func isLastRequest() { answersLeft = unanswered + 1 }

    /// Notes that the answer that is about to be sent is the last one of its connection.
    func isLastAnswer() { answersLeft = 1 }

    /// Whether the connection closes after the answer that is about to be sent. If that answer comes before its request
    /// was read completely, the rest of the request is not waited for, because it may never come.
    var closesNow: Bool {
        answersLeft == 1 || (reading == .body && unanswered == 0)
            || (endBegan != nil && reading == .nothing && unanswered == 1)
    }

    private func noteQuiet() { connection?.quietSince = unanswered + unsent > 0 ? nil : began }

    /// Notes that the client has been sent an answer, or never will be.
    func sent() {
        unsent -= 1
        noteQuiet()
    }

    func answered() {
        unsent += 1
        if closesNow { answersLeft = 0 } else { answersLeft = answersLeft.map { $0 - 1 } }
        unanswered = max(0, unanswered - 1)
        began = .now()
        arm()
    }

    private var deadline: NIODeadline {
        if answersLeft == 0 { return began + .seconds(Int64(limits.lingerSeconds)) }
        if let endBegan, isUnused || (reading == .nothing && unanswered == 0) {
            return max(began, endBegan) + .milliseconds(Int64(limits.quietMilliseconds))
        }
        return switch reading {
        case .header: began + .seconds(Int64(limits.headerSeconds))
        case .body: began + .seconds(Int64(limits.readSeconds))
        case .nothing: began + .seconds(Int64(unanswered > 0 ? limits.answerSeconds : limits.idleSeconds))
        }
    }

    /// Sets the alarm for the deadline. An alarm that is already set for an earlier time stays, because it checks the
    /// deadline again when it rings.
    func arm() {
        guard let channel else { return }
        let deadline = deadline
        if let alarm, alarm.time <= deadline { return }
        alarm?.task.cancel()
        let task = channel.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.ring() }
        alarm = (deadline, task)
    }

    private func ring() {
        alarm = nil
        if deadline <= .now() { channel?.close(promise: nil) } else { arm() }
    }
}

/// Tells the clock when bytes arrive. This handler comes before the HTTP decoder.
final class ByteWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let clock: RequestClock

    init(_ clock: RequestClock) { self.clock = clock }

    func handlerAdded(context: ChannelHandlerContext) { clock.start(context.channel) }

    func handlerRemoved(context: ChannelHandlerContext) { clock.stop() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        clock.bytesArrived()
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        clock.arm()
        context.fireChannelReadComplete()
    }
}
