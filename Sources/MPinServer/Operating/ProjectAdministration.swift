import MPinOpenID
package import MPinService
package import MPinStore

/// The commands of `mpind project`: they change the projects in the database, also while a server uses it.
package struct ProjectAdministration: Sendable {
    private let projects: Projects
    private let clients: ClientRegistry
    private let devices: Devices
    let tokens: ProjectTokens
    let hashes: HashSealing
    let audit: Audit
    let clock: Clock

    package init(database: ServiceDatabase, audit: Audit, clock: @escaping Clock = Moment.now) async throws {
        self.init(in: try await database.open(), .file(database.keyFile), audit: audit, clock: clock)
    }

    init(in store: any Store, _ key: HashSealing.Key, audit: Audit, clock: @escaping Clock) {
        projects = Projects(in: store)
        clients = ClientRegistry(in: store)
        devices = Devices(in: store)
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
        let namesakes = try await devices.userIDs(startingWith: id + "/", after: nil, limit: 1, at: now)
        guard namesakes.isEmpty else { throw ProjectRefusal.isNameOfUsers(id) }
        var project = Project(id: id, name: id, created: now)
        try await check(change, of: id)
        change.apply(to: &project)
        audit.record(.command("project add", [("project", id), ("members", change.text)]))
        guard try await projects.add(project, at: now) else { throw ProjectRefusal.exists(id) }
        return ProjectEntry(project)
    }

    package func set(_ id: String, _ change: ProjectChange) async throws -> ProjectEntry {
        try await check(change, of: id)
        audit.record(.command("project set", [("project", id), ("members", change.text)]))
        guard let project = try await projects.change(id, at: clock(), { change.apply(to: &$0) }) else {
            throw ProjectRefusal.unknown(id)
        }
        return ProjectEntry(project)
    }

    /// Throws ``ProjectRefusal`` for a value that a project cannot have.
    private func check(_ change: ProjectChange, of id: String) async throws {
        try change.check()
        for client in change.clients ?? [] where client != "" {
            guard id != Projects.own else { throw ProjectRefusal.hasNoBackEnd(id) }
            let owners = try await projects.owners(ofClient: client, at: clock())
            if let other = owners.first(where: { $0 != id }) { throw ProjectRefusal.clientOfAnother(client, other) }
        }
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
    /// There are users whose ids begin with the id and a slash, as those of the project would.
    case isNameOfUsers(String)
    /// The project is that of this server's own pages.
    case hasNoBackEnd(String)
    /// The client belongs to the second one, another project.
    case clientOfAnother(String, String)
    case badMember(String)

    package var description: String {
        switch self {
        case .unknown(let id): "there is no project \(id)"
        case .exists(let id): "there is a project \(id) already"
        case .badID(let id): "\(id): an id has 1 to 64 of A-Z a-z 0-9 . _ ~ -"
        case .isClient(let id): "\(id) is a client of the OpenID provider: choose another id"
        case .isNameOfUsers(let id): "there are users whose names begin with \(id)/: choose another id"
        case .hasNoBackEnd(let id): "\(id) is the project of this server's own pages, which has no back end"
        case .clientOfAnother(let client, let id): "\(client) belongs to the project \(id)"
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
