import MPinStore
import XCTest

extension Backend {
    /// Runs the operator's command that rotates the master secret, on the file of a running D-TA. `end` is when the old
    /// master secret is served no longer. Nil: now.
    func rotate(_ name: String, until end: Moment? = nil) throws {
        let command = try Mpind([
            "dta", "rotate", "--database", "\(stateFolder)/\(name).sqlite", "--key-file",
            "\(stateFolder)/\(name).key", "--serve-old-until", end?.iso ?? "now",
        ])
        XCTAssertEqual(command.stop(0), 0, command.logText)
    }
}
