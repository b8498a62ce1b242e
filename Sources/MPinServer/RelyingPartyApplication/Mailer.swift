import Foundation
import MPinHTTP
import MPinOpenID
import MPinSecrets
import MPinService
import MPinStore

/// Sends mails with links: for activations, for new addresses, and about them.
struct Mailer: Sendable {
    let delivery: MailDelivery
    let seconds: Int
    let templates: MailTemplates
    let brand: Brand

    /// Whether mails are sent at all.
    var sends: Bool { delivery != .forceActivate }

    /// The mail cannot be sent, because the recipient is not a mail address.
    struct NoAddress: Error {}

    func send(_ content: MailContent, in language: Language) async throws {
        let written = content.recipient
        // A folder of mails takes user ids that are no addresses, too.
        let recipient = delivery.isFolder && !written.contains("@") ? written + "@localhost" : written
        // User ids may have a dot after the domain, which mail servers ignore.
        guard EmailAddress(UserID.spelling(recipient)) != nil else { throw NoAddress() }
        let filled = templates.mail(content, in: language, brand: brand)
        // The deadline begins here, so that it includes the time until a thread is free.
        let deadline = Deadline.after(milliseconds: UInt32(seconds * 1000))
        do {
            try await Workers.mail {
                switch delivery {
                case .folder(let folder):
                    let mail = Mail(filled, from: "mpind@localhost", to: recipient)
                    try write(try mail.message(date: Moment.now().seconds), folder: folder)
                case .smtp(let url, let from, let user, let password):
                    let server = SMTPServer(url: url, user: user, password: password)
                    try SMTP.send(Mail(filled, from: from, to: recipient), server: server, deadline: deadline)
                case .forceActivate: break
                }
            }
        } catch SMTPFailure.invalidAddress {
            throw NoAddress()
        }
    }

    /// Writes the mail under a temporary name first, so that a reader of the folder never sees an incomplete mail.
    private func write(_ message: [UInt8], folder: String) throws {
        let name = "\(Moment.now().microseconds / 1000)-\(Hex.encode(try randomBytes(8)))"
        let draft = "\(folder)/.\(name).draft"
        try Data(message).write(to: URL(fileURLWithPath: draft))
        guard rename(draft, "\(folder)/\(name).eml") == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }
}

extension Mail {
    fileprivate init(_ filled: FilledMail, from: String, to: String) {
        self.init(from: from, to: to, subject: filled.subject, text: filled.text, html: filled.html)
    }
}
