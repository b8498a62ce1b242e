import Glibc
import MPinService
import MPinStore

/// Which part of the server a SQLite file belongs to.
package enum DatabaseKind: String, Sendable {
    case dta
    case rps

    /// Checks the file at `path` and finds its kind. Throws for a damaged database, for one of a newer program, for one with
    /// triggers or other things that this program does not make, unless `allowsForeign`, and for any other file. Errors
    /// name the file `name`, if it is a copy of that one.
    package init(checking path: String, of name: String? = nil, allowsForeign: Bool = false) throws {
        guard access(path, F_OK) == 0 else { throw StartError("\(path): no such database") }
        do {
            let connection = try SQLiteConnection(path: path)
            guard try connection.texts("PRAGMA integrity_check") == ["ok"] else { throw StartError("damaged") }
            let done = try Schema.done(connection)
            guard !done.isEmpty else { throw StartError("not a database of this program") }
            let kind: DatabaseKind = done.contains(MasterShareSchema.firstStep) ? .dta : .rps
            if allowsForeign { _ = try kind.schema.missing(connection) } else { try kind.schema.requireOwn(connection) }
            self = kind
        } catch let error as StartError {
            throw StartError("\(name ?? path): \(error)")
        } catch StoreError.unusable(let reason) {
            throw StartError("\(name ?? path): \(reason)")
        } catch {
            throw StartError("\(name ?? path): not a whole database (\(error))")
        }
    }

    var schema: Schema { self == .dta ? MasterShareSchema.shares : .items }
}
