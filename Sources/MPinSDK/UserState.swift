/// Where an identity stands, with the numbers of the C header (those of the MIRACL MFA core). The names are what the
/// store keeps.
package enum UserState: Int32, Sendable, CaseIterable {
    case invalid = 0
    /// Reserved for servers that verify before they register.
    case startedVerification = 1
    case startedRegistration = 2
    case activated = 3
    case registered = 4
    case blocked = 5

    /// As the store and the old cores write it.
    package var name: String {
        switch self {
        case .invalid: "INVALID"
        case .startedVerification: "STARTED_VERIFICATION"
        case .startedRegistration: "STARTED_REGISTRATION"
        case .activated: "ACTIVATED"
        case .registered: "REGISTERED"
        case .blocked: "BLOCKED"
        }
    }

    init?(name: String) {
        guard let state = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = state
    }
}

/// The life of an identity as a plain value: no I/O, no clock, no randomness.
///
///     INVALID -> STARTED_REGISTRATION -> REGISTERED -> BLOCKED
///           \--> ACTIVATED -----------/
///
/// and from everywhere back to INVALID when the user is deleted.
package struct UserLifecycle: Sendable, Equatable {
    package private(set) var state: UserState

    /// What happens to an identity: an operation of the app that ended well, or a verdict of the server.
    package enum Input: Sendable, CaseIterable {
        case registrationStarted
        /// Started, and the server asks for no confirmation.
        case registrationStartedActive
        case registrationRestarted
        case registrationRestartedActive
        case registrationConfirmed
        case registrationFinished
        case authenticationStarted
        case authenticationFinished
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
        switch (state, input) {
        case (_, .deleted): .invalid
        case (.invalid, .registrationStarted): .startedRegistration
        case (.invalid, .registrationStartedActive): .activated
        case (.startedRegistration, .registrationRestarted): .startedRegistration
        case (.startedRegistration, .registrationRestartedActive): .activated
        case (.startedRegistration, .registrationConfirmed), (.activated, .registrationConfirmed): state
        case (.startedRegistration, .registrationFinished), (.activated, .registrationFinished): .registered
        case (.registered, .authenticationStarted), (.registered, .authenticationFinished): .registered
        case (.registered, .blocked): .blocked
        case (.invalid, _), (.startedVerification, _), (.startedRegistration, _), (.activated, _), (.registered, _),
            (.blocked, _):
            nil
        }
    }
}
