import MPinHTTP
import MPinSecrets
import MPinWire

/// A browser's session at a MIRACL Trust project: a page that waits for a login or a signature. Texts that the server
/// does not send are empty.
public struct TrustSession: Sendable, Equatable {
    /// The session's id: the part of its URL after the last '#'.
    public let accessID: String
    /// The project's id.
    public let projectID: String
    /// The user id that the page suggests.
    public let userID: String
    /// What the login or the signature is for. Show it before asking for the PIN.
    public let description: String
    /// What is to be signed; empty if the session is for a login.
    public let hash: [UInt8]
    /// The project's name.
    public let projectName: String
    /// The URL of the project's logo.
    public let projectLogoURL: String
    /// The length of a PIN in the project; 0 if the server does not say.
    public let pinLength: Int
    /// Where the screen is that shows the code.
    public let place: SessionPlace

    init(_ accessID: String, _ details: TrustSessionDetails) throws(SDKError) {
        guard let hash = Hex.decode(details.hash), hash.count <= 256 else {
            throw SDKError(.responseParseError, "\(Call.trustSession.name): the hash is not hex")
        }
        self.accessID = accessID
        self.hash = hash
        projectID = details.projectId
        userID = details.prerollId
        description = details.description
        projectName = details.projectName
        projectLogoURL = details.projectLogoURL
        pinLength = PINDigits.lengths.contains(details.pinLength) ? details.pinLength : 0
        place = SessionPlace(
            screenAddress: details.browserAddress ?? "", screenProgram: details.browserProgram ?? "",
            siteAddress: details.siteAddress ?? "")
    }
}

extension SDK {
    /// Asks which session a QR code, an app link or a push message belongs to. Its page learns that its code was read.
    package func trustSessionDetails(_ sessionURL: String) throws(SDKError) -> TrustSession {
        try perform { core, caller throws(SDKError) in
            let project = try core.currentProject()
            let accessID = try accessID(of: sessionURL)
            return try TrustSession(accessID, project.session(accessID, caller))
        }
    }

    /// Tells the session's page that the user has declined.
    package func abortTrustSession(_ sessionURL: String) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            let project = try core.currentProject()
            let request = TrustCodeStatusRequest(wid: try accessID(of: sessionURL), status: "abort")
            try project.report(request, caller)
        }
    }
}

/// The access id in the URL of a session: the part after the last '#' (TRUST wire section 2.2).
func accessID(of sessionURL: String) throws(SDKError) -> String {
    guard let mark = sessionURL.utf8.lastIndex(of: UInt8(ascii: "#")) else {
        throw SDKError(.invalidArgument, "the session's URL has no fragment")
    }
    let fragment = sessionURL[sessionURL.utf8.index(after: mark)...]
    guard 1...255 ~= fragment.utf8.count, fragment.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
        throw SDKError(.invalidArgument, "the fragment of the session's URL is no access id")
    }
    return String(fragment)
}
