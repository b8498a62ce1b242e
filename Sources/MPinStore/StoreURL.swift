/// Where state lies, in the words of an operator: `sqlite:PATH` or a path alone, or `memory:`.
package enum StoreURL: Sendable, Equatable {
    case sqlite(path: String)
    case memory

    /// Throws ``StoreError/unusable(_:)`` for another scheme.
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

    /// For what must be gone after a restart: nothing that was used before it can then be used after it.
    package func shortLived() throws -> any Store {
        guard self == .memory else {
            throw StoreError.unusable("short-lived state goes to memory: only, not to a file")
        }
        return MemoryStore()
    }

    package func signals() throws -> any Signals {
        guard self == .memory else { throw StoreError.unusable("a file rings no signals: give memory:") }
        return LocalSignals()
    }

    package func counters() throws -> any Counters {
        guard self == .memory else { throw StoreError.unusable("a file counts no requests: give memory:") }
        return LocalCounters()
    }
}
