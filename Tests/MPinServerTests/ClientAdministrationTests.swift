import Foundation
import MPinOpenID
import MPinServer
import MPinStore
import Synchronization
import XCTest

/// Tests what operators see of the secrets of a client.
final class ClientAdministrationTests: XCTestCase {
    /// A secret that a newer one has replaced is shown with the time of its end, and not any more after that.
    func testSecretsThatHaveEndedAreNotShown() throws {
        let server = try InProcess(clients: "[]").keep(in: self)
        let clock = Mutex(Moment(microseconds: 1_800_000_000_000_000))
        let database = server.backend.stateFolder + "/rps.sqlite"
        let shown = try finish { () -> [[String?]] in
            let clients = try await ClientAdministration(
                database: ServiceDatabase(database), file: nil, audit: .off, clock: { clock.withLock { $0 } })
            var change = ClientChange()
            change.set(try XCTUnwrap(ClientMember.named("redirect-uri")), ["https://shop.example/cb"])
            _ = try await clients.add("shop", change, secret: nil)
            var shown = [try await clients.show("shop").secrets.map(\.expires)]
            clock.withLock { $0 = $0.adding(seconds: 10) }
            _ = try await clients.rotateSecret("shop", secret: nil, overlap: 60)
            for seconds in [59, 1] {
                clock.withLock { $0 = $0.adding(seconds: seconds) }
                let entry = try await clients.show("shop")
                XCTAssertEqual(entry.lines.filter { $0.hasPrefix("secret: ") }.count, entry.secrets.count)
                let listed = try await clients.list()
                XCTAssertEqual(listed.map(\.secrets.count), [entry.secrets.count])
                shown.append(entry.secrets.map(\.expires))
            }
            return shown
        }
        XCTAssertEqual(shown, [[nil], [nil, "2027-01-15T08:01:10Z"], [nil]])
    }
}
