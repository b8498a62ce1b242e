import MPinSDK
import XCTest

final class UserLifecycleTests: XCTestCase {
    /// Every state and input that go together, with the state that follows; all others are refused.
    private let allowed: [UserState: [UserLifecycle.Input: UserState]] = [
        .invalid: [
            .verificationStarted: .startedVerification, .registrationStarted: .startedRegistration,
            .registrationStartedActive: .activated, .registrationStartedMFA: .startedRegistration,
            .registrationStartedActiveMFA: .activated, .deleted: .invalid,
        ],
        .startedVerification: [
            .verificationFinished: .startedVerification, .registrationStartedMFA: .startedRegistration,
            .registrationStartedActiveMFA: .activated, .deleted: .invalid,
        ],
        .startedRegistration: [
            .registrationTokenCompleted: .startedRegistration, .registrationRestarted: .startedRegistration,
            .registrationRestartedActive: .activated, .registrationConfirmed: .startedRegistration,
            .registrationFinished: .registered, .deleted: .invalid,
        ],
        .activated: [.registrationConfirmed: .activated, .registrationFinished: .registered, .deleted: .invalid],
        .registered: [
            .authenticationStarted: .registered, .authenticationFinished: .registered, .pinChanged: .registered,
            .loggedOut: .registered, .signingStarted: .registered, .signingFinished: .registered,
            .signed: .registered, .blocked: .blocked, .deleted: .invalid,
        ],
        .blocked: [.loggedOut: .blocked, .deleted: .invalid],
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
        XCTAssertEqual(cells, 120)
    }

    func testARandomWalkNeverLeavesTheTable() {
        var random = SystemRandomNumberGenerator()
        var lifecycle = UserLifecycle()
        for _ in 0..<1_000_000 {
            guard let input = UserLifecycle.Input.allCases.randomElement(using: &random) else { return }
            let before = lifecycle.state
            let next = allowed[before]?[input]
            guard lifecycle.apply(input) == (next != nil), lifecycle.state == next ?? before else {
                return XCTFail("\(before) \(input)")
            }
        }
    }

    func testNumbersAndNamesAreThoseOfTheHeader() {
        let names = ["INVALID", "STARTED_VERIFICATION", "STARTED_REGISTRATION", "ACTIVATED", "REGISTERED", "BLOCKED"]
        XCTAssertEqual(UserState.allCases.map(\.name), names)
        XCTAssertEqual(UserState.allCases.map(\.rawValue), [0, 1, 2, 3, 4, 5])
    }
}
