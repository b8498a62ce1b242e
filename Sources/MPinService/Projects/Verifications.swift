import MPinSecrets
package import MPinStore

/// The codes in mails by which users prove that a mail address is theirs, and those that a project's back end hands to its
/// users. A user has at most one at a time for a project. That of a mail is good once and for ten minutes, and after five
/// wrong tries it is deleted (`UserCodes`).
struct Verifications: Sendable {
    static let seconds = 600

    /// Seconds for which the session of a link is remembered after the link's end.
    private static let memorySeconds = 3600

    private let codes: UserCodes
    /// The sessions that asked for links, so that a device can ask for another mail for its session when a link was used
    /// or has expired. Nobody who has not got the mail can find them.
    private let links: Table<String>

    init(in store: any Store, counting wrongCodes: WrongCodes) {
        codes = UserCodes("project_code", in: store, counting: wrongCodes)
        links = Table("project_link", in: store)
    }

    /// Stores the hash of a code, in place of an earlier one. `type` tells who hands out the code.
    func issue(
        _ code: String, _ wish: ProjectService.VerificationWish, _ type: VerificationType = .mail,
        until end: Moment, at now: Moment
    ) async throws {
        let user = wish.user.text(at: wish.project.id)
        try await codes.issue(code, user: user, note: "\(type.rawValue) \(wish.accessID)", until: end, at: now)
        guard Self.isOfLink(code), !wish.accessID.isEmpty else { return }
        let memory = end.adding(seconds: Self.memorySeconds)
        _ = try await links.create(Self.link(code, user), wish.accessID, expires: memory, at: now)
    }

    /// Returns the session that asked for a link with this code for the user and project. Nil if none did. The link may
    /// have been used, or be void.
    func accessID(ofLink code: String, user: UserKey, project: String, at now: Moment) async throws -> String? {
        guard Self.isOfLink(code) else { return nil }
        return try await links.read(Self.link(code, user.text(at: project)), at: now)
    }

    /// Redeems a code. Returns who handed it out, and the session that asked for it; empty if none did. Nil for a wrong
    /// code, which is counted.
    func redeem(
        _ code: String, user: UserKey, project: String, by asker: String?, at now: Moment
    ) async throws -> (type: VerificationType, accessID: String)? {
        guard let found = try await codes.redeem(code, user: user.text(at: project), of: user, by: asker, at: now)
        else { return nil }
        let words = (found.note ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        return (words.first.flatMap(VerificationType.init(rawValue:)) ?? .mail, words.dropFirst().first ?? "")
    }

    /// Whether `code` is the one of a link for this user and project, or there is a short code for them. It is not counted
    /// as a try: the codes of links are too long to be guessed, and a short one is not compared.
    func mayBe(_ code: String, user: UserKey, project: String, at now: Moment) async throws -> Bool {
        guard Self.isOfLink(code) else { return try await codes.hasCode(user.text(at: project), at: now) }
        return try await isLink(code, of: user, project: project, at: now)
    }

    /// Whether `code` is the one of a link for this user and project.
    func isLink(_ code: String, of user: UserKey, project: String, at now: Moment) async throws -> Bool {
        guard Self.isOfLink(code) else { return false }
        return try await codes.contains(code, user: user.text(at: project), at: now)
    }

    /// The number of hex digits of a code in a link.
    private static let linkDigits = 64

    /// Whether a code has the length of one in a link.
    private static func isOfLink(_ code: String) -> Bool { code.utf8.count == linkDigits }

    /// A code has no line feed.
    private static func link(_ code: String, _ user: String) -> String {
        Hex.encode(SHA256.hash(Array("\(user)\n\(code)".utf8)))
    }
}

/// What a device may register as, because its user is verified.
struct Activation: Codable, Storable, Equatable {
    /// The user id in NFC.
    let userID: String
    let projectID: String
    let verification: VerificationType
    /// Whether the user of the identity from which the new one comes was verified by the project's back end. It is not
    /// stored, but found when the token is taken.
    var isByBackEnd = false

    private enum CodingKeys: String, CodingKey { case userID, projectID, verification, replaced, id, maker }
    /// The key of the identity whose place the new one takes. Nil if it takes none.
    var replaced: String?
    /// The M-Pin ID that was made already. Nil: it is made with the registration.
    var id: MPinID?
    /// The key of the identity whose login gave the token for a further identity, which is for signatures only. Nil for
    /// any other one.
    var maker: String?

    var user: UserKey {
        UserKey(userID, of: verification == .custom || isByBackEnd ? projectID : nil)
    }

    fileprivate func isFor(_ user: String, meant: String) -> Bool {
        maker == nil && (userID == user || userID == meant && verification != .custom)
    }

    /// The activation of an identity that comes from the one with this record, and is of the same user.
    func coming(from origin: IdentityRecord) -> Activation {
        var activation = self
        activation.isByBackEnd = origin.user.project != nil
        return activation
    }
}

/// The tokens with which a device registers after its user is verified. Each is good once.
struct ActivationTokens: Sendable {
    static let seconds = 600

    private let table: Table<Activation>

    init(in store: any Store) { table = Table("project_activation", in: store) }

    /// Makes a token of 16 random bytes in hex. Only its hash is stored.
    func issue(_ activation: Activation, until end: Moment, at now: Moment) async throws -> String {
        let token = Hex.encode(try randomBytes(16))
        _ = try await table.create(Self.key(token), activation, expires: end, at: now)
        return token
    }

    /// Returns what the token is for, of the user with exactly the user id `user`, or of the server's user `meant`, of which
    /// it is another spelling. Nil for any other token, and for one that registers an identity for signatures only.
    func find(_ token: String, user: String, meant: String, at now: Moment) async throws -> Activation? {
        try await table.read(Self.key(token), at: now).flatMap { $0.isFor(user, meant: meant) ? $0 : nil }
    }

    /// Takes the token that ``find(_:user:meant:at:)`` finds. Of several callers only one gets it.
    func take(_ token: String, user: String, meant: String, at now: Moment) async throws -> Activation? {
        try await take(token, at: now) { $0.isFor(user, meant: meant) }
    }

    /// Takes a token that a login has given, and returns what it is for. Nil for any other token, which is not changed.
    func takeOfLogin(_ token: String, at now: Moment) async throws -> Activation? {
        try await take(token, at: now) { $0.replaced != nil || $0.maker != nil }
    }

    private func take(
        _ token: String, at now: Moment, if isWanted: @escaping @Sendable (Activation) -> Bool
    ) async throws -> Activation? {
        try await table.update(Self.key(token), at: now, .durable) { entry in
            guard let found = entry?.value, isWanted(found) else { return nil }
            entry = nil
            return found
        }
    }

    private static func key(_ token: String) -> String { Hex.encode(SHA256.hash(Array(token.utf8))) }
}

extension ProjectService {
    /// What a client asks for when its user is to be verified (TRUST wire section 4.4).
    package struct VerificationWish: Sendable {
        package let project: Project
        package let user: UserKey
        /// The M-Pin ID with which this device is registered already; nil if it is not.
        package let id: MPinID?
        /// The tag that this device's client has made for it; nil if it tells none.
        package let deviceTag: String?
        /// The session of a browser that the user wants to log in; empty if there is none.
        package let accessID: String

        /// The user id in NFC.
        package var userID: String { user.userID }
    }

    /// Returns the wish of a client, or with `isByBackEnd` of the project's back end, that has written a user id. Throws
    /// ``ServiceError/badUserID(_:)`` for user ids that are not allowed.
    package func wish(
        _ project: Project, userID written: String, isByBackEnd: Bool = false, id: MPinID? = nil,
        deviceTag: String? = nil, accessID: String
    ) async throws -> VerificationWish {
        VerificationWish(
            project: project, user: try await service.registrant(written, of: isByBackEnd ? project.id : nil), id: id,
            deviceTag: deviceTag, accessID: accessID.beginning(64))
    }

    /// What the mail must contain, and what the client is told.
    package struct StartedVerification: Sendable {
        /// Six digits, or 64 hex digits for a link. Only the mail has it.
        package let code: String
        package let method: Project.Verification
        package let expires: Moment
        /// When the next mail may be sent.
        package let again: Moment
    }

    /// Makes a code for a mail to the user, in place of an earlier one. Throws ``ProjectFault/mailTooEarly(again:)``.
    package func startVerification(_ wish: VerificationWish) async throws -> StartedVerification {
        let now = now
        try await service.requireNotSuspended(wish.user)
        let (isAllowed, again) = try await backoff.ask(for: wish.userID, at: now)
        guard isAllowed else { throw ProjectFault.mailTooEarly(again: again) }
        let method = try await method(wish)
        let code = method == .code ? try randomDigits(6) : Hex.encode(try randomBytes(32))
        let end = now.adding(seconds: Verifications.seconds)
        try await verifications.issue(code, wish, until: end, at: now)
        return StartedVerification(code: code, method: method, expires: end, again: again)
    }

    /// How the user is verified (TRUST wire section 4.4). A short code is for the first device of a mailbox, and for a
    /// device that registers again. A further device needs a link, because a short code can be talked out of somebody. So
    /// does everybody when too many wrong codes were tried.
    private func method(_ wish: VerificationWish) async throws -> Project.Verification {
        guard wish.project.verification == .code, try await !service.wrongCodes.isUsedUp(wish.user, at: now) else {
            return .link
        }
        let devices = try await service.devices(ofMailbox: wish.userID)
        guard !devices.isEmpty, !devices.contains(where: { $0.identity == wish.id?.key }) else { return .code }
        let isOwn = try await service.devices.hasTag(wish.deviceTag ?? "", devices, at: now)
        return isOwn ? .code : .link
    }

    /// The project to which a code belongs that came without one: the one that has given it in a link, or the only one
    /// that has given the user a code to type. Nil if there is none.
    package func project(ofCode code: String, user: String) async throws -> Project? {
        let (now, server) = (now, UserKey(try await service.user(meant: user)))
        return try await onlyProject {
            if try await verifications.mayBe(code, user: server, project: $0.id, at: now) { return true }
            let own = UserKey(UserID.normal(user), of: $0.id)
            return try await verifications.isLink(code, of: own, project: $0.id, at: now)
        }
    }

    /// Returns whose code it is: that of the user whom the project's back end verifies, if the back end has handed it out,
    /// or else that of the server's user.
    private func owner(of code: String, user: String, project: String) async throws -> UserKey {
        let own = UserKey(UserID.normal(user), of: project)
        if try await verifications.isLink(code, of: own, project: project, at: now) { return own }
        return UserKey(try await service.user(meant: user))
    }

    /// Returns the session that asked for a link, of the server's user or of the project's.
    private func accessID(
        ofLink code: String, user: String, _ project: Project, at now: Moment
    ) async throws -> String? {
        let users = [UserKey(try await service.user(meant: user)), UserKey(UserID.normal(user), of: project.id)]
        for user in users {
            let found = try await verifications.accessID(ofLink: code, user: user, project: project.id, at: now)
            if let found { return found }
        }
        return nil
    }

    /// The answer to a right code.
    package struct Confirmation: Sendable {
        package let userID: String
        package let activationToken: String
        package let expires: Moment
        /// The session that asked for the mail; empty if there is none.
        package let accessID: String
        /// Whether the code was in a mail of this server.
        package let isByMail: Bool
    }

    /// Redeems the code from a mail. Unknown users get the same answer as wrong codes,
    /// ``ProjectFault/wrongCode(accessID:)``. `asker` names whoever asks; nil if that is not known.
    package func confirm(
        _ code: String, user written: String, project: Project, by asker: String?
    ) async throws -> Confirmation {
        let (now, user) = (now, try await owner(of: code, user: written, project: project.id))
        try await service.requireNotSuspended(user)
        guard let found = try await verifications.redeem(code, user: user, project: project.id, by: asker, at: now)
        else {
            throw ProjectFault.wrongCode(accessID: try await accessID(ofLink: code, user: written, project, at: now))
        }
        if found.type == .mail { try await backoff.forget(user.userID, at: now) }
        let end = now.adding(seconds: ActivationTokens.seconds)
        let activation = Activation(userID: user.userID, projectID: project.id, verification: found.type)
        let token = try await activations.issue(activation, until: end, at: now)
        return Confirmation(
            userID: user.userID, activationToken: token, expires: end, accessID: found.accessID,
            isByMail: found.type == .mail)
    }
}
