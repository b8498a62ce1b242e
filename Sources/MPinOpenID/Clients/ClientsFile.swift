import MPinSecrets
package import MPinStore
import Yams

/// The clients in a YAML file of the operator. It is a list of mappings with `id`, the members in ``ClientMember``, and
/// for the secret `secret-file` or `secret-sha256`. It is read once, at the start.
package struct ClientsFile: Sendable {
    package struct Entry: Sendable {
        package let client: Client
        let line: Int
    }

    package let path: String
    /// The clients with their lines in the file, by client id.
    package private(set) var entries: [String: Entry] = [:]

    /// The value that stands for no file: it has no client.
    package static let none = ClientsFile(path: "")

    private init(path: String) { self.path = path }

    package init(reading path: String, at now: Moment) throws(ClientsFileError) {
        let text: String
        do { text = try PlainFile.text(path, limit: 4 << 20) } catch {
            throw ClientsFileError(path, 1, "cannot be read: \(error)")
        }
        try self.init(text, path: path, at: now)
    }

    /// Reads clients from `text`. `path` is named in errors.
    package init(_ text: String, path: String, at now: Moment) throws(ClientsFileError) {
        self.init(path: path)
        let root: Node?
        do { root = try Yams.compose(yaml: text) } catch {
            let (line, reason) = Self.reason(error)
            throw ClientsFileError(path, line, "not YAML: \(reason)")
        }
        guard let root else { return }
        guard case .sequence(let members) = root else {
            throw ClientsFileError(path, 1, "expected a list of clients, each beginning with `- id:`")
        }
        for member in members {
            let line = member.mark?.line ?? 1
            guard case .mapping(let mapping) = member else {
                throw ClientsFileError(path, line, "expected a client that begins with `- id:`")
            }
            let client = try ClientEntry(mapping, path: path, line: line).client(at: now)
            if let first = entries[client.id] {
                throw ClientsFileError(path, line, "the client \(client.id) is in line \(first.line) already")
            }
            entries[client.id] = Entry(client: client, line: line)
        }
    }

    package func place(of id: String) -> String? { entries[id].map { "\(path):\($0.line)" } }

    /// Returns the line in which the YAML parser failed, and why.
    private static func reason(_ error: any Error) -> (Int, String) {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            (mark.line, problem)
        case .duplicatedKeysInMapping(let names, let context):
            (context.mark.line, "\(names.joined(separator: ", ")) is there twice")
        default: (1, "it cannot be read")
        }
    }
}

/// What is wrong with a file of clients, and where: one line for the operator.
package struct ClientsFileError: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ path: String, _ line: Int, _ text: String) { description = "\(path):\(line): \(text)" }
}

/// Reads one mapping of the file as a client.
private struct ClientEntry {
    private let mapping: Node.Mapping
    private let path: String
    private let line: Int

    init(_ mapping: Node.Mapping, path: String, line: Int) {
        self.mapping = mapping
        self.path = path
        self.line = line
    }

    func client(at now: Moment) throws(ClientsFileError) -> Client {
        guard let id = mapping["id"]?.scalar?.string else { throw ClientsFileError(path, line, "expected `id:`") }
        var client = Client(id: id, name: id, created: now)
        // A fault that concerns several members is reported with the first line of the client.
        do { try change().apply(to: &client) } catch let fault as ClientFault {
            throw ClientsFileError(path, faultyLine(fault), "\(id): \(fault)")
        } catch let error as ClientsFileError { throw error } catch {
            throw ClientsFileError(path, line, "\(id): \(error)")
        }
        client.secrets = try secrets(at: now)
        guard client.isPublic == client.secrets.isEmpty else {
            let text = client.isPublic ? "a public client has no secret" : "needs secret-file or secret-sha256"
            throw ClientsFileError(path, line, "\(id): \(text)")
        }
        return client
    }

    private static let others = ["id", "secret-file", "secret-sha256"]

    private func change() throws(ClientsFileError) -> ClientChange {
        var change = ClientChange()
        for (key, value) in mapping {
            let name = key.scalar?.string ?? ""
            guard !Self.others.contains(name) else { continue }
            guard let member = ClientMember.named(name) else {
                throw ClientsFileError(path, key.mark?.line ?? line, "unknown member \(name)")
            }
            guard let texts = value.texts(isList: member.kind == .list) else {
                let expected = member.kind == .list ? "a list of texts" : "one value"
                throw ClientsFileError(path, key.mark?.line ?? line, "\(name): expected \(expected)")
            }
            change.set(member, texts)
        }
        return change
    }

    /// Returns the line of the member that a fault names. If the mapping lacks that member, it is the first line of the
    /// client.
    private func faultyLine(_ fault: ClientFault) -> Int {
        let name = String(fault.description.prefix { $0 != ":" && $0 != " " })
        return mapping.first { $0.key.scalar?.string == name }?.key.mark?.line ?? line
    }

    /// Returns the secrets of `secret-file`, then those of `secret-sha256`. Throws if there are more than two.
    private func secrets(at now: Moment) throws(ClientsFileError) -> [ClientSecret] {
        var secrets: [ClientSecret] = []
        for file in try texts("secret-file") {
            do { secrets.append(ClientSecret(of: try ClientSecret.load(file), created: now)) } catch {
                throw ClientsFileError(path, lineOf("secret-file"), "secret-file: \(error)")
            }
        }
        for hash in try texts("secret-sha256") {
            guard let hash = Hex.decode(hash), hash.count == SHA256.size else {
                throw ClientsFileError(path, lineOf("secret-sha256"), "secret-sha256: expected 64 hex digits")
            }
            // Others may read the file.
            secrets.append(ClientSecret(hash: .comparedOnly(hash), created: now))
        }
        guard secrets.count <= 2 else { throw ClientsFileError(path, line, "more than two secrets") }
        return secrets
    }

    private func texts(_ name: String) throws(ClientsFileError) -> [String] {
        guard let value = mapping[name] else { return [] }
        guard let texts = value.texts(isList: true) ?? value.texts(isList: false) else {
            throw ClientsFileError(path, lineOf(name), "\(name): expected a text, or a list of two")
        }
        return texts
    }

    private func lineOf(_ name: String) -> Int {
        mapping.first { $0.key.scalar?.string == name }?.key.mark?.line ?? line
    }
}

extension Node {
    /// Returns the texts of a YAML list, or, if `isList` is false, the one text of a scalar. Nil if the node is of
    /// another kind.
    fileprivate func texts(isList: Bool) -> [String]? {
        guard isList else { return scalar.map { [$0.string] } }
        guard case .sequence(let members) = self else { return nil }
        let texts = members.compactMap { $0.scalar?.string }
        return texts.count == members.count ? texts : nil
    }
}
