/// The life of an identity as a plain value: no I/O, no clock, no randomness.
///
/// The server blocks an identity; when it judges PINs again, the next login finds out.
///
///     INVALID --> STARTED_VERIFICATION
///        |                |
///        +----------------+--> STARTED_REGISTRATION --> REGISTERED <-> BLOCKED
///                          \          |                /
///                           \--> ACTIVATED -----------/
///
/// and from everywhere back to INVALID when the user is deleted.
package struct UserLifecycle: Sendable, Equatable {
    package private(set) var state: UserState

    /// What happens to an identity: an operation of the app that ended well, or a verdict of the server.
    package enum Input: Sendable, CaseIterable {
        case verificationStarted
        case verificationFinished
        case registrationStarted
        /// Started, and the server asks for no confirmation.
        case registrationStartedActive
        /// At a MIRACL MFA server, where the user id may have been verified before.
        case registrationStartedMFA
        case registrationStartedActiveMFA
        case registrationTokenCompleted
        case registrationRestarted
        case registrationRestartedActive
        case registrationConfirmed
        case registrationFinished
        case authenticationStarted
        case authenticationFinished
        case pinChanged
        case loggedOut
        case signingStarted
        case signingFinished
        case signed
        /// The last attempt is used up.
        case blocked
        case deleted
    }

    package init(state: UserState = .invalid) { self.state = state }

    /// Whether `input` may happen now.
    package func allows(_ input: Input) -> Bool { Self.next(state, input) != nil }

    /// Moves on; false, with the state unchanged, where `input` may not happen now.
    package mutating func apply(_ input: Input) -> Bool {
        guard let next = Self.next(state, input) else { return false }
        state = next
        return true
    }

    private static func next(_ state: UserState, _ input: Input) -> UserState? {
        if input == .deleted { return .invalid }
        return switch state {
        case .invalid: fromInvalid(input)
        case .startedVerification: fromStartedVerification(input)
        case .startedRegistration: fromStartedRegistration(input)
        case .activated: fromActivated(input)
        case .registered: fromRegistered(input)
        case .blocked: fromBlocked(input)
        }
    }

    private static func fromInvalid(_ input: Input) -> UserState? {
        switch input {
        case .verificationStarted: .startedVerification
        case .registrationStarted, .registrationStartedMFA: .startedRegistration
        case .registrationStartedActive, .registrationStartedActiveMFA: .activated
        default: nil
        }
    }

    private static func fromStartedVerification(_ input: Input) -> UserState? {
        switch input {
        case .verificationFinished: .startedVerification
        case .registrationStartedMFA: .startedRegistration
        case .registrationStartedActiveMFA: .activated
        default: nil
        }
    }

    private static func fromStartedRegistration(_ input: Input) -> UserState? {
        switch input {
        case .registrationRestarted, .registrationTokenCompleted, .registrationConfirmed: .startedRegistration
        case .registrationRestartedActive: .activated
        case .registrationFinished: .registered
        default: nil
        }
    }

    private static func fromActivated(_ input: Input) -> UserState? {
        switch input {
        case .registrationConfirmed: .activated
        case .registrationFinished: .registered
        default: nil
        }
    }

    private static func fromBlocked(_ input: Input) -> UserState? {
        switch input {
        case .authenticationStarted, .blocked, .loggedOut: .blocked
        // The PIN was judged, right or wrong.
        case .authenticationFinished: .registered
        default: nil
        }
    }

    private static func fromRegistered(_ input: Input) -> UserState? {
        switch input {
        case .authenticationStarted, .authenticationFinished, .pinChanged, .loggedOut, .signingStarted,
            .signingFinished, .signed:
            .registered
        case .blocked: .blocked
        default: nil
        }
    }
}
