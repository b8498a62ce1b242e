import Glibc
import MPinService
import MPinStore

/// Copies the database of a stopped RPS into another engine (``StoreCopy``) and returns the number of items. Both places
/// are SQLite files or ``PostgresURL``s. Throws `StartError`.
package func copyServiceDatabase(from: String, to: String) async throws -> Int {
    let (source, target) = (try place(from), try place(to))
    guard source != target else { throw StartError("\(from): source and target are the same") }
    if case .sqlite(let path) = source { try requireService(path) }
    if case .sqlite(let path) = target, access(path, F_OK) == 0 { try requireService(path) }
    let (reading, writing) = (try await opened(source, from), try await opened(target, to))
    do { return try await StoreCopy(from: reading, to: writing, at: .now()).run() } catch let error as StoreError {
        throw StartError("\(from) to \(to): \(error)")
    }
}

private func place(_ text: String) throws -> StoreURL {
    do { return try StoreURL(text) } catch let error as StoreError {
        throw StartError("\(StoreURL.shown(text)): \(error)")
    }
}

private func opened(_ url: StoreURL, _ text: String) async throws -> any WholeStore {
    do { return try await url.whole() } catch let error as StoreError { throw StartError("\(text): \(error)") }
}

private func requireService(_ path: String) throws {
    guard try DatabaseKind(checking: path) == .rps else { throw StartError("\(path): not of an RPS") }
}
