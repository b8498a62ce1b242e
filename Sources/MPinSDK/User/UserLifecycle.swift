/// The states of an identity and the steps between them, as a plain value without I/O, clock or random generator.
///
/// The server decides that an identity is blocked. When the server accepts PINs of the identity again, the next login
/// makes the state REGISTERED again.
///
/// Users of MIRACL Trust projects are REGISTERED or REVOKED. Their registration has no states: it replaces whatever is
/// there when it is finished.
///
///     INVALID --> STARTED_VERIFICATION
///        |                |
///        +----------------+--> STARTED_REGISTRATION --> REGISTERED <-> BLOCKED
///                          \          |                /
///                           \--> ACTIVATED -----------/
///
/// Every state becomes INVALID when the user is deleted.
package struct UserLifecycle: Sendable, Equatable {
    package private(set) var state: UserState

    /// An event that may change the state: an operation that succeeded, or a decision of the server.
    package enum Input: Sendable, CaseIterable {
        case verificationStarted
        case verificationFinished
        case registrationStarted
        /// A registration was started, and the server asks for no confirmation.
        case registrationStartedActive
        /// A registration was started at a MIRACL MFA server, where a verification may come before it.
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
        /// The PIN was wrong in the last attempt that the server allowed.
        case blocked
        /// The server of a MIRACL Trust project says that it no longer accepts the identity.
        case revoked
        /// A registration at a MIRACL Trust project was finished.
        case replaced
        case deleted
    }

    package init(state: UserState = .invalid) { self.state = state }

    /// Whether `input` is allowed in this state.
    package func allows(_ input: Input) -> Bool { Self.next(state, input) != nil }

    /// Changes the state; false, without a change, if `input` is not allowed in this state.
    package mutating func apply(_ input: Input) -> Bool {
        guard let next = Self.next(state, input) else { return false }
        state = next
        return true
    }

    private static func next(_ state: UserState, _ input: Input) -> UserState? {
        if input == .deleted { return .invalid }
        if input == .replaced { return .registered }
        return switch state {
        case .invalid: fromInvalid(input)
        case .startedVerification: fromStartedVerification(input)
        case .startedRegistration: fromStartedRegistration(input)
        case .activated: fromActivated(input)
        case .registered: fromRegistered(input)
        case .blocked: fromBlocked(input)
        case .revoked: fromRevoked(input)
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
        // The server has judged the PIN as right or wrong, so the identity is not blocked.
        case .authenticationFinished: .registered
        default: nil
        }
    }

    private static func fromRevoked(_ input: Input) -> UserState? {
        switch input {
        case .revoked: .revoked
        // The server has judged the PIN, so it accepts the identity again.
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
        case .revoked: .revoked
        default: nil
        }
    }
}
