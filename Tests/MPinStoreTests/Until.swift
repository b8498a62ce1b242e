import MPinStore
import XCTest

extension XCTestCase {
    /// Tries again and again until no ``StoreError`` is thrown.
    func untilItWorks(_ work: @escaping () async throws -> Void) async throws {
        try await until {
            do { try await work() } catch is StoreError { return false }
            return true
        }
    }

    /// Waits for something that will come true, at most a minute.
    func until(_ isTrue: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while !(try await isTrue()) {
            guard ContinuousClock.now < end else { return XCTFail("not within a minute") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
