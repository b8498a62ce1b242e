import Hummingbird
import NIOConcurrencyHelpers

/// Limits the requests that are processed at the same time. Further ones are refused at once, because with a long queue
/// every answer would come too late. On listeners for logins half of the places are kept for logins that have begun,
/// whose earlier steps would otherwise be wasted.
///
/// Requests that wait for a person need no processor time and take none of these places, but each needs a connection
/// and some memory. So the numbers of waiting pages and of waiting phones have limits of their own, which leave
/// connections for all other requests.
final class Admission: Sendable {
    enum Place { case running, page(IPAddress?), phone(IPAddress?), free }

    private struct Counts {
        var running = 0
        var pages = CallerCounts()
        var phones = CallerCounts()
        var bodies = CallerCounts()
    }

    private let limits: Limits
    private let servesLogins: Bool
    private let metrics: Metrics
    private let counts = NIOLockedValueBox(Counts())

    init(_ limits: Limits, servesLogins: Bool, metrics: Metrics) {
        self.limits = limits
        self.servesLogins = servesLogins
        self.metrics = metrics
    }

    func enter(_ kind: Route.Kind, from address: IPAddress?) throws(APIError) -> Place {
        let caller = address?.caller
        guard let place = counts.withLockedValue({ place(kind, caller, &$0) }) else {
            metrics.count(.overloaded)
            throw kind.waits ? APIError.tooManyWait : APIError.overloaded
        }
        return place
    }

    /// Takes a place for the request; nil if there is none.
    private func place(_ kind: Route.Kind, _ caller: IPAddress?, _ counts: inout Counts) -> Place? {
        switch kind {
        // A listener without logins is called by other parts of the system. When they ask for the state of a login,
        // they do not wait for a change of it.
        case .page where !servesLogins, .phone where !servesLogins: return .free
        case .page:
            return counts.pages.enter(
                caller, most: limits.waitingPages, mostOfOne: limits.waitingPagesPerAddress,
                mostOfNetwork: limits.waitingPagesPerNetwork) ? .page(caller) : nil
        case .phone:
            return counts.phones.enter(
                caller, most: limits.waitingPhones, mostOfOne: limits.waitingPhonesPerAddress,
                mostOfNetwork: limits.waitingPhonesPerNetwork) ? .phone(caller) : nil
        case .endOfLogin, .other:
            let most = limits.requestsInFlight
            guard counts.running < (servesLogins && kind == .other ? most - most / 2 : most) else { return nil }
            counts.running += 1
            return .running
        }
    }

    /// Reads the body of a request. Bodies that are large, or may become so, are in memory while they arrive, however
    /// slowly, so their number is limited; those of logins are small.
    func withBody(_ request: Request, from address: IPAddress?) async throws -> Request {
        guard request.mayBeLarge(limits) else { return try await request.withBody(limits) }
        let caller = address?.caller
        let isAdmitted = counts.withLockedValue {
            $0.bodies.enter(
                caller, most: limits.largeBodies(of: limits.memoryBudget),
                mostOfOne: limits.largeBodies(of: limits.memoryPerAddress),
                mostOfNetwork: limits.largeBodies(of: limits.memoryPerNetwork))
        }
        guard isAdmitted else {
            metrics.count(.overloaded)
            throw APIError.overloaded
        }
        defer { counts.withLockedValue { $0.bodies.leave(caller) } }
        return try await request.withBody(limits)
    }

    func leave(_ place: Place) {
        counts.withLockedValue { counts in
            switch place {
            case .running: counts.running -= 1
            case .page(let caller): counts.pages.leave(caller)
            case .phone(let caller): counts.phones.leave(caller)
            case .free: break
            }
        }
    }
}
