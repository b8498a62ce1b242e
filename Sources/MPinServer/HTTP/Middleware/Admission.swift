import Hummingbird
import NIOConcurrencyHelpers

/// Refuses at once what would only wait: a queue without an end makes every answer late, and none of them useful. Where
/// logins are served half of the places are for those that have begun: refused in the middle, they would have been worked
/// on in vain.
///
/// Who waits for a person costs no work, and has none of these places, but a connection and some memory: of pages and of
/// phones only so many may wait that each leaves connections to the other and to everybody else.
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

    /// Nil: there is none.
    private func place(_ kind: Request.Kind, _ caller: IPAddress?, _ counts: inout Counts) -> Place? {
        switch kind {
        // The other parts of the system wait for nobody.
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
