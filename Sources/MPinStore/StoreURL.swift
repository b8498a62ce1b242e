/// Where a server keeps state, as the operator writes it: `sqlite:PATH` or a path alone, `memory:`, a ``PostgresURL`` or a
/// ``RedisURL``.
package enum StoreURL: Sendable, Equatable {
    case sqlite(path: String)
    case memory
    case postgres(PostgresURL)
    case redis(RedisURL)

    /// Reads a URL or a path. Throws ``StoreError/unusable(_:)`` for another scheme.
    package init(_ text: String) throws {
        guard let colon = text.firstIndex(of: ":"), text[..<colon].allSatisfy({ $0.isASCII && $0.isLetter }) else {
            self = .sqlite(path: text)
            return
        }
        let rest = String(text[text.index(after: colon)...])
        switch text[..<colon] {
        case "sqlite" where !rest.isEmpty: self = .sqlite(path: rest)
        case "memory" where rest.isEmpty: self = .memory
        case "postgres", "postgresql": self = .postgres(try PostgresURL(afterScheme: rest[...]))
        case "redis": self = .redis(try RedisURL(afterScheme: rest[...]))
        case "rediss": throw StoreError.unusable("rediss: " + RedisURL.noTLS)
        default:
            throw StoreError.unusable(
                "\(text[...colon]) not sqlite:PATH, memory:, postgres://HOST/DATABASE, redis://HOST or a path")
        }
    }

    /// The text of a URL for messages. Of one that is refused only the scheme, because there may be a password in it.
    package static func shown(_ text: String) -> String {
        (try? StoreURL(text)) == nil ? String(text.prefix { $0 != ":" }) : text
    }

    /// The path of the SQLite file. Throws ``StoreError/unusable(_:)`` for another engine.
    package func file() throws -> String {
        switch self {
        case .sqlite(let path): return path
        case .memory: throw StoreError.unusable("memory: has no file")
        case .postgres: throw StoreError.unusable("postgres: has no file")
        case .redis: throw StoreError.unusable("redis: has no file")
        }
    }

    /// Opens a store for lasting state. `schema` and `erases` apply to a SQLite file (see ``SQLiteStore``). Refuses the
    /// target of a copy that is not finished (``StoreCopy``).
    package func lasting(_ schema: Schema = .items, erases: Bool = false) async throws -> any Store {
        let store: any Store
        switch self {
        case .sqlite(let path): store = try SQLiteStore(path: path, schema: schema, erases: erases)
        case .memory: store = MemoryStore()
        case .postgres(let url): store = try await PostgresStore(url, .lasting)
        case .redis: throw Self.notLasting
        }
        try await StoreCopy.requireWhole(store)
        return store
    }

    /// Opens a store for lasting state to copy it as a whole (``StoreCopy``). Throws ``StoreError/unusable(_:)`` if
    /// somebody else uses it.
    package func whole() async throws -> any WholeStore {
        switch self {
        case .sqlite(let path): return try SQLiteStore(path: path, isAlone: true)
        case .memory: throw StoreError.unusable("memory: is empty before its server starts, and after")
        case .postgres(let url): return try await PostgresStore(url, .lasting)
        case .redis: throw Self.notLasting
        }
    }

    private static let notLasting = StoreError.unusable(
        "redis: keeps only what is short-lived: what lasts goes to sqlite:PATH or postgres:")

    /// The kinds of state.
    package enum Kind: Sendable {
        case lasting
        /// State that must be gone after a restart, so that nothing that was used before the restart can be used again.
        case shortLived
        case signals
        case counters
    }

    /// Throws ``StoreError/unusable(_:)`` if this place cannot keep state of that kind.
    package func require(_ kind: Kind) throws {
        switch (self, kind) {
        case (.redis, .lasting): throw Self.notLasting
        case (.memory, _), (.postgres, _), (.redis, _), (_, .lasting): return
        case (_, .shortLived):
            throw StoreError.unusable("short-lived state goes to memory:, redis: or postgres:, not to a file")
        case (_, .signals): throw StoreError.unusable("a file rings no signals: give memory:, redis: or postgres:")
        case (_, .counters): throw StoreError.unusable("a file counts no requests: give memory:, redis: or postgres:")
        }
    }

    /// Opens a store for short-lived state. `names`: what its names begin with, because other services may use it, too.
    package func shortLived(names: ServiceNames = ServiceNames()) async throws -> any Store {
        try require(.shortLived)
        switch self {
        case .postgres(let url): return try await PostgresStore(url, .shortLived, names: names)
        case .redis(let url): return try await RedisStore(url, names: names)
        default: return MemoryStore()
        }
    }

    package func signals(names: ServiceNames = ServiceNames()) async throws -> any Signals {
        try require(.signals)
        switch self {
        case .redis(let url): return try await RedisSignals(url, names: names)
        case .postgres: return LocalSignals(looksAgainAfter: .seconds(1))
        default: return LocalSignals()
        }
    }

    package func counters(names: ServiceNames = ServiceNames()) throws -> any Counters {
        try require(.counters)
        switch self {
        case .postgres(let url): return SharedCounters(names) { try await PostgresBuckets(url, names: names) }
        case .redis(let url): return SharedCounters(names) { RedisBuckets(url, names: names) }
        default: return LocalCounters()
        }
    }
}
