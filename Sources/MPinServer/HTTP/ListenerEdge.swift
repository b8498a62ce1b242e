import HTTPTypes
import Hummingbird
import MPinStore

/// What comes before and after the answer to every request of one listener.
struct ListenerEdge: Sendable {
    private let forwarded: ForwardedHeaders
    private let log: RequestLog
    private let headers = StandardHeaders()
    private let checks: RequestChecks
    private let admission: Admission
    private let rates: RateLimiter?

    init(_ listener: String, _ edge: Edge, rates: RateLimiter?, servesLogins: Bool) {
        forwarded = ForwardedHeaders(proxies: edge.exposure.proxies, isTLS: edge.exposure.identity != nil)
        log = RequestLog(listener: listener, metrics: edge.metrics)
        checks = RequestChecks(limits: edge.limits)
        admission = Admission(edge.limits, servesLogins: servesLogins, metrics: edge.metrics)
        self.rates = rates
    }

    func answer(_ request: Request, _ context: RequestContext, _ route: Route) async throws -> Response {
        let start = ContinuousClock.now
        let context = forwarded.read(request, context)
        var response = try await StorePatience.limit {
            try await Audit.$origin.withValue(context.remoteAddress) {
                try await StoreBudget.$asker.withValue(asker(context)) {
                    do { return try await admitted(request, context, route) } catch {
                        return try renderedError(error, request, context, form: route.errors)
                    }
                }
            }
        }
        log.record(request, context, response.status, at: route.isRest ? nil : context.endpointPath, since: start)
        await headers.add(to: &response, request, context, route.cors)
        // A page or phone that gets 503 does not wait, so its connection is closed and free for others.
        if response.status == .serviceUnavailable, route.kind.waits { response.headers[.connection] = "close" }
        return response
    }

    /// The address that has a share of the memory; nil for the other parts of this system, which come to listeners without
    /// limits.
    private func sharer(_ context: RequestContext) -> IPAddress? { rates?.sharer(context.remoteAddress) }

    /// Who asks. The other parts of this system ask for strangers, too.
    private func asker(_ context: RequestContext) -> StoreBudget.Asker {
        .stranger(sharer(context).map { .init($0) })
    }

    private func admitted(_ request: Request, _ context: RequestContext, _ route: Route) async throws -> Response {
        if let response = try checks.answer(request) { return response }
        // The body is read before the request takes one of the limited places for running requests, so that a client
        // that sends nothing takes none.
        let request = try await admission.withBody(request, from: sharer(context))
        let place = try admission.enter(route.kind, from: context.remoteAddress)
        defer { admission.leave(place) }
        if let rates, let group = route.limit.group { try rates.admit(group, address: context.remoteAddress) }
        let response: Response
        do { response = try await route.answer(request, context) } catch let error as APIError {
            try count(refusal: error.status, context, route)
            throw error
        }
        try count(refusal: response.status, context, route)
        return response
    }

    private func count(refusal status: HTTPResponse.Status, _ context: RequestContext, _ route: Route) throws {
        guard let rates, let group = route.limit.group(ofRefusal: status) else { return }
        try rates.admit(group, address: context.remoteAddress)
    }
}

/// Refuses or answers some requests before any handler sees them.
struct RequestChecks: Sendable {
    let limits: Limits

    func answer(_ request: Request) throws(APIError) -> Response? {
        guard request.uri.string.utf8.count <= limits.targetBytes else { throw APIError.targetTooLong }
        // OPTIONS gets the same answer for every path, known or not (wire section 2).
        return request.method == .options ? .json(["message": "options request"]) : nil
    }
}
