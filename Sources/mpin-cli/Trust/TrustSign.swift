import ArgumentParser
import FoundationEssentials
import MPin

extension Trust {
    struct Sign: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sign a file, a hash, or what a page asks for. The PIN is checked first.",
            discussion: """
                For a file or a hash, the signature is printed as the JSON that the application's server posts to
                /dvs/verify. For a page, the page gets it.
                """)

        @Argument(help: "User id.")
        var user: String

        @Option(help: "The file to sign: its SHA-256 is signed.")
        var file: String?

        @Option(help: "The hash to sign, 1 to 256 bytes in hex.")
        var hash: String?

        @Option(help: "The URL in the QR code of the page that asks for a signature.")
        var qr: String?

        @OptionGroup var screen: ScreenOptions
        @OptionGroup var options: TrustOptions

        func validate() throws {
            guard [file, hash, qr].compactMap({ $0 }).count == 1 else {
                throw ValidationError("Give one of --file, --hash and --qr.")
            }
            if let hash, bytes(hex: hash).map({ 1...256 ~= $0.count }) != true {
                throw ValidationError("--hash: not 1 to 256 bytes in hex.")
            }
            if let qr, QRCode(qr) == nil { throw ValidationError("--qr: not an http URL with something behind a #.") }
        }

        func run() async throws {
            try await options.run { client in
                let user = try await options.known(user, client)
                guard let qr else {
                    let hash = try fileHash() ?? bytes(hex: hash ?? "") ?? []
                    say("Signature of \(user.id) at \(options.projectID ?? "") under \(hexText(hash))")
                    let signature = try await client.signTrust(user, hash: hash, pin: options.pin())
                    return Report(user: user.id, signed: SignedReport(signature, hash))
                }
                let session = try await client.trustSession(qr)
                guard !session.hash.isEmpty else {
                    throw Failure("the page asks for a login and not for a signature: mpin-cli trust login --qr")
                }
                say("Signature of \(user.id) under \(session.description): \(hexText(session.hash))")
                try screen.introduce(session.place)
                try await client.signSession(user, sessionURL: qr, hash: session.hash, pin: options.pin())
                return Report(user: user.id)
            }
        }

        /// The hash of the file; nil if none is named.
        private func fileHash() throws -> [UInt8]? {
            guard let file else { return nil }
            do { return MPinClient.hash(ofDocument: [UInt8](try Data(contentsOf: URL(filePath: file)))) } catch {
                throw Failure("\(file) cannot be read")
            }
        }
    }
}

/// A signature in the form in which a server posts it to /dvs/verify (TRUST wire section 6.2).
struct SignedReport: Encodable {
    let signature: Values
    let timestamp: Int64
    let type = "verification"

    /// The values that the verifier needs, in hex; `dtas` is base64.
    struct Values: Encodable {
        let hash: String
        let mpinId: String
        let u: String
        let v: String
        let publicKey: String
        let dtas: String
    }

    init(_ signature: Signature, _ hash: [UInt8]) {
        self.signature = Values(
            hash: hexText(hash), mpinId: signature.mpinID, u: hexText(signature.u), v: hexText(signature.v),
            publicKey: hexText(signature.publicKey), dtas: signature.dtas)
        timestamp = signature.timestamp
    }
}
