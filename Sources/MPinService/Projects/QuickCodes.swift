import MPinSecrets
package import MPinStore

/// The codes with which the devices of a user let a further device register (TRUST wire section 4.12). A user of a
/// project has at most one at a time. It is good once, and after five wrong tries it is deleted (`UserCodes`).
struct QuickCodes: Sendable {
    static let seconds = 300

    private static let digits = 6
    private let codes: UserCodes

    init(in store: any Store) { codes = UserCodes("project_quickcode", in: store) }

    /// Whether an activation token has the form of a code. All others are longer.
    static func isCode(_ text: String) -> Bool {
        text.utf8.count == digits && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Makes a code of random digits.
    static func random() throws -> String { try randomDigits(digits) }

    /// Stores a code in place of an earlier one. `id` is the identity that has logged in for it.
    func issue(
        _ code: String, of id: MPinID, user: String, project: String, until end: Moment, at now: Moment
    ) async throws {
        try await codes.issue(code, user: Self.user(user, project), mpinID: id.hex, until: end, at: now)
    }

    /// Whether a user has a code of a project.
    func hasCode(of user: String, project: String, at now: Moment) async throws -> Bool {
        try await codes.hasCode(Self.user(user, project), at: now)
    }

    /// Redeems a code, and returns the identity that has made it. Nil for a wrong code, which is counted.
    func redeem(_ code: String, user: String, project: String, at now: Moment) async throws -> MPinID? {
        try await codes.redeem(code, user: Self.user(user, project), at: now)?.mpinID.flatMap(MPinID.init(hex:))
    }

    /// A code is bound to user and project. The id of a project has no line feed, and neither has a user id.
    private static func user(_ user: String, _ project: String) -> String { project + "\n" + user }
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
        try await quickCodes.issue(code, of: id, user: user.userID, project: project.id, until: end, at: now)
        service.observer(.quickCodeMade(id, user: user.text))
        return QuickCode(code: code, expires: end, seconds: QuickCodes.seconds)
    }

    /// Takes a QuickCode. Without a project it is that of the only project which has given the user one. Nil if it is
    /// wrong, or if the identity that has made it may no longer log in.
    func quickCodeActivation(_ code: String, user: String, project: String?) async throws -> Activation? {
        let now = now
        var project = project
        if project == nil {
            project = try await onlyProject {
                try await quickCodes.hasCode(of: user, project: $0.id, at: now)
            }?.id
        }
        guard let project, let maker = try await quickCodes.redeem(code, user: user, project: project, at: now),
            let record = try await service.identity(maker.key), !record.isBarred
        else { return nil }
        return Activation(userID: user, projectID: project, verification: .quickCode).coming(from: record)
    }
}

extension AuthenticationService {
    /// Returns the record of the identity with this ``MPinID/key``. Nil if there is none.
    func identity(_ key: String) async throws -> IdentityRecord? { try await identities.find(key: key, at: now) }
}
