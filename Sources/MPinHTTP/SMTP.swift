import CCurl
import Glibc
import MPinSecrets

/// The server to which mail is submitted.
package struct SMTPServer: Sendable {
    /// `smtp://host:port` or `smtps://host:port`. TLS is required, except on this machine: there, STARTTLS is used if
    /// the server offers it.
    package var url: String
    package var user: String?
    package var password: String?
    /// A PEM file with the certificate authorities to trust; nil means those of the system.
    package var caFile: String?

    package init(url: String, user: String? = nil, password: String? = nil, caFile: String? = nil) {
        self.url = url
        self.user = user
        self.password = password
        self.caFile = caFile
    }
}

/// Why a mail was not submitted.
package enum SMTPFailure: Error, Equatable, CustomStringConvertible {
    case invalidURL
    /// The sender's or the receiver's text is not an address, or could insert a header or an SMTP command.
    case invalidAddress
    /// The subject contains a line break or another control character.
    case invalidSubject
    case noRandom
    /// There was no connection, the certificate is not trusted, or the server refused. The text names the host.
    case network(String)
    case timedOut

    /// A description for the user, in one line.
    package var description: String {
        switch self {
        case .invalidURL: "the mail server's URL is not an smtp or smtps URL"
        case .invalidAddress: "not a mail address"
        case .invalidSubject: "a control character in the subject"
        case .noRandom: "the random generator failed"
        case .network(let text): text
        case .timedOut: "the mail server did not answer within the time allowed"
        }
    }
}

/// Submits mail to a server (RFC 5321) over libcurl.
package enum SMTP {
    /// Blocks until the server has accepted the mail or the deadline has passed.
    package static func send(_ mail: Mail, server: SMTPServer, deadline: Deadline) throws(SMTPFailure) {
        guard let url = RemoteURL(server.url, schemes: ["smtp", "smtps"]) else { throw .invalidURL }
        let upload = Upload(try mail.message(date: Int64(time(nil))))
        let handle: CurlHandle
        do throws(CurlHandle.Unavailable) { handle = try CurlHandle() } catch { throw .network(error.rawValue) }
        prepare(handle, server, url)
        handle.set(CURLOPT_MAIL_FROM, "<\(mail.from)>")
        let recipients = mpin_curl_slist_append(nil, "<\(mail.to)>")
        defer { mpin_curl_slist_free_all(recipients) }
        handle.set(CURLOPT_MAIL_RCPT, pointer: recipients)
        upload.attach(to: handle)
        let outcome = withExtendedLifetime(upload) { handle.run(until: deadline, isCancelled: { false }) }
        switch outcome {
        case .done: return
        case .timedOut, .cancelled, .failed(CURLE_OPERATION_TIMEDOUT, _): throw .timedOut
        case .failed(_, let text): throw .network("\(url.origin): \(text)")
        }
    }

    private static func prepare(_ handle: CurlHandle, _ server: SMTPServer, _ url: RemoteURL) {
        handle.reset()
        _ = mpin_curl_set_smtp_only(handle.easy)
        handle.set(CURLOPT_URL, url.text)
        handle.trust(server.caFile)
        handle.set(CURLOPT_USE_SSL, Int((url.isLoopback ? CURLUSESSL_TRY : CURLUSESSL_ALL).rawValue))
        if let user = server.user {
            handle.set(CURLOPT_USERNAME, user)
            handle.set(CURLOPT_PASSWORD, server.password ?? "")
        }
    }
}

/// The bytes of a mail, which libcurl reads in pieces.
private final class Upload {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func attach(to handle: CurlHandle) {
        handle.set(CURLOPT_UPLOAD, 1)
        handle.set(CURLOPT_READDATA, pointer: Unmanaged.passUnretained(self).toOpaque())
        _ = mpin_curl_set_data_callback(handle.easy, CURLOPT_READFUNCTION) { buffer, size, count, context in
            guard let buffer, let context else { return 0 }
            let upload = Unmanaged<Upload>.fromOpaque(context).takeUnretainedValue()
            return upload.next(UnsafeMutableRawBufferPointer(start: buffer, count: size &* count))
        }
    }

    private func next(_ room: UnsafeMutableRawBufferPointer) -> Int {
        let piece = bytes[position..<min(position + room.count, bytes.count)]
        room.copyBytes(from: piece)
        position += piece.count
        return piece.count
    }
}
