import Foundation
import Logging
import LoopbackServer
import MPinSecrets
import MPinServer
import MPinStore
import MPinWire
import XCTest

/// Tests what the sender of pushes does when its receiver does not take them. Other tests of pushes are end-to-end.
final class PushTests: XCTestCase {
    private let key = SecretBytes(utf8: "the key of these tests")
    private let push = TrustPush(projectID: "p", userID: "u", qrURL: "https://a.example/#1", pushToken: "t")

    private func sender(_ url: String, tries: Int = 6) -> PushSender {
        var target = PushTarget(url: url, key: key)
        XCTAssertEqual(target.pauses, [0, 1, 2, 4, 8, 16].map { .seconds($0) })
        target.pauses = target.pauses.prefix(tries).map { $0 / 10_000 }
        return PushSender(target, clock: { Moment.now() }, logger: Logger(label: "test"))
    }

    /// Five repetitions with one id, each with a right signature, and then no more.
    func testAPushIsTriedSixTimes() async throws {
        let receiver = try LoopbackServer { _ in .text(503, "") }
        defer { receiver.stop() }
        let sender = sender(receiver.url)
        await sender.deliver(push)
        await sender.deliver(push)
        let ids = Dictionary(grouping: receiver.received) { $0.header(Webhook.Header.id) ?? "" }
        XCTAssertEqual(ids.values.map(\.count), [6, 6])
        for request in receiver.received {
            let id = try XCTUnwrap(request.header(Webhook.Header.id))
            let time = try XCTUnwrap(request.header(Webhook.Header.time))
            let webhook = Webhook(id: id, time: time, body: request.body)
            XCTAssertTrue(webhook.isSigned(try XCTUnwrap(request.header(Webhook.Header.signature)), key))
        }
    }

    func testAPushThatIsTakenIsNotSentAgain() async throws {
        let receiver = try LoopbackServer { _ in .text(200, "") }
        defer { receiver.stop() }
        await sender(receiver.url).deliver(push)
        XCTAssertEqual(receiver.received.count, 1)
        // One try is enough, because each waits 5 seconds for a receiver that may be restarting.
        await sender("http://127.0.0.1:1/", tries: 1).deliver(push)
    }

    func testOnlySoManyPushesWait() {
        let sender = sender("http://127.0.0.1:1/")
        for _ in 0..<PushSender.maxWaiting { XCTAssertTrue(sender.send(push)) }
        XCTAssertFalse(sender.send(push))
    }

    /// The vector of the specification of Standard Webhooks.
    func testTheSignatureIsThatOfStandardWebhooks() throws {
        let secret = try XCTUnwrap(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let webhook = Webhook(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", time: "1614265330", body: Array(#"{"test": 2432232314}"#.utf8))
        let key = SecretBytes(copying: Array(secret).span)
        XCTAssertEqual(webhook.signature(key), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        XCTAssertTrue(webhook.isSigned("v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", key))
        for wrong in [
            "", "v1,", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ] {
            XCTAssertFalse(webhook.isSigned(wrong, key), wrong)
        }
    }
}
