import HTTPTypes
import Hummingbird
import MPinService
import MPinStore
import NIOConcurrencyHelpers

/// The admin API: operators' programs do by HTTP what operators do by commands. It is on the admin listener, and every
/// request needs a token of `mpind admin token`.
struct AdminGate: Sendable {
    private let hosts: OwnHosts
    /// Holds nil until the RPS of this process has started.
    private let resources: NIOLockedValueBox<AdminResources?>
    private let limits: Limits
    private let rates: RateLimiter
    private let metrics: Metrics
    private let audit: Audit
    private let clock: Clock

    init(
        _ address: ListenAddress, _ resources: NIOLockedValueBox<AdminResources?>, _ parts: Parts,
        rates: RateLimiter, metrics: Metrics
    ) {
        hosts = OwnHosts(address)
        self.resources = resources
        limits = parts.limits
        audit = parts.audit.of("admin")
        clock = parts.rps?.clock ?? Moment.now
        self.rates = rates
        self.metrics = metrics
    }

    var routes: [Route] {
        AdminRoute.all.map { route in
            Route(route.method, route.path, limit: .admin) { request, context in
                try await answer(request, context, route)
            }
        }
    }

    /// Answers a request and counts it by its outcome.
    private func answer(_ request: Request, _ context: RequestContext, _ route: AdminRoute) async throws -> Response {
        func count(_ outcome: String) { metrics.count(.adminRequests, [route.name, outcome]) }
        let token: AdminToken
        let resources: AdminResources
        do {
            try requireOwnHost(request)
            resources = try ready()
            token = try await self.token(of: request, context, resources, for: route)
        } catch let refusal as AdminRefusal {
            count(refusal.outcome)
            return refusal.response
        }
        do {
            let body = try await route.input.read(request, limits)
            let response = try await Audit.$token.withValue(token.name) {
                try await route.answer(
                    AdminRequest(
                        request: request, context: context, resources: resources, limits: limits, body: body))
            }
            count("done")
            return response
        } catch {
            count((error as? APIError).map { $0.status.code < 500 } ?? false ? "refused" : "failed")
            throw error
        }
    }

    /// Throws if a page of a browser may have sent the request. Such a page sends its origin, or the host is its own
    /// (``OwnHosts``).
    private func requireOwnHost(_ request: Request) throws(AdminRefusal) {
        guard hosts.contain(request) else {
            throw AdminRefusal(APIError(.misdirectedRequest, "The admin API does not have this host name"), "forbidden")
        }
        guard request.headers[.origin] == nil else {
            throw AdminRefusal(APIError(.forbidden, "The admin API is not for pages of browsers"), "forbidden")
        }
    }

    private func ready() throws(AdminRefusal) -> AdminResources {
        if let resources = resources.withLockedValue(\.self) { return resources }
        throw AdminRefusal(APIError(.serviceUnavailable, "The server is starting", retryAfter: 1), "failed")
    }

    /// Returns the token of the request. Throws 401 if there is none that is valid, or 429 if an address has sent too
    /// many such requests; and 403 if the token does not have the scope.
    private func token(
        of request: Request, _ context: RequestContext, _ resources: AdminResources, for route: AdminRoute
    ) async throws -> AdminToken {
        guard let token = try await resources.tokens.find(request.bearer ?? "", at: clock()) else {
            do { try rates.admit(.admin, address: context.remoteAddress) } catch {
                throw AdminRefusal(error, "limited")
            }
            audit.record(.adminRefused(route.name))
            throw AdminRefusal(
                APIError(.unauthorized, "Missing, wrong or expired token"), "unauthorized", challenge: "Bearer")
        }
        guard token.allows(route.scope) else {
            throw AdminRefusal(
                APIError(.forbidden, "The token does not have the scope \(route.scope.rawValue)"), "forbidden",
                challenge: "Bearer error=\"insufficient_scope\", scope=\"\(route.scope.rawValue)\"")
        }
        return token
    }
}

/// Why a request to the admin API gets no further than its gate.
private struct AdminRefusal: Error {
    let error: APIError
    /// The outcome in the metrics.
    let outcome: String
    /// The header `WWW-Authenticate` (RFC 6750 section 3). Nil if a token would not help.
    let challenge: String?

    init(_ error: APIError, _ outcome: String, challenge: String? = nil) {
        self.error = error
        self.outcome = outcome
        self.challenge = challenge
    }

    var response: Response {
        var response = error.response
        if let challenge { response.headers[.wwwAuthenticate] = challenge }
        return response
    }
}

extension Request {
    /// The token of the header `Authorization: Bearer` (RFC 6750 section 2.1). Nil if there is none.
    fileprivate var bearer: String? {
        let words = headers[.authorization]?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        return words.count == 2 && words.first?.lowercased() == "bearer" ? words.last.map(String.init) : nil
    }
}
