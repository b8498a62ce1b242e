import GRDB
import Glibc
import MPinService
import MPinStore

/// Which part of the server a SQLite file belongs to.
package enum DatabaseKind: String, Sendable {
    case dta
    case rps

    /// What a whole file of this program holds; throws for a damaged one, one of a newer program, and for anything else.
    package init(checking path: String) throws {
        guard access(path, F_OK) == 0 else { throw StartError("\(path): no such database") }
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(5)
            let database = try DatabaseQueue(path: path, configuration: configuration)
            self = try database.read { db in
                guard try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok" else {
                    throw StartError("damaged")
                }
                let tables = Set(try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'"))
                guard tables.contains("grdb_migrations") else { throw StartError("not a database of this program") }
                let kind: DatabaseKind = tables.contains("master_share") ? .dta : .rps
                let migrator = kind == .dta ? MasterShareSchema.migrator : Migrations.rps
                guard try !migrator.appliedIdentifiers(db).isEmpty else {
                    throw StartError("not a database of this program")
                }
                guard try !migrator.hasBeenSuperseded(db) else {
                    throw StartError("made by a newer version of this program")
                }
                return kind
            }
        } catch let error as StartError {
            throw StartError("\(path): \(error)")
        } catch {
            throw StartError("\(path): not a whole database (\(error))")
        }
    }
}
