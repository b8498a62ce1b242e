import AsyncHTTPClient
import Logging
package import MPinSecrets
import MPinStore
import MPinWire
import NIOCore
import ServiceLifecycle
import Synchronization

/// Where pushes go: to a program of the operator's, which passes them on to the services of the phones' makers.
package struct PushTarget: Sendable {
    /// `https://`, or `http://` on this machine.
    let url: String
    /// Signs the requests.
    let key: SecretBytes
    /// The pauses before the tries. They end before the session does that a push is for.
    var pauses: [Duration] = [0, 1, 2, 4, 8, 16].map { .seconds($0) }

    package init(url: String, key: SecretBytes) {
        self.url = url
        self.key = key
    }
}

/// Sends pushes in the background. They are only in the memory of this process, because their sessions are over in
/// minutes.
final class PushSender: Service {
    /// The largest number of pushes that are under way.
    static let maxWaiting = 1000
    /// The seconds that the receiver has for its answer.
    private static let answerSeconds = 5

    private let target: PushTarget
    private let clock: @Sendable () -> Moment
    private let logger: Logger
    private let pushes: AsyncStream<TrustPush>
    private let input: AsyncStream<TrustPush>.Continuation
    private let waiting = Mutex(0)
    private let http = ForwardingClient()

    init(_ target: PushTarget, clock: @escaping @Sendable () -> Moment, logger: Logger) {
        self.target = target
        self.clock = clock
        self.logger = logger
        (pushes, input) = AsyncStream.makeStream()
    }

    /// Lets a push be sent. False if too many are under way.
    func send(_ push: TrustPush) -> Bool {
        let isTaken = waiting.withLock { count in
            guard count < Self.maxWaiting else { return false }
            count += 1
            return true
        }
        if isTaken { input.yield(push) }
        return isTaken
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for await push in self.pushes {
                    group.addTask {
                        await self.deliver(push)
                        self.waiting.withLock { $0 -= 1 }
                    }
                }
            }
        }
    }

    /// Tries until the receiver takes the push. The log has neither its link nor its token.
    func deliver(_ push: TrustPush) async {
        do {
            let (id, body) = ("msg_" + Hex.encode(try randomBytes(16)), try JSON.bytes(push))
            for pause in target.pauses {
                try await Task.sleep(for: pause)
                if await isTaken(id, body) { return }
            }
            logger.error("a push was not taken", metadata: ["project": "\(push.projectID)", "id": "\(id)"])
        } catch {
            if !Task.isCancelled { logger.error("a push cannot be sent", metadata: ["error": "\(error)"]) }
        }
    }

    private func isTaken(_ id: String, _ body: [UInt8]) async -> Bool {
        let webhook = Webhook(id: id, time: String(clock().seconds), body: body)
        var request = HTTPClientRequest(url: target.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: Webhook.Header.id, value: id)
        request.headers.add(name: Webhook.Header.time, value: webhook.time)
        request.headers.add(name: Webhook.Header.signature, value: webhook.signature(target.key))
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let status = try await http.status(of: request, seconds: Self.answerSeconds)
            guard (200..<300).contains(status) else {
                logger.warning("the receiver refused a push", metadata: ["id": "\(id)", "status": "\(status)"])
                return false
            }
            return true
        } catch {
            if !Task.isCancelled {
                logger.warning("the receiver of pushes cannot be reached", metadata: ["id": "\(id)", "error": "\(error)"])
            }
            return false
        }
    }
}
