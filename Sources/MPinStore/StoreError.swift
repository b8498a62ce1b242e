// Public so that the compiler specialises it for other modules; it is no API.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Why a store fails. The text is for a log, not for users.
public enum StoreError: Error, CustomStringConvertible {
    /// The call can never succeed: this program cannot use the file, or the store does not allow such a call.
    case unusable(String)
    /// The call may work later: the disk is full, or another process holds the file. Nothing has changed.
    case unavailable(String)
    /// The change may have been made or not. A change that contains an id of its own may be repeated.
    case unknownOutcome(String)
    /// Other transactions changed the same items at each try. Nothing has changed.
    case conflict

    public var description: String {
        switch self {
        case .unusable(let reason), .unavailable(let reason): reason
        case .unknownOutcome(let reason): reason + " (it may have happened all the same)"
        case .conflict: "others changed the same items each time"
        }
    }
}
