import Hummingbird

/// Everything that happens around a handler, outermost first.
func middleware(
    _ listener: String, _ edge: Edge, cors: [CORSPolicy], rates: RateLimiter?
) -> [any MiddlewareProtocol<Request, Response, RequestContext>] {
    var parts: [any MiddlewareProtocol<Request, Response, RequestContext>] = [
        ForwardedHeaders(proxies: edge.exposure.proxies, isTLS: edge.exposure.identity != nil),
        AuditOrigin(), RequestLog(listener: listener, metrics: edge.metrics), StandardHeaders(cors: cors),
        ErrorRenderer(),
        RequestChecks(limits: edge.limits), Admission(limit: edge.limits.requestsInFlight, metrics: edge.metrics),
    ]
    if let rates { parts.append(RateLimiting(limiter: rates)) }
    return parts
}
