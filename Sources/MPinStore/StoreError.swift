/// Why a store does not do what it is asked for. Nothing of it is for a user; the text is for a log.
package enum StoreError: Error, CustomStringConvertible {
    /// Not with this program, or not in this way, and not later either.
    case unusable(String)
    /// Not now: a full disk, or another process that does not let go of the file. Nothing has changed.
    case unavailable(String)
    /// It may have happened, or not. A change that can be told from another one, by an id of its own, may be repeated.
    case unknownOutcome(String)
    /// Others changed the same items, each time that it was tried. Nothing has changed.
    case conflict

    package var description: String {
        switch self {
        case .unusable(let reason), .unavailable(let reason): reason
        case .unknownOutcome(let reason): reason + " (it may have happened all the same)"
        case .conflict: "others changed the same items each time"
        }
    }
}
