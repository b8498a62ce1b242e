import Foundation
import MPinHTTP
import MPinSecrets

/// Sends the mail with an activation link.
struct Mailer: Sendable {
    let delivery: MailDelivery
    let seconds: Int

    /// A user id that no mail can be addressed to.
    struct NoAddress: Error {}

    func send(link: String, to userID: String, expires: String) async throws {
        let text = """
            Hello,

            somebody, hopefully you, is registering \(userID) for M-Pin.
            Open this link to confirm it:

            \(link)

            It is good until \(expires). If it was not you, do nothing.

            """
        // The time in the queue counts.
        let deadline = Deadline.after(milliseconds: UInt32(seconds * 1000))
        do {
            try await Workers.mail {
                switch delivery {
                case .folder(let folder):
                    let to = userID.contains("@") ? userID : userID + "@localhost"
                    let mail = Mail(from: "mpind@localhost", to: to, subject: Self.subject, text: text)
                    try write(try mail.message(date: Moment.now().seconds), folder: folder)
                case .smtp(let url, let from, let user, let password):
                    let mail = Mail(from: from, to: userID, subject: Self.subject, text: text)
                    let server = SMTPServer(url: url, user: user, password: password)
                    try SMTP.send(mail, server: server, deadline: deadline)
                case .forceActivate: break
                }
            }
        } catch SMTPFailure.invalidAddress {
            throw NoAddress()
        }
    }

    static let subject = "Confirm your M-Pin registration"

    /// Whole or not at all: a reader of the folder never sees half a mail.
    private func write(_ message: [UInt8], folder: String) throws {
        let name = "\(Moment.now().microseconds / 1000)-\(Hex.encode(try randomBytes(8)))"
        let draft = "\(folder)/.\(name).draft"
        try Data(message).write(to: URL(fileURLWithPath: draft))
        guard rename(draft, "\(folder)/\(name).eml") == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }
}
