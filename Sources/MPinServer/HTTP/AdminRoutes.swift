import HTTPTypes
import Hummingbird
import NIOCore

/// Health and metrics, on a listener that only this machine reaches, and no page of a browser by another name.
struct AdminRoutes: Sendable {
    let hosts: OwnHosts
    let health: Health
    let metrics: Metrics
    let watch: ConnectionWatch

    var routes: [Route] {
        [
            // This answer needs no store and no key, only a running process.
            route("/health/live") { .json(["status": "UP"]) },
            route("/health/ready") { await ready() },
            route("/metrics") { await text() },
        ]
    }

    private func route(_ path: String, _ answer: @escaping @Sendable () async -> Response) -> Route {
        Route(.get, path, limit: .inside) { request, _ in
            guard hosts.contain(request) else {
                throw APIError(.misdirectedRequest, "This listener does not have this host name")
            }
            return await answer()
        }
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
