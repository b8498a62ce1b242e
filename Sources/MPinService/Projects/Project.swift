package import MPinStore

/// A tenant of the service: an app or website whose users register and log in by themselves, with settings of its own
/// (TRUST wire: project id, customer id, company id).
package struct Project: Codable, Storable, Equatable {
    /// How a user proves to own a mail address.
    package enum Verification: String, Codable, Sendable, CaseIterable {
        /// By a link in a mail.
        case link
        /// By a code of six digits in a mail, as far as ``Verifications`` allows it.
        case code
    }

    /// Which devices may make QuickCodes, with which their users register further devices.
    package enum QuickCodeRule: String, Codable, Sendable, CaseIterable {
        case all
        /// Those that were not registered by a QuickCode themselves.
        case verified
        case noDevice = "none"
    }

    /// The name on the wire and in M-Pin IDs (``isID(_:)``).
    package let id: String
    /// What people call it.
    package var name: String
    /// The number of digits of a PIN, from ``pinLengths``.
    package var pinLength = 4
    package var verification = Verification.link
    /// Where the links in mails and QR codes lead: a page or an app link of the project's own. Nil: the server itself.
    package var linkURL: String?
    /// The web origins of the pages that may call the server from the browser.
    package var origins: [String] = []
    /// Which devices may make QuickCodes. Nil stands for all.
    package var quickCodes: QuickCodeRule?
    /// The ids of the OpenID clients whose credentials are also those of the project's back end. Nil: none.
    package var clients: [String]?
    /// Where the server tells the back end that somebody wants to register over generation 1; the back end then verifies
    /// users, and not a mail. Nil: a mail does.
    package var newUserURL: String?
    package let created: Moment

    package static let pinLengths = 4...6

    package init(id: String, name: String, created: Moment) {
        self.id = id
        self.name = name
        self.created = created
    }

    /// Whether `text` can be the id of a project: 1 to 64 of `A-Z a-z 0-9 . _ ~ -`.
    package static func isID(_ text: String) -> Bool {
        text.utf8.count <= longestID && text.wholeMatch(of: /[A-Za-z0-9._~-]+/) != nil
    }

    /// The longest id, in bytes.
    package static let longestID = 64
}

/// The projects of a server. An operator can change them while the server runs.
package struct Projects: Sendable {
    /// The project of the server's own pages. It is there without an operator's doing.
    package static let own = "browser"
    private let table: Table<Project>

    package init(in store: any Store) { table = Table("project", in: store) }

    /// Returns the project with this id. Nil if there is none.
    package func find(_ id: String, at now: Moment) async throws -> Project? {
        Project.isID(id) ? try await table.read(id, at: now) : nil
    }

    /// Returns all projects, sorted by id.
    package func list(at now: Moment) async throws -> [Project] { try await table.all(at: now).map(\.value) }

    /// Returns the only project that there is. That of the server's own pages counts only if there is no other. Nil if
    /// there are several, or none.
    package func only(at now: Moment) async throws -> Project? {
        let all = try await list(at: now)
        let others = all.filter { $0.id != Self.own }
        let candidates = others.isEmpty ? all : others
        return candidates.count == 1 ? candidates.first : nil
    }

    /// Returns the ids of the projects that name the OpenID client `client`. There is more than one only if a version before
    /// has allowed that.
    package func owners(ofClient client: String, at now: Moment) async throws -> [String] {
        try await list(at: now).filter { $0.clients?.contains(client) ?? false }.map(\.id)
    }

    /// Adds a project. False if there is one with its id.
    package func add(_ project: Project, at now: Moment) async throws -> Bool {
        try await table.create(project.id, project, at: now)
    }

    /// Changes a project, and returns it as it is then. Nil if there is none with this id.
    package func change(
        _ id: String, at now: Moment, _ change: @escaping @Sendable (inout Project) -> Void
    ) async throws -> Project? {
        guard Project.isID(id) else { return nil }
        return try await table.update(id, at: now, .durable) { entry in
            guard var project = entry?.value else { return nil }
            change(&project)
            entry?.value = project
            return project
        }
    }

    /// Removes a project. False if there is none with this id. Its identities stay: they can log in to websites, but not
    /// to the project.
    package func remove(_ id: String, at now: Moment) async throws -> Bool {
        guard Project.isID(id) else { return false }
        return try await table.take(id, at: now) != nil
    }
}
