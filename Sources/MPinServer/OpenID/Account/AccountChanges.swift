import Hummingbird
import Logging
import MPinOpenID
import MPinService
import MPinStore

/// What the forms of the account page do.
extension OpenIDFace {
    /// Answers the form with name, picture and language.
    func changeProfile(_ request: Request) async throws -> Response {
        try await changing(request, isSensitive: { _ in false }) { form in
            let (old, now) = (try await provider.profiles.profile(of: form.userID, at: provider.now), provider.now)
            var change = ProfileChange()
            change.name = Self.changed(form.members["name"], old.name)
            change.picture = Self.changed(form.members["picture"], old.picture)
            change.locale = Self.changed(form.members["locale"], old.locale)
            guard !change.isEmpty else { return saved }
            do { _ = try await provider.profiles.change(form.userID, change, at: now) } catch let fault as ProfileFault
            {
                return try await refusal(form, fault.member)
            }
            config.audit.record(
                .profile("profile-changed", user: form.userID, members: change.names, by: LogoutCause.user.rawValue))
            return saved
        }
    }

    /// Returns the new value for a member of the profile; an empty text removes it. Nil if it is as before.
    private static func changed(_ new: String?, _ old: String?) -> String? { new == old ? nil : new ?? "" }

    /// Answers the form that removes a device, and ends all that the device has logged in.
    func removeDevice(_ request: Request, _ logger: Logger) async throws -> Response {
        try await changing(request, isSensitive: { _ in true }) { form in
            guard let identity = form.members["device"],
                let id = try await service.removeDevice(identity, of: UserKey(text: form.userID))
            else { return saved }
            config.audit.record(.revoked(id, user: form.userID))
            await backChannel.tell(try await provider.endLogins(of: id.hex, of: form.userID), logger)
            return saved
        }
    }

    /// Answers the form that withdraws the consent to an application.
    func withdrawConsent(_ request: Request) async throws -> Response {
        try await changing(request, isSensitive: { _ in true }) { form in
            guard let client = form.members["client"],
                try await provider.withdrawConsent(to: client, by: form.userID)
            else { return saved }
            config.audit.record(.consentWithdrawn(user: form.userID, client: client))
            return saved
        }
    }

    /// Answers the form that ends one session, or all others. A user can log this browser out at any time; to end other
    /// sessions the user must have logged in recently.
    func endSessions(_ request: Request, _ logger: Logger) async throws -> Response {
        let own = cookies.session(request)?.id
        return try await changing(request, isSensitive: { $0["session"] != own }) { form in
            guard let id = form.members["session"] else { return form.pages.refusedForm.response(.badRequest) }
            guard id != AccountForm.otherSessions else {
                await backChannel.tell(try await provider.endSessions(otherThan: form.session), logger)
                return saved
            }
            if let notice = try await provider.endSession(id, of: form.userID) {
                await backChannel.tell([notice], logger)
            }
            return id == own ? forgetting(form.pages.loggedOut(from: nil).response()) : saved
        }
    }

    /// Returns the account page with the reason why a value was refused.
    func refusal(_ form: AccountForm, _ member: ProfileFault.Member) async throws -> Response {
        try await accountPage(form.pages, form.session, form.cookie, refused: member).response(.badRequest)
    }

    /// Returns the account page of the session's user.
    func accountPage(
        _ pages: Pages, _ session: BrowserSession, _ cookie: SessionCookie, isSaved: Bool = false,
        refused: ProfileFault.Member? = nil
    ) async throws -> Page {
        let (userID, now) = (session.login.userID, provider.now)
        let sessions = try await provider.liveSessions(of: userID)
        let consents = try await provider.consents.list(of: userID, at: now)
        var names: [String: String] = [:]
        for id in Set(consents.map(\.clientID) + sessions.flatMap(\.clients)) {
            names[id] = try await provider.client(id)?.name
        }
        let account = Account(
            session: session, profile: try await provider.profiles.profile(of: userID, at: now),
            devices: try await service.devices(of: UserKey(text: userID)).filter { !$0.isRevoked }, consents: consents,
            sessions: sessions, names: names, sendsMail: mailer.sends, now: now)
        return AccountPage(pages: pages, account: account, base: config.path, csrf: cookie.formToken).page(
            isSaved: isSaved, refused: refused)
    }
}
