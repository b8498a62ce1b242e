import MPinService
package import MPinStore

/// What ``Doctor`` has found in a database.
package struct Finding: Sendable, Equatable, Encodable {
    package enum Weight: String, Sendable, Encodable {
        /// Something that the operator must put right.
        case fault
        /// Something that the operator should know.
        case note
    }

    package let weight: Weight
    /// The name of the check that has found it.
    package let check: String
    /// The database: a path or a URL.
    package let place: String
    /// One line for the operator. What comes from the database is escaped.
    package let text: String
}

/// Looks for what is wrong in the databases of a server, which may be running, and changes nothing.
package struct Doctor: Sendable {
    /// A check of the items of an RPS. It reads the store page by page and returns each finding as a line.
    package struct Check: Sendable {
        package let name: String
        package let examine: @Sendable (_ store: any Store, _ now: Moment) async throws -> [(Finding.Weight, String)]
    }

    /// The checks of the items of an RPS, in the order in which they are made.
    package static let checks = [Check(name: "service", examine: service), Check(name: "spelling", examine: spellings)]

    @Sendable private static func service(_ store: any Store, _ now: Moment) async throws -> [(Finding.Weight, String)]
    {
        guard let id = try await ServiceID.read(in: store, at: now) else {
            return [(.note, "there is no service id: the server makes one at its next start")]
        }
        guard id.sealed == nil else { return [] }
        let advice = "run `mpind migrate --seal` when all servers are of this version"
        return [(.note, "names in shared stores do not carry the id of the service: \(advice)")]
    }

    private let clock: Clock
    /// The key file of the RPS (``ServiceDatabase/keyFile``). Nil for the one beside a SQLite file.
    private let serviceKeyFile: String?

    package init(serviceKeyFile: String? = nil, clock: @escaping Clock = Moment.now) {
        self.serviceKeyFile = serviceKeyFile
        self.clock = clock
    }

    /// Examines a SQLite file of any part, or what a ``PostgresURL`` names. Throws `StartError` for a place that is no
    /// database of this program.
    package func examine(_ place: String) async throws -> [Finding] {
        do {
            switch try StoreURL(place) {
            case .postgres(let url): return try await examine(postgres: url, place)
            case let url: return try await examine(file: url.file(), place)
            }
        } catch let error as StoreError { throw StartError("\(StoreURL.shown(place)): \(error)") }
    }

    private func examine(file path: String, _ place: String) async throws -> [Finding] {
        let kind = try DatabaseKind(checking: path, allowsForeign: true)
        let connection = try SQLiteConnection(path: path)
        let foreign = try kind.schema.foreign(connection)
        // No store opens a file with such things, so its items cannot be checked.
        guard foreign.isEmpty else { return foreign.map { Finding.schema($0, place) } }
        guard try kind.schema.missing(connection) == 0 else {
            let text =
                "of an earlier version: its server brings it up to date at the next start; its items were not checked"
            return [Finding(weight: .note, check: "schema", place: place, text: text)]
        }
        return kind == .rps ? try await examine(SQLiteStore(path: path), place) : []
    }

    private func examine(postgres url: PostgresURL, _ place: String) async throws -> [Finding] {
        let store = try await PostgresStore(url, .lasting)
        let foreign = try await store.foreign().map { Finding.schema($0, place) }
        return try await foreign + examine(store, place)
    }

    private func examine(_ store: any WholeStore, _ place: String) async throws -> [Finding] {
        let now = try await store.time() ?? clock()
        var found: [(String, [(Finding.Weight, String)])] = []
        for check in Self.checks { found.append((check.name, try await check.examine(UncheckedStore(store), now))) }
        let database = ServiceDatabase(place, keyFile: serviceKeyFile)
        found.append(("records", try await records(store, database, at: now)))
        return found.flatMap { name, lines in
            lines.map { Finding(weight: $0.0, check: name, place: place, text: $0.1) }
        }
    }
}

extension Finding {
    /// Something in a database that this program has not made.
    fileprivate static func schema(_ text: String, _ place: String) -> Finding {
        Finding(weight: .fault, check: "schema", place: place, text: text)
    }
}
