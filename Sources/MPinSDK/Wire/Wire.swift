import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// The protocols between client and servers. The store notes for each user over which of them the user was registered.
package enum WireName: Sendable, CaseIterable {
    /// The protocol of the Milagro servers and ours (wire sections 6 to 9).
    case milagro
    /// The protocol of MIRACL's MFA servers (TRUST wire section 7.2).
    case mfa
    /// The protocol of MIRACL Trust (TRUST wire section 4), which is not a ``Wire`` but a ``TrustWire``.
    case trust
}

/// The requests and answers of one protocol, and what the backend's settings say about them. A wire knows neither the
/// states of users nor the store; the operations of ``SDK`` handle these. Each function sends one request unless its
/// comment says otherwise. A function that fails throws the status that the answer means for that request.
protocol Wire: Sendable {
    /// The number of digits of a PIN; nil if the server does not say.
    var pinLength: Int? { get }
    /// Whether a login needs a time permit.
    var usesPermits: Bool { get }
    /// Whether a login may ask for a code that registers another device.
    var givesRegistrationCodes: Bool { get }
    /// Whether access numbers of 7 digits end in a check digit.
    var checksAccessNumbers: Bool { get }

    /// Asks the server to mail a code that verifies the user id.
    func startVerification(_ request: VerificationRequest, _ caller: Caller) throws(SDKError)
    /// Sends the code that the mail contained.
    func finishVerification(
        _ request: ConfirmationRequest, _ caller: Caller
    ) throws(SDKError) -> ConfirmationResponse

    /// Registers an identity, or registers `mpinID` again if its registration is not finished. Members of the request
    /// that the wire does not have are left out.
    func register(
        _ request: RegisterRequest, again mpinID: String?, _ caller: Caller
    ) throws(SDKError) -> RegisterResponse
    /// Gets the shares of the client secret. `token` is the registration token, which entitles the client to them.
    func clientSecret(
        _ mpinID: String, _ token: SecretText, pushID: String?, _ caller: Caller
    ) throws(SDKError) -> ShareOffer
    /// Reports that the client has its token. Does nothing if the server does not want this report.
    func reportEnd(
        _ mpinID: String, _ token: SecretText, until deadline: Deadline, _ caller: Caller
    ) throws(SDKError)

    /// Gets today's time permit and the date, in days since 1970-01-01 UTC.
    func timePermit(_ mpinID: String, _ caller: Caller) throws(SDKError) -> (date: Int32, offer: ShareOffer)

    /// Gets the share from the authority to which the ticket leads.
    func share(_ ticket: Ticket, _ caller: Caller) throws(SDKError) -> Share
    /// Gets the share from a static storage; nil if the ticket names none, or if the answer is not a point.
    func storedShare(_ ticket: Ticket, until deadline: Deadline, _ caller: Caller) throws(SDKError) -> Share?

    /// Does both passes and gets the result: three requests.
    func logIn(
        _ proof: consuming Proof, _ credential: Credential, _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> LoginAnswer
    /// Ends the session of a login.
    func logOut(_ logout: User.Logout, _ caller: Caller) throws(SDKError)

    /// Registers a public key with a permission from a login.
    func registerKey(_ request: SigningRegisterRequest, _ caller: Caller) throws(SDKError) -> KeyOffer
    /// The shares of the new secret in a login's answer, for an identity without a key pair.
    func renewedSecret(_ share: RenewalAnswer.Share) throws(SDKError) -> ShareOffer

    /// Asks which application shows the code; its page learns that the code was read. Nil if the server does not
    /// support this.
    func session(_ accessCode: String, _ caller: Caller) throws(SDKError) -> Session?
    /// Reports the state of a login to the browser's page. Does nothing if the server does not support this.
    func report(_ request: CodeStatusRequest, until deadline: Deadline?, _ caller: Caller) throws(SDKError)
}

/// The shares of one secret: those that came with an answer, and tickets for those of the other authorities.
struct ShareOffer {
    var shares: [Share]
    var tickets: [Ticket]
    /// Whether the server wants a report when the registration is finished.
    var reportsEnd = false

    /// Exchanges every ticket for its share and returns all shares.
    consuming func redeemed(over wire: any Wire, _ caller: Caller) throws(SDKError) -> [Share] {
        for ticket in tickets { shares.append(try wire.share(ticket, caller)) }
        return shares
    }
}

/// Where to get one authority's share.
struct Ticket {
    /// The number of the authority, from 1.
    let index: Int
    /// The secret that the share is a part of.
    let secret: Secret
    let url: String
    /// Whether `url` is relative to the `certivoxURL` of the settings. Then a changed setting also applies to tickets
    /// that exist already.
    var isRelative = false
    /// The URL of a static storage that may have the share, too; nil if there is none.
    var storageURL: String?

    enum Secret { case client, permit, signing }
}

/// A registered key and the shares of its client secret.
struct KeyOffer {
    let mpinID: String
    /// The names of the authorities that made the shares, in base64.
    let dtas: String
    let offer: ShareOffer
}

/// Computes the secret, 65 bytes, from the shares of all authorities. `what` names the shares in the error text.
func assemble(_ shares: [Share], _ what: String) throws(SDKError) -> SecretBytes {
    let secret = SecretBytes(count: MPinSize.g1)
    try cryptoStep(what) { () throws(MPinError) in
        var octets = secret.mutableSpan
        try Shares.assemble(shares, into: &octets)
    }
    return secret
}
