import Glibc
import MPinService
import MPinStore

/// Opens the database of an RPS for an operator's command, also while a server uses it: a SQLite file that exists, or
/// what a ``PostgresURL`` names.
func openServiceDatabase(_ database: String) async throws -> any Store {
    do {
        let url = try StoreURL(database)
        if case .postgres = url { return try await url.lasting() }
        let path = try url.file()
        guard try DatabaseKind(checking: path) == .rps else { throw StartError("\(database): not of an RPS") }
        return try await url.lasting()
    } catch let error as StoreError { throw StartError("\(StoreURL.shown(database)): \(error)") }
}

/// The path of the key file of an RPS that stands beside its SQLite file, as in a state folder. Nil if there is none.
func serviceKeyFile(beside database: String) -> String? {
    guard let path = try? StoreURL(database).file() else { return nil }
    let key = (path.hasSuffix(".sqlite") ? String(path.dropLast(7)) : path) + ".key"
    return access(key, F_OK) == 0 ? key : nil
}
