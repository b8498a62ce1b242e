import MPin
import MPinSDK
import XCTest

final class ErrorCodeTests: XCTestCase {
    /// Statuses that a Swift program never gets: success, which is not thrown, and three errors about handles and
    /// buffers, which only the C API has.
    private let notThrown: Set<Status> = [.ok, .invalidHandle, .bufferTooSmall, .forked]

    func testEveryStatusArrivesAsTheCodeOfItsNameAndNumber() {
        for status in Status.allCases where !notThrown.contains(status) {
            let code = MPinError(SDKError(status, "")).code
            XCTAssertEqual(code.rawValue, status.rawValue, status.name)
            XCTAssertEqual("\(code)", "\(status)")
        }
    }

    func testEveryCodeIsThatOfOneStatus() {
        let thrown = Status.allCases.filter { !notThrown.contains($0) }
        XCTAssertEqual(MPinError.Code.allCases.map(\.rawValue), thrown.map(\.rawValue))
    }

    func testAnErrorKeepsWhatTheServerSaid() {
        var report = SDKError.ServerReport()
        (report.text, report.requestID, report.retryAfter) = ("wait", "r1", 7)
        let error = MPinError(SDKError(.tooManyRequests, "pass1", httpStatus: 429, server: report))
        XCTAssertEqual(error.httpStatus, 429)
        XCTAssertEqual(error.serverText, "wait")
        XCTAssertEqual(error.requestID, "r1")
        XCTAssertEqual(error.retryAfter, 7)
        XCTAssertEqual(error.description, "tooManyRequests: pass1")
    }
}
