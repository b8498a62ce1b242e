import Hummingbird
import NIOConcurrencyHelpers

/// Refuses at once what would only wait: a queue without an end makes every answer late, and none of them useful. Where
/// logins are served half of the places are for those that have begun: refused in the middle, they would have been worked
/// on in vain.
final class Admission: Sendable {
    enum Place { case counted, free }

    private let limit: Int
    private let limitOfOthers: Int
    private let metrics: Metrics
    private let running = NIOLockedValueBox(0)

    init(limit: Int, servesLogins: Bool, metrics: Metrics) {
        self.limit = limit
        limitOfOthers = servesLogins ? limit - limit / 2 : limit
        self.metrics = metrics
    }

    func enter(_ request: Request) throws(APIError) -> Place {
        // Connections have a limit of their own.
        let kind = request.kind
        guard kind != .wait else { return .free }
        let limit = kind == .endOfLogin ? limit : limitOfOthers
        let isAdmitted = running.withLockedValue { running in
            guard running < limit else { return false }
            running += 1
            return true
        }
        guard isAdmitted else {
            metrics.count(.overloaded)
            throw APIError.overloaded
        }
        return .counted
    }

    func leave(_ place: Place) {
        if place == .counted { running.withLockedValue { $0 -= 1 } }
    }
}
