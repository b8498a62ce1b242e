import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// The protocols between client and servers, as the store names them.
package enum WireName: Sendable, CaseIterable {
    /// Of the Milagro servers and ours (wire sections 6 to 9).
    case milagro
    /// Of MIRACL's MFA servers (TRUST wire section 7.2).
    case mfa
}

/// Requests and answers of one protocol, and what the backend's settings say. It knows neither states of users nor the
/// store: what happens to a user is for the flows. Every function but those that say otherwise sends one request; one
/// that fails throws what the status of the answer means at that request.
protocol Wire: Sendable {
    /// Digits of a PIN; nil where the server does not say.
    var pinLength: Int? { get }
    /// Whether a login needs a time permit.
    var usesPermits: Bool { get }
    /// Whether a login may ask for a code that registers another device.
    var givesRegistrationCodes: Bool { get }
    /// Whether access numbers of 7 digits end in a check digit.
    var checksAccessNumbers: Bool { get }

    /// Has a code mailed that verifies the user id.
    func startVerification(_ request: VerificationRequest, _ caller: Caller) throws(SDKError)
    /// Proves the code.
    func finishVerification(
        _ request: ConfirmationRequest, _ caller: Caller
    ) throws(SDKError) -> ConfirmationResponse

    /// Registers an identity, or `mpinID` once more, of a registration that is not finished. What the wire has no place
    /// for in the request it leaves out.
    func register(
        _ request: RegisterRequest, again mpinID: String?, _ caller: Caller
    ) throws(SDKError) -> RegisterResponse
    /// The shares of the client secret for who holds the registration token.
    func clientSecret(
        _ mpinID: String, _ token: SecretText, pushID: String?, _ caller: Caller
    ) throws(SDKError) -> ShareOffer
    /// Says that the client has its token; does nothing where the server does not want to know.
    func reportEnd(
        _ mpinID: String, _ token: SecretText, until deadline: Deadline, _ caller: Caller
    ) throws(SDKError)

    /// Today's time permit, and the day: counted from 1970-01-01 UTC.
    func timePermit(_ mpinID: String, _ caller: Caller) throws(SDKError) -> (date: Int32, offer: ShareOffer)

    /// The share that a ticket is good for.
    func share(_ ticket: Ticket, _ caller: Caller) throws(SDKError) -> Share
    /// The share as a static storage has it: nil where the ticket names none, and where there is no point.
    func storedShare(_ ticket: Ticket, until deadline: Deadline, _ caller: Caller) throws(SDKError) -> Share?

    /// Both passes and the verdict on them: three requests.
    func logIn(
        _ proof: consuming Proof, _ credential: Credential, _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> LoginAnswer
    /// Ends what a login began.
    func logOut(_ logout: User.Logout, _ caller: Caller) throws(SDKError)

    /// Registers a public key, for leave that a login gave.
    func registerKey(_ request: SigningRegisterRequest, _ caller: Caller) throws(SDKError) -> KeyOffer
    /// The shares of the secret that a login's answer asks to take, of an identity without a key pair.
    func renewedSecret(_ share: RenewalAnswer.Share) throws(SDKError) -> ShareOffer

    /// Who shows a code, which learns that it was read; nil where the server has no place for that.
    func session(_ accessCode: String, _ caller: Caller) throws(SDKError) -> Session?
    /// Tells a browser's page how far its login is; does nothing where the server has no place for that.
    func report(_ request: CodeStatusRequest, until deadline: Deadline?, _ caller: Caller) throws(SDKError)
}

/// Shares of one secret: those that came with an answer, and tickets for those that other authorities hand out.
struct ShareOffer {
    var shares: [Share]
    var tickets: [Ticket]
    /// Whether the server wants to hear of the registration's end.
    var reportsEnd = false

    /// With every ticket redeemed.
    consuming func redeemed(over wire: any Wire, _ caller: Caller) throws(SDKError) -> [Share] {
        for ticket in tickets { shares.append(try wire.share(ticket, caller)) }
        return shares
    }
}

/// Where an authority hands its share out.
struct Ticket {
    /// Which authority it is: 1, 2 and so on.
    let index: Int
    let call: ServerCall
    let url: String
    /// Whether `url` is relative to the `certivoxURL` of the settings, which an operator may correct while the ticket waits.
    var isRelative = false
    /// A static storage that may have the share, too.
    var storageURL: String?
}

/// A key that was registered, and the shares of its client secret.
struct KeyOffer {
    let mpinID: String
    /// Which authorities made the shares: base64.
    let dtas: String
    let offer: ShareOffer
}

/// The secret, 65 bytes, that the shares of all authorities make. `what` is for the error text.
func assemble(_ shares: [Share], _ what: String) throws(SDKError) -> SecretBytes {
    let secret = SecretBytes(count: MPinSize.g1)
    try cryptoStep(what) { () throws(MPinError) in
        var octets = secret.mutableSpan
        try Shares.assemble(shares, into: &octets)
    }
    return secret
}
