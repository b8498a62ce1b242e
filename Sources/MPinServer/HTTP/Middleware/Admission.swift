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

    func enter(_ request: Request, from address: IPAddress?) throws(APIError) -> Place {
        let kind = request.kind
        let caller = address?.caller
        guard let place = counts.withLockedValue({ place(kind, caller, &$0) }) else {
            metrics.count(.overloaded)
            throw kind.waits ? APIError.tooManyWait : APIError.overloaded
        }
        return place
    }

    /// Takes a place for the request; nil if there is none.
    private func place(_ kind: Request.Kind, _ caller: IPAddress?, _ counts: inout Counts) -> Place? {
        switch kind {
        // A listener without logins is called by other parts of the system. When they ask for the state of a login,
        // they do not wait for a change of it.
        case .page where !servesLogins, .phone where !servesLogins: return .free
        case .page:
            let (most, mostOfOne) = (limits.waitingPages, limits.waitingPagesPerAddress)
            return counts.pages.enter(caller, most: most, mostOfOne: mostOfOne) ? .page(caller) : nil
        case .phone:
            let (most, mostOfOne) = (limits.waitingPhones, limits.waitingPhonesPerAddress)
            return counts.phones.enter(caller, most: most, mostOfOne: mostOfOne) ? .phone(caller) : nil
        case .endOfLogin, .other:
            let most = limits.requestsInFlight
            guard counts.running < (servesLogins && kind == .other ? most - most / 2 : most) else { return nil }
            counts.running += 1
            return .running
        }
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
