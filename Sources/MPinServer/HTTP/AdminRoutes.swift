import HTTPTypes
import Hummingbird
import NIOCore

/// Health and metrics, on a listener that only this machine reaches.
struct AdminRoutes: Sendable {
    let health: Health
    let metrics: Metrics
    let watch: ConnectionWatch

    func add(to router: Router<RequestContext>) {
        // This answer needs no store and no key, only a running process.
        router.serve("/health/live", [.get: { _, _ in .json(["status": "UP"]) }])
        router.serve("/health/ready", [.get: { _, _ in await ready() }])
        router.serve("/metrics", [.get: { _, _ in await text() }])
    }

    private func ready() async -> Response {
        struct Report: Encodable {
            let status: String
            let checks: [String: String]
            let connections: [String: ConnectionWatch.Report]
        }
        let report = await health.report()
        let isReady = report.values.allSatisfy(\.self)
        return .json(
            Report(
                status: isReady ? "UP" : "DOWN", checks: report.mapValues { $0 ? "UP" : "DOWN" },
                connections: watch.report),
            status: isReady ? .ok : .serviceUnavailable)
    }

    private func text() async -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: await metrics.text())))
    }
}
