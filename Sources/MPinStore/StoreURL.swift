/// Where a server keeps state, as the operator writes it: `sqlite:PATH` or a path alone, or `memory:`.
package enum StoreURL: Sendable, Equatable {
    case sqlite(path: String)
    case memory

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
        case "postgres", "postgresql", "redis", "rediss":
            throw StoreError.unusable("\(text[..<colon]): this version keeps state in sqlite:PATH and memory: only")
        default: throw StoreError.unusable("\(text): not sqlite:PATH, memory: or a path")
        }
    }

    /// The path of the SQLite file. Throws ``StoreError/unusable(_:)`` for `memory:`.
    package func file() throws -> String {
        guard case .sqlite(let path) = self else { throw StoreError.unusable("memory: has no file") }
        return path
    }

    /// Opens a store for lasting state. `schema` and `erases` apply to a SQLite file (see ``SQLiteStore``).
    package func lasting(_ schema: Schema = .items, erases: Bool = false) throws -> any Store {
        switch self {
        case .sqlite(let path): try SQLiteStore(path: path, schema: schema, erases: erases)
        case .memory: MemoryStore()
        }
    }

    /// The kinds of state besides the lasting one.
    package enum Kind: Sendable {
        /// State that must be gone after a restart, so that nothing that was used before the restart can be used again.
        case shortLived
        case signals
        case counters
    }

    /// Throws ``StoreError/unusable(_:)`` if this place cannot keep state of that kind.
    package func require(_ kind: Kind) throws {
        guard self != .memory else { return }
        throw switch kind {
        case .shortLived: StoreError.unusable("short-lived state goes to memory: only, not to a file")
        case .signals: StoreError.unusable("a file rings no signals: give memory:")
        case .counters: StoreError.unusable("a file counts no requests: give memory:")
        }
    }

    package func shortLived() throws -> any Store {
        try require(.shortLived)
        return MemoryStore()
    }

    package func signals() throws -> any Signals {
        try require(.signals)
        return LocalSignals()
    }

    package func counters() throws -> any Counters {
        try require(.counters)
        return LocalCounters()
    }
}
