import AsyncHTTPClient
import Logging
import MPinOpenID
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Synchronization

/// Tells clients that their users have logged out (OpenID Connect Back-Channel Logout section 2.5).
struct BackChannel: Sendable {
    /// The seconds that a browser waits for the clients before it is sent on. Those that have not answered then are
    /// tried again in the background.
    private static let browserSeconds = 2
    /// The seconds that a client has for its answer in the background. It must be shorter than
    /// ``LogoutNotice/tryingSeconds``.
    private static let backgroundSeconds = 10

    let provider: OpenIDProvider
    private let targets: OutboundTargets
    private let http = ForwardingClient()

    /// `targets`: where clients may be.
    init(_ provider: OpenIDProvider, within targets: OutboundTargets) {
        self.provider = provider
        self.targets = targets
    }

    /// Tries once to tell the clients of all notices, at the same time, while a browser waits.
    func tell(_ notices: [LogoutNotice], _ logger: Logger) async {
        await withDiscardingTaskGroup { group in
            for notice in notices { group.addTask { await tell(notice.key, Self.browserSeconds, logger) } }
        }
    }

    /// Makes a try that is due, in the background.
    fileprivate func tellLater(_ key: String, _ logger: Logger) async {
        await tell(key, Self.backgroundSeconds, logger)
    }

    private func tell(_ key: String, _ seconds: Int, _ logger: Logger) async {
        do {
            guard let notice = try await provider.logouts.begin(key, at: provider.now) else { return }
            let told = await withTaskGroup(of: (id: String, isTold: Bool).self) { group in
                for id in notice.clients { group.addTask { (id, await tell(id, notice, seconds, logger)) } }
                return await group.reduce(into: Set<String>()) { if $1.isTold { $0.insert($1.id) } }
            }
            // When the server ends, the notice stays as it is, and the next start goes on with it.
            guard !Task.isCancelled else { return }
            for id in notice.clients where notice.isLastTry && !told.contains(id) {
                provider.report(notice, to: id, isTold: false)
            }
            try await provider.logouts.settle(notice, told: told, at: provider.now)
        } catch {
            logger.error("clients cannot be told of a logout", metadata: ["error": "\(error)"])
        }
    }

    /// Sends one client a logout token. Returns whether the client has accepted it, or need not be told.
    private func tell(_ id: String, _ notice: LogoutNotice, _ seconds: Int, _ logger: Logger) async -> Bool {
        do {
            guard let (uri, token) = try await provider.logoutToken(notice, for: id) else { return true }
            var request = HTTPClientRequest(url: uri.text)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: RequestParameters.query([("logout_token", token)])))
            let status = try await http.status(of: request, within: targets, seconds: seconds)
            guard (200..<300).contains(status) else {
                logger.warning("client refused a logout token", metadata: ["client": "\(id)", "status": "\(status)"])
                return false
            }
            provider.report(notice, to: id, isTold: true)
            return true
        } catch {
            if !Task.isCancelled {
                logger.warning(
                    "client cannot be told of a logout", metadata: ["client": "\(id)", "error": "\(error)"])
            }
            return false
        }
    }
}

/// Tells clients of logouts in the background: those that could not be reached at once, and all clients of sessions that
/// an operator's command has ended.
struct BackChannelWatch: Service {
    /// The seconds from a look into the store to the next.
    private static let seconds = 2
    /// The largest number of notices that are sent at the same time.
    private static let maxRunning = 32

    let channel: BackChannel
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            try await withThrowingDiscardingTaskGroup { group in
                let running = Running()
                while true {
                    try await Task.sleep(for: .seconds(Self.seconds))
                    for key in await due().prefix(Self.maxRunning - running.count) {
                        running.add(1)
                        group.addTask {
                            await channel.tellLater(key, logger)
                            running.add(-1)
                        }
                    }
                }
            }
        }
    }

    /// The number of notices that are being sent.
    private final class Running: Sendable {
        private let number = Mutex(0)

        var count: Int { number.withLock { $0 } }

        func add(_ change: Int) { number.withLock { $0 += change } }
    }

    private func due() async -> [String] {
        do { return try await channel.provider.logouts.due(at: channel.provider.now) } catch {
            logger.error("logouts cannot be read", metadata: ["error": "\(error)"])
            return []
        }
    }
}
