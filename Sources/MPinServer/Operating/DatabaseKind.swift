import Glibc
import MPinService
import MPinStore

/// Which part of the server a SQLite file belongs to.
package enum DatabaseKind: String, Sendable {
    case dta
    case rps

    /// Checks the file at `path` and finds its kind. Throws for a damaged database, for one of a newer program, and for
    /// any other file.
    package init(checking path: String) throws {
        guard access(path, F_OK) == 0 else { throw StartError("\(path): no such database") }
        do {
            let connection = try SQLiteConnection(path: path)
            guard try connection.texts("PRAGMA integrity_check") == ["ok"] else { throw StartError("damaged") }
            let done = try Schema.done(connection)
            guard !done.isEmpty else { throw StartError("not a database of this program") }
            let kind: DatabaseKind = done.contains(MasterShareSchema.firstStep) ? .dta : .rps
            _ = try (kind == .dta ? MasterShareSchema.shares : Schema.items).missing(connection)
            self = kind
        } catch let error as StartError {
            throw StartError("\(path): \(error)")
        } catch StoreError.unusable(let reason) {
            throw StartError("\(path): \(reason)")
        } catch {
            throw StartError("\(path): not a whole database (\(error))")
        }
    }
}
