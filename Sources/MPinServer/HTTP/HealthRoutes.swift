import Hummingbird

/// Health alone, on a listener that other machines may reach. The answers do not say which check has failed.
struct HealthRoutes: Sendable {
    let health: RecentHealth

    var routes: [Route] {
        [
            Route(.get, "/health/live", limit: .inside) { _, _ in state(true) },
            Route(.get, "/health/ready", limit: .inside) { _, _ in state(await health.isReady()) },
        ]
    }

    private func state(_ isUp: Bool) -> Response {
        .json(["status": isUp ? "UP" : "DOWN"], status: isUp ? .ok : .serviceUnavailable)
    }
}
