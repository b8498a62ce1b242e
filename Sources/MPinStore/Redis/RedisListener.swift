import Dispatch
import Synchronization

/// Listens to a channel, and connects again after a connection was lost.
final class RedisListener: Sendable {
    /// Takes a message; nil whenever the listening begins, because messages may have been missed before.
    typealias Take = @Sendable (String?) -> Void

    private let task: Task<Void, Never>

    init(_ url: RedisURL, _ channel: String, _ take: @escaping Take) {
        task = Task {
            var failures = 0
            while !Task.isCancelled {
                if await Self.listen(url, channel, take) { failures = 0 }
                let pause = min(1000, 50 << min(failures, 5))
                failures += 1
                try? await Task.sleep(for: .milliseconds(Int.random(in: pause / 2...pause)))
            }
        }
    }

    deinit { task.cancel() }

    /// Listens until the connection is lost or the task is cancelled. False if it did not come to listening.
    private static func listen(_ url: RedisURL, _ channel: String, _ take: @escaping Take) async -> Bool {
        let opened: RedisSubscription? = await withCheckedContinuation { continuation in
            opening.async { continuation.resume(returning: try? RedisSubscription(url, channel, take)) }
        }
        guard let opened else { return false }
        return await withTaskCancellationHandler {
            await opened.end()
        } onCancel: {
            opened.drop()
        }
    }

    private static let opening = DispatchQueue(label: "redis listen", attributes: .concurrent)
}

/// A connection that listens to a channel.
private final class RedisSubscription: Polled {
    private struct State {
        let connection: RedisConnection
        var hasBegun = false
        var isLost = false
        var waiter: CheckedContinuation<Bool, Never>?
        var lastHeard = ContinuousClock.now
        var lastAsked = ContinuousClock.now
    }

    private let state: Mutex<State>
    private let descriptor: Int32
    private let take: RedisListener.Take

    /// Connects, which takes a while, so not on a thread of Swift's tasks.
    init(_ url: RedisURL, _ channel: String, _ take: @escaping RedisListener.Take) throws {
        let connection = try RedisConnection(url)
        var subscribe = RedisCommands()
        subscribe.add([.text("SUBSCRIBE"), .text(channel)])
        try connection.send(subscribe.bytes)
        descriptor = connection.descriptor
        state = Mutex(State(connection: connection))
        self.take = take
        try Poller.shared.add(self, descriptor)
        Poller.shared.arm(descriptor, forWriting: false)
    }

    deinit { Poller.shared.remove(self, descriptor) }

    /// Waits until the connection is lost. False if it never came to listening.
    func end() async -> Bool {
        await withCheckedContinuation { waiter in
            let isLost = state.withLock { state in
                if !state.isLost { state.waiter = waiter }
                return state.isLost
            }
            if isLost { waiter.resume(returning: state.withLock { $0.hasBegun }) }
        }
    }

    func drop() { finish(state.withLock { Self.lose(&$0) }) }

    func advance() {
        let (messages, waiter) = state.withLock { state -> ([String?], CheckedContinuation<Bool, Never>?) in
            guard !state.isLost else { return ([], nil) }
            var replies: [RedisReply] = []
            do {
                try state.connection.flush()
                try state.connection.receive { replies.append($0) }
            } catch { return ([], Self.lose(&state)) }
            state.lastHeard = .now
            for case .error in replies { return ([], Self.lose(&state)) }
            let messages = replies.compactMap { Self.message($0.array) }
            if messages.contains(nil) { state.hasBegun = true }
            Poller.shared.arm(descriptor, forWriting: state.connection.needsToWrite)
            return (messages, nil)
        }
        for message in messages { take(message) }
        finish(waiter)
    }

    /// Asks the server once a second whether it is still there.
    func expire(at now: ContinuousClock.Instant) {
        finish(
            state.withLock { state in
                guard !state.isLost else { return nil }
                guard now - state.lastHeard < .seconds(3) else { return Self.lose(&state) }
                guard now - state.lastAsked >= .seconds(1) else { return nil }
                state.lastAsked = now
                var ping = RedisCommands()
                ping.add([.text("PING")])
                do { try state.connection.send(ping.bytes) } catch { return Self.lose(&state) }
                return nil
            })
    }

    /// The content of a message; `.some(nil)` for the reply that says that the listening has begun. Nil for other replies.
    private static func message(_ reply: [RedisReply]) -> String?? {
        switch reply.first?.text {
        case "subscribe": .some(nil)
        case "message" where reply.count == 3: reply[2].text
        default: nil
        }
    }

    private static func lose(_ state: inout State) -> CheckedContinuation<Bool, Never>? {
        state.isLost = true
        defer { state.waiter = nil }
        return state.waiter
    }

    private func finish(_ waiter: CheckedContinuation<Bool, Never>?) {
        waiter?.resume(returning: state.withLock { $0.hasBegun })
    }
}
