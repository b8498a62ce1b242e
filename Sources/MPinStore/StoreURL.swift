/// The place of state as the operator writes it: `sqlite:PATH` or a path alone, or `memory:`.
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

    /// The path of a file. Throws ``StoreError/unusable(_:)`` where there is none.
    package func file() throws -> String {
        guard case .sqlite(let path) = self else { throw StoreError.unusable("memory: has no file") }
        return path
    }

    /// A new engine for state of that kind. Throws ``StoreError/unusable(_:)`` where the URL cannot keep it. `schema`, `erases`:
    /// as ``SQLiteStore`` knows them.
    package func lasting(_ schema: Schema = .items, erases: Bool = false) throws -> any Store {
        switch self {
        case .sqlite(let path): try SQLiteStore(path: path, schema: schema, erases: erases)
        case .memory: MemoryStore()
        }
    }

    /// What else is kept but lasting state.
    package enum Kind: Sendable {
        /// Must be gone after a restart: nothing that was used before it can then be used after it.
        case shortLived
        case signals
        case counters
    }

    /// Throws ``StoreError/unusable(_:)`` where state of that kind cannot be kept there.
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
