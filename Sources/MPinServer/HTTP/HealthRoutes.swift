import Hummingbird

/// Health alone, on a listener that other machines may reach. The answers do not say which check has failed.
struct HealthRoutes: Sendable {
    let health: RecentHealth

    func add(to router: Router<RequestContext>) {
        router.serve("/health/live", [.get: { _, _ in state(true) }])
        router.serve("/health/ready", [.get: { _, _ in state(await health.isReady()) }])
    }

    private func state(_ isUp: Bool) -> Response {
        .json(["status": isUp ? "UP" : "DOWN"], status: isUp ? .ok : .serviceUnavailable)
    }
}
