public import MPinSDK
import MPinSecrets

/// A mail that verifies a user id at a MIRACL Trust project, on its way.
public typealias VerificationMail = MPinSDK.VerificationMail

/// The permission to register a device for a user id that a MIRACL Trust project has verified.
public typealias Activation = MPinSDK.Activation

/// A browser's session at a MIRACL Trust project.
public typealias TrustSession = MPinSDK.TrustSession

/// A code that registers another device of the same user at a MIRACL Trust project.
public typealias QuickCode = MPinSDK.QuickCode

/// Projects of MIRACL Trust. The names are those of the Trust SDKs.
extension MPinClient {
    /// Uses a project from now on, instead of the current backend or project. Nothing is sent. `url` is the base URL of
    /// the service; nil means that of MIRACL Trust.
    public func setProject(_ id: String, url: String? = nil, deviceName: String? = nil) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.setProject(id, url: url ?? SDK.trustURL, deviceName: deviceName)
        }
    }

    /// Asks the server to mail a link or a code that verifies the user id. `accessID` is the browser's session that the
    /// user registers for.
    public func sendVerificationEmail(
        _ userID: String, accessID: String? = nil
    ) async throws(MPinError) -> VerificationMail {
        try await perform { sdk throws(SDKError) in try sdk.sendVerificationEmail(userID, accessID: accessID) }
    }

    /// Exchanges the code of a mail for an activation token.
    public func activationToken(_ userID: String, code: String) async throws(MPinError) -> Activation {
        try await perform { sdk throws(SDKError) in try sdk.activationToken(userID, code: code) }
    }

    /// Exchanges the link of a mail, or one from the project's back end, for an activation token.
    public func activationToken(link: String) async throws(MPinError) -> Activation {
        try await perform { sdk throws(SDKError) in try sdk.activationToken(link: link) }
    }

    /// Registers this device with a new key pair. Afterwards only the PIN is missing: ``User/registrationPINLength``
    /// tells its length. The activation token may also be a QuickCode.
    public func startRegistration(
        _ userID: String, activationToken: String, pushToken: String? = nil
    ) async throws(MPinError) -> User {
        try await perform { sdk throws(SDKError) in
            User(
                core: try sdk.startTrustRegistration(
                    userID, activationToken: activationToken, pushToken: pushToken))
        }
    }

    /// Makes the token with the PIN that the user chose, and stores it in place of what was stored of this user.
    public func finishTrustRegistration(_ user: User, pin: PIN) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.finishTrustRegistration(user.core, pin: pin.bytes.span)
        }
    }

    /// Logs in to the application itself and returns a JWT for its own server. It is a secret for its short life.
    public func authenticate(_ user: User, pin: PIN) async throws(MPinError) -> String {
        try await perform { sdk throws(SDKError) in try sdk.authenticate(user.core, pin: pin.bytes.span).plainText }
    }

    /// Logs in the browser whose page shows a QR code, or that has opened this app by a link. `sessionURL` is that of
    /// the QR code, the app link, or `qrURL` of a push message.
    public func authenticate(_ user: User, sessionURL: String, pin: PIN) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.authenticate(user.core, sessionURL: sessionURL, pin: pin.bytes.span)
        }
    }

    /// Logs in the browser that has sent a push message with these members.
    public func authenticate(
        pushProjectID: String?, userID: String, qrURL: String, pin: PIN
    ) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.authenticate(
                pushProjectID: pushProjectID, userID: userID, sessionURL: qrURL, pin: pin.bytes.span)
        }
    }

    /// Logs in and returns a QuickCode, with which the user registers another device.
    public func generateQuickCode(_ user: User, pin: PIN) async throws(MPinError) -> QuickCode {
        try await perform { sdk throws(SDKError) in try sdk.generateQuickCode(user.core, pin: pin.bytes.span) }
    }

    /// Signs a hash of 1 to 256 bytes now. The server checks the PIN first.
    public func signTrust(_ user: User, hash: [UInt8], pin: PIN) async throws(MPinError) -> Signature {
        try await perform { sdk throws(SDKError) in
            try sdk.signTrust(user.core, hash: hash.span, pin: pin.bytes.span)
        }
    }

    /// Signs what a session's page asks for, and gives the signature to the page. `hash` is the one that the user has
    /// agreed to.
    public func signSession(_ user: User, sessionURL: String, hash: [UInt8], pin: PIN) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.signSession(user.core, sessionURL: sessionURL, hash: hash.span, pin: pin.bytes.span)
        }
    }

    /// Returns the session that a QR code, an app link or a push message belongs to. Its page learns that its code was
    /// read.
    public func trustSession(_ sessionURL: String) async throws(MPinError) -> TrustSession {
        try await perform { sdk throws(SDKError) in try sdk.trustSessionDetails(sessionURL) }
    }

    /// Tells the session's page that the user has declined.
    public func abortTrustSession(_ sessionURL: String) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.abortTrustSession(sessionURL) }
    }

    /// Writes the users of the current project into a new file of mode 0600, in the form in which client-js stores them.
    /// Returns their number.
    ///
    /// The tokens lie unsealed in that file: whoever reads it needs nothing but the PIN to log in.
    public func exportUsers(to path: String) async throws(MPinError) -> Int {
        try await perform { sdk throws(SDKError) in try sdk.exportUsers(to: path) }
    }

    /// Adds the users in a file that ``exportUsers(to:)`` has written, or into which the list of client-js was copied,
    /// except those that are known already. Returns the number of added users. Refuses a file that others can read.
    public func importUsers(from path: String) async throws(MPinError) -> Int {
        try await perform { sdk throws(SDKError) in try sdk.importUsers(from: path) }
    }
}
