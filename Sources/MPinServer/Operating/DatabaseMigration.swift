import MPinService
import MPinStore

/// Brings the schema of a PostgreSQL database up to date, and returns the names of the steps that were missing. Throws
/// `StartError`.
package func migrateDatabase(_ database: String) async throws -> [String] {
    do {
        guard case .postgres(let url) = try StoreURL(database) else {
            throw StartError("\(database): not a postgres: URL; servers bring their files up to date themselves")
        }
        return try await PostgresStore.migrate(url)
    } catch let error as StoreError { throw StartError("\(StoreURL.shown(database)): \(error)") }
}
