import MPinOpenID
package import MPinService
package import MPinStore

/// The commands of `mpind project`: they change the projects in the database, also while a server uses it.
package struct ProjectAdministration: Sendable {
    private let projects: Projects
    private let clients: ClientRegistry
    let tokens: ProjectTokens
    let hashes: HashSealing
    let audit: Audit
    let clock: Clock

    /// `keyFile`: the server's own key file; nil for the one beside the database.
    package init(
        database: String, keyFile: String? = nil, audit: Audit, clock: @escaping Clock = Moment.now
    ) async throws {
        let key = HashSealing.Key.file(keyFile ?? serviceKeyFile(beside: database))
        self.init(in: try await openServiceDatabase(database), key, audit: audit, clock: clock)
    }

    init(in store: any Store, _ key: HashSealing.Key, audit: Audit, clock: @escaping Clock) {
        projects = Projects(in: store)
        clients = ClientRegistry(in: store)
        tokens = ProjectTokens(in: store)
        hashes = HashSealing(store, key)
        self.audit = audit
        self.clock = clock
    }

    /// Returns all projects, sorted by id.
    package func list() async throws -> [ProjectEntry] {
        audit.record(.command("project list"))
        return try await projects.list(at: clock()).map(ProjectEntry.init)
    }

    package func show(_ id: String) async throws -> ProjectEntry {
        audit.record(.command("project show", [("project", id)]))
        return ProjectEntry(try await find(id))
    }

    func find(_ id: String) async throws -> Project {
        guard let project = try await projects.find(id, at: clock()) else { throw ProjectRefusal.unknown(id) }
        return project
    }

    package func add(_ id: String, _ change: ProjectChange) async throws -> ProjectEntry {
        let now = clock()
        guard Project.isID(id) else { throw ProjectRefusal.badID(id) }
        // A token for the project would pass as an ID token for the client.
        guard try await clients.find(id, at: now) == nil else { throw ProjectRefusal.isClient(id) }
        var project = Project(id: id, name: id, created: now)
        try change.check()
        change.apply(to: &project)
        audit.record(.command("project add", [("project", id), ("members", change.text)]))
        guard try await projects.add(project, at: now) else { throw ProjectRefusal.exists(id) }
        return ProjectEntry(project)
    }

    package func set(_ id: String, _ change: ProjectChange) async throws -> ProjectEntry {
        try change.check()
        audit.record(.command("project set", [("project", id), ("members", change.text)]))
        guard let project = try await projects.change(id, at: clock(), { change.apply(to: &$0) }) else {
            throw ProjectRefusal.unknown(id)
        }
        return ProjectEntry(project)
    }

    package func remove(_ id: String) async throws {
        audit.record(.command("project remove", [("project", id)]))
        guard try await projects.remove(id, at: clock()) else { throw ProjectRefusal.unknown(id) }
        try await tokens.removeAll(of: id, at: clock())
    }
}

/// The new values of some members of a project. Those that are nil stay as they are.
package struct ProjectChange: Sendable {
    package var name: String?
    package var pinLength: Int?
    package var verification: Project.Verification?
    /// An empty text stands for the server itself.
    package var linkURL: String?
    package var quickCodes: Project.QuickCodeRule?
    /// A list with one empty text stands for none.
    package var origins: [String]?
    /// A list with one empty text stands for none.
    package var clients: [String]?
    /// An empty text stands for none.
    package var newUserURL: String?

    package init() {}

    package var isEmpty: Bool { text.isEmpty }

    /// The names of the members that change.
    fileprivate var text: String {
        let members: [(String, Bool)] = [
            ("name", name != nil), ("pin-length", pinLength != nil), ("verification", verification != nil),
            ("quickcodes", quickCodes != nil),
            ("link-url", linkURL != nil), ("origin", origins != nil),
            ("client", clients != nil), ("new-user-url", newUserURL != nil),
        ]
        return members.filter(\.1).map(\.0).joined(separator: " ")
    }

    fileprivate func check() throws(ProjectRefusal) {
        if let name, name.isEmpty || name.utf8.count > 128 || UserID.hiddenCharacters(in: name) != nil {
            throw .badMember("name: 1 to 128 bytes that one can see")
        }
        if let pinLength, !Project.pinLengths.contains(pinLength) { throw .badMember("pin-length: 4, 5 or 6") }
        if let linkURL, !linkURL.isEmpty, linkURL.contains("?") || (try? RedirectURI(linkURL)) == nil {
            throw .badMember("link-url: an https URL without ? and # (http on this machine), or one of an app's scheme")
        }
        if let newUserURL, !newUserURL.isEmpty, (try? RedirectURI(newUserURL))?.hasAppScheme ?? true {
            throw .badMember("new-user-url: an https URL without # (http on this machine)")
        }
        for origin in origins ?? [] where origins != [""] && WebOrigin(origin) == nil {
            throw .badMember("origin: \(origin) is not an origin such as https://app.example")
        }
        for client in clients ?? [] where clients != [""] && !Client.isID(client) {
            throw .badMember("client: \(client) is not the id of an OpenID client")
        }
    }

    fileprivate func apply(to project: inout Project) {
        if let name { project.name = name }
        if let pinLength { project.pinLength = pinLength }
        if let verification { project.verification = verification }
        if let quickCodes { project.quickCodes = quickCodes }
        if let linkURL { project.linkURL = linkURL.isEmpty ? nil : linkURL.withoutSlashAtEnd }
        if let origins { project.origins = origins == [""] ? [] : origins }
        if let clients { project.clients = clients == [""] ? nil : clients }
        if let newUserURL { project.newUserURL = newUserURL.isEmpty ? nil : newUserURL }
    }
}

/// Why a command is refused.
package enum ProjectRefusal: Error, Equatable, CustomStringConvertible {
    case unknown(String)
    case exists(String)
    case badID(String)
    case isClient(String)
    case badMember(String)

    package var description: String {
        switch self {
        case .unknown(let id): "there is no project \(id)"
        case .exists(let id): "there is a project \(id) already"
        case .badID(let id): "\(id): an id has 1 to 64 of A-Z a-z 0-9 . _ ~ -"
        case .isClient(let id): "\(id) is a client of the OpenID provider: choose another id"
        case .badMember(let why): why
        }
    }
}

/// A project as operators see it.
package struct ProjectEntry: Sendable, Encodable {
    package let project: Project

    init(_ project: Project) { self.project = project }

    /// One line `name: text` for each member that is set. A list has a line for each text.
    package var lines: [String] {
        [
            "id: \(project.id)", "name: \(project.name)", "pin-length: \(project.pinLength)",
            "verification: \(project.verification.rawValue)",
            "quickcodes: \((project.quickCodes ?? .all).rawValue)",
        ] + (project.linkURL.map { ["link-url: \($0)"] } ?? []) + project.origins.map { "origin: \($0)" }
            + (project.clients ?? []).map { "client: \($0)" }
            + (project.newUserURL.map { ["new-user-url: \($0)"] } ?? [])
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, verification, origin, client, created
        case quickCodes = "quickcodes"
        case pinLength = "pin-length"
        case linkURL = "link-url"
        case newUserURL = "new-user-url"
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(project.id, forKey: .id)
        try members.encode(project.name, forKey: .name)
        try members.encode(project.pinLength, forKey: .pinLength)
        try members.encode(project.verification, forKey: .verification)
        try members.encode(project.quickCodes ?? .all, forKey: .quickCodes)
        try members.encodeIfPresent(project.linkURL, forKey: .linkURL)
        try members.encode(project.origins, forKey: .origin)
        try members.encode(project.clients ?? [], forKey: .client)
        try members.encodeIfPresent(project.newUserURL, forKey: .newUserURL)
        try members.encode(project.created.iso, forKey: .created)
    }
}
