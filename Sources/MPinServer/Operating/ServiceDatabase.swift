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
