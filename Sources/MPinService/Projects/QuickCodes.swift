import MPinSecrets
package import MPinStore

/// The codes with which the devices of a user let a further device register (TRUST wire section 4.12). A user of a
/// project has at most one at a time. It is good once, and after five wrong tries it is deleted (`UserCodes`).
struct QuickCodes: Sendable {
    static let seconds = 300

    private static let digits = 6
    private let codes: UserCodes

    init(in store: any Store, counting wrongCodes: WrongCodes) {
        codes = UserCodes("project_quickcode", in: store, counting: wrongCodes)
    }

    /// Whether an activation token has the form of a code. All others are longer.
    static func isCode(_ text: String) -> Bool {
        text.utf8.count == digits && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Makes a code of random digits.
    static func random() throws -> String { try randomDigits(digits) }

    /// Stores a code in place of an earlier one. `id` is the identity that has logged in for it.
    func issue(
        _ code: String, of id: MPinID, user: UserKey, project: String, until end: Moment, at now: Moment
    ) async throws {
        try await codes.issue(code, user: user.text(at: project), mpinID: id.hex, until: end, at: now)
    }

    /// Whether a user has a code of a project.
    func hasCode(of user: UserKey, _ project: String, at now: Moment) async throws -> Bool {
        try await codes.hasCode(user.text(at: project), at: now)
    }

    /// Redeems a code, and returns the identity that has made it. Nil for a wrong code, which is counted.
    func redeem(
        _ code: String, of user: UserKey, _ project: String, by asker: String?, at now: Moment
    ) async throws -> MPinID? {
        try await codes.redeem(code, user: user.text(at: project), of: user, by: asker, at: now)?.mpinID
            .flatMap(MPinID.init(hex:))
    }
}

extension UserKey {
    /// The name of what is bound to a user and the project at which it is good. The id of a project has no line feed.
    func text(at project: String) -> String { project + "\n" + text }
}

extension ProjectService {
    /// A code for a further device of a user.
    package struct QuickCode: Sendable {
        /// Six digits.
        package let code: String
        package let expires: Moment
        package let seconds: Int
    }

    /// Makes a QuickCode for the user of the identity with the key `identity`, who has just logged in for it. Throws
    /// ``ProjectFault/wrongLoginToken`` if that identity may no longer log in or is none of the project, and
    /// ``ProjectFault/quickCodeForbidden`` if the project does not let it make codes.
    package func quickCode(identity: String, project: Project) async throws -> QuickCode {
        guard let record = try await service.identity(identity), !record.isBarred,
            let id = MPinID(hex: record.mpinID), id.projectID == project.id
        else { throw ProjectFault.wrongLoginToken }
        return try await keepQuickCode(try QuickCodes.random(), of: id, user: record.user, project: project)
    }

    /// Stores digits as the QuickCode of the user of an identity. Throws ``ProjectFault/quickCodeForbidden``.
    func keepQuickCode(
        _ code: String, of id: MPinID, user: UserKey, project: Project
    ) async throws -> QuickCode {
        let now = now
        switch project.quickCodes ?? .all {
        case .all: break
        case .verified where id.verification != .quickCode: break
        case .verified, .noDevice: throw ProjectFault.quickCodeForbidden
        }
        let end = now.adding(seconds: QuickCodes.seconds)
        try await quickCodes.issue(code, of: id, user: user, project: project.id, until: end, at: now)
        service.observer(.quickCodeMade(id, user: user.text))
        return QuickCode(code: code, expires: end, seconds: QuickCodes.seconds)
    }

    /// Takes a QuickCode. Without a project it is that of the only project which has given the user one. Nil if it is
    /// wrong, or if the identity that has made it may no longer log in.
    func quickCodeActivation(
        _ code: String, user userID: String, project: String?, by asker: String?
    ) async throws -> Activation? {
        let (now, server) = (now, UserKey(try await service.user(meant: userID)))
        var project = project
        if project == nil {
            project = try await onlyProject { project in
                for user in users(server, userID, of: project.id) {
                    if try await quickCodes.hasCode(of: user, project.id, at: now) { return true }
                }
                return false
            }?.id
        }
        guard let project else { return nil }
        for user in users(server, userID, of: project) where try await quickCodes.hasCode(of: user, project, at: now) {
            try await service.requireNotSuspended(user)
            guard let maker = try await quickCodes.redeem(code, of: user, project, by: asker, at: now),
                let record = try await service.identity(maker.key), !record.isBarred
            else { continue }
            return Activation(
                userID: record.user.userID, projectID: project, verification: .quickCode
            ).coming(from: record)
        }
        return nil
    }

    /// Whom a user id on the wire of a project means: the server's user, and the one whom the back end has verified.
    private func users(_ server: UserKey, _ userID: String, of project: String) -> [UserKey] {
        [server, UserKey(userID, of: project)]
    }
}

extension AuthenticationService {
    /// Returns the record of the identity with this ``MPinID/key``. Nil if there is none.
    func identity(_ key: String) async throws -> IdentityRecord? { try await identities.find(key: key, at: now) }
}
