import MPinSDK
import XCTest

final class UserLifecycleTests: XCTestCase {
    /// The next state for each allowed pair of state and input. All other pairs are refused.
    private let allowed: [UserState: [UserLifecycle.Input: UserState]] = [
        .invalid: [
            .verificationStarted: .startedVerification, .registrationStarted: .startedRegistration,
            .registrationStartedActive: .activated, .registrationStartedMFA: .startedRegistration,
            .registrationStartedActiveMFA: .activated, .replaced: .registered, .deleted: .invalid,
        ],
        .startedVerification: [
            .verificationFinished: .startedVerification, .registrationStartedMFA: .startedRegistration,
            .registrationStartedActiveMFA: .activated, .replaced: .registered, .deleted: .invalid,
        ],
        .startedRegistration: [
            .registrationTokenCompleted: .startedRegistration, .registrationRestarted: .startedRegistration,
            .registrationRestartedActive: .activated, .registrationConfirmed: .startedRegistration,
            .registrationFinished: .registered, .replaced: .registered, .deleted: .invalid,
        ],
        .activated: [
            .registrationConfirmed: .activated, .registrationFinished: .registered, .replaced: .registered,
            .deleted: .invalid,
        ],
        .registered: [
            .authenticationStarted: .registered, .authenticationFinished: .registered, .pinChanged: .registered,
            .loggedOut: .registered, .signingStarted: .registered, .signingFinished: .registered,
            .signed: .registered, .blocked: .blocked, .revoked: .revoked, .replaced: .registered, .deleted: .invalid,
        ],
        .blocked: [
            .authenticationStarted: .blocked, .authenticationFinished: .registered, .blocked: .blocked,
            .loggedOut: .blocked, .replaced: .registered, .deleted: .invalid,
        ],
        .revoked: [
            .authenticationFinished: .registered, .revoked: .revoked, .replaced: .registered, .deleted: .invalid,
        ],
    ]

    func testEveryStateHasARow() { XCTAssertEqual(Set(allowed.keys), Set(UserState.allCases)) }

    func testEveryStateAndInput() {
        var cells = 0
        for state in UserState.allCases {
            for input in UserLifecycle.Input.allCases {
                var lifecycle = UserLifecycle(state: state)
                let next = allowed[state]?[input]
                XCTAssertEqual(lifecycle.allows(input), next != nil, "\(state) \(input)")
                XCTAssertEqual(lifecycle.apply(input), next != nil, "\(state) \(input)")
                XCTAssertEqual(lifecycle.state, next ?? state, "\(state) \(input)")
                cells += 1
            }
        }
        XCTAssertEqual(cells, 154)
    }

    func testNumbersAndNamesAreThoseOfTheHeader() {
        let names = [
            "INVALID", "STARTED_VERIFICATION", "STARTED_REGISTRATION", "ACTIVATED", "REGISTERED", "BLOCKED", "REVOKED",
        ]
        XCTAssertEqual(UserState.allCases.map(\.name), names)
        XCTAssertEqual(UserState.allCases.map(\.rawValue), [0, 1, 2, 3, 4, 5, 6])
    }

    /// Returns the rule that this step breaks, or nil. The rules do not use the table above, so they also test the
    /// table.
    private func brokenRule(_ before: UserState, _ input: UserLifecycle.Input, _ after: UserState) -> String? {
        let order: [UserState] = [
            .invalid, .startedVerification, .startedRegistration, .activated, .registered, .blocked, .revoked,
        ]
        let place = { (state: UserState) in order.firstIndex(of: state) ?? -1 }
        if input == .deleted { return after == .invalid ? nil : "a deleted user is INVALID" }
        if input == .replaced { return after == .registered ? nil : "a finished registration replaces what is there" }
        if before == .blocked || before == .revoked, input == .authenticationFinished {
            return after == .registered ? nil : "a judged PIN ends a block"
        }
        if after == .revoked && before != .revoked && !(before == .registered && input == .revoked) {
            return "only the server's verdict on a registered user revokes"
        }
        if place(after) < place(before) { return "nothing but deletion and the end of a block leads back" }
        if after == .blocked && before != .blocked && !(before == .registered && input == .blocked) {
            return "only the server's verdict on a registered user blocks"
        }
        if after == .registered && before != .registered {
            let isReady = before == .startedRegistration || before == .activated
            if input != .registrationFinished || !isReady { return "only a finished registration registers" }
        }
        if after == .startedVerification && before == .invalid && input != .verificationStarted {
            return "only a started verification verifies"
        }
        if [.startedRegistration, .activated].contains(after), after != before {
            let starts: [UserLifecycle.Input] = [
                .registrationStarted, .registrationStartedActive, .registrationStartedMFA,
                .registrationStartedActiveMFA, .registrationRestartedActive,
            ]
            if !starts.contains(input) { return "only a start begins a registration" }
        }
        return nil
    }

    /// Whether an operation is allowed in this state, written as rules and not as a table.
    private func mayHappen(_ input: UserLifecycle.Input, _ state: UserState) -> Bool {
        switch input {
        case .deleted, .replaced: true
        case .revoked: state == .registered || state == .revoked
        case .authenticationFinished: state == .registered || state == .blocked || state == .revoked
        case .verificationStarted, .registrationStarted, .registrationStartedActive: state == .invalid
        case .registrationStartedMFA, .registrationStartedActiveMFA:
            state == .invalid || state == .startedVerification
        case .verificationFinished: state == .startedVerification
        case .registrationTokenCompleted, .registrationRestarted, .registrationRestartedActive:
            state == .startedRegistration
        case .registrationConfirmed, .registrationFinished: state == .startedRegistration || state == .activated
        case .pinChanged, .signingStarted, .signingFinished, .signed: state == .registered
        case .authenticationStarted, .blocked, .loggedOut:
            state == .registered || state == .blocked
        }
    }

    func testAMillionStepsBreakNoRule() {
        var random = SystemRandomNumberGenerator()
        var lifecycle = UserLifecycle()
        var visits: [UserState: Int] = [:]
        let inputs = UserLifecycle.Input.allCases
        for _ in 0..<1_000_000 {
            guard var input = inputs.randomElement(using: &random) else { return }
            // Replaces most deletions by another input. If every twentieth step deleted the user, few users would get
            // far.
            if input == .deleted && Int.random(in: 0..<4, using: &random) > 0 { input = .registrationFinished }
            let before = lifecycle.state
            let hasMoved = lifecycle.apply(input)
            guard hasMoved == mayHappen(input, before), hasMoved || lifecycle.state == before else {
                return XCTFail("\(before) \(input)")
            }
            if let rule = brokenRule(before, input, lifecycle.state) {
                return XCTFail("\(rule): \(before) \(input) \(lifecycle.state)")
            }
            visits[lifecycle.state, default: 0] += 1
        }
        for state in UserState.allCases { XCTAssertGreaterThan(visits[state] ?? 0, 1000, "\(state)") }
    }
}
