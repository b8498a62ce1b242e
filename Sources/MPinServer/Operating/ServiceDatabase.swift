import Glibc
import MPinService
package import MPinStore

/// The database of an RPS, and the key file of its server, from which the key of its records' MACs is derived.
package struct ServiceDatabase: Sendable {
    package let url: String
    /// The path of the server's own key file; nil if nobody has named it and it is not beside the database.
    let keyFile: String?

    /// `keyFile`: nil for the one that stands beside a SQLite file, as in a state folder.
    package init(_ url: String, keyFile: String? = nil) {
        self.url = url
        self.keyFile = keyFile ?? Self.besides(url)
    }

    private static func besides(_ url: String) -> String? {
        guard let path = try? StoreURL(url).file() else { return nil }
        let key = (path.hasSuffix(".sqlite") ? String(path.dropLast(".sqlite".utf8.count)) : path) + ".key"
        return access(key, F_OK) == 0 ? key : nil
    }

    /// The same database with another key file.
    package func keyed(by file: String) -> ServiceDatabase { ServiceDatabase(url, keyFile: file) }

    /// Opens the database for an operator's command, also while a server uses it: a SQLite file that exists, or what a
    /// ``PostgresURL`` names. Throws `StartError`.
    package func open() async throws -> any Store {
        let store = try await unbound()
        return try await bound(store)
    }

    /// The database with values as they are stored, MACs included.
    func unbound() async throws -> any Store {
        do {
            let place = try StoreURL(url)
            if case .postgres = place { return try await place.lasting() }
            try requireService(try place.file())
            return try await place.lasting()
        } catch let error as StoreError { throw StartError("\(StoreURL.shown(url)): \(error)") }
    }

    /// Adds the MACs to an open database. With `isOlder`, its records may have none, although the server's had.
    func bound(_ store: any Store, isOlder: Bool = false) async throws -> any Store {
        guard let keyFile, access(keyFile, F_OK) == 0 || errno != ENOENT else {
            guard try await ServiceBinding.state(of: store, at: .now()) == .none else {
                throw StartError(
                    "\(StoreURL.shown(url)): its records have MACs: give --service-key-file, --config or --state-dir")
            }
            return store
        }
        let mark = isOlder ? nil : SealedMark(keyFile: keyFile)
        do {
            return try await ServiceBinding(of: store, key: loadKey(keyFile), mark: mark).bound(store)
        } catch let error as StartError { throw StartError("\(StoreURL.shown(url)): \(error)") }
    }

    /// Throws `StartError` if the SQLite file at `path` is not the database of an RPS.
    func requireService(_ path: String) throws {
        guard try DatabaseKind(checking: path) == .rps else { throw StartError("\(path): not of an RPS") }
    }
}
