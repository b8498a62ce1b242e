import Foundation
import MPinSecrets
import Yams

/// Reads the settings of a part from all sources: defaults, file, credentials, environment and command line. A later
/// source overrides an earlier one. A secret may be in a file of its own, which `NAME-file` or `MPIND_NAME_FILE` names.
package struct SettingsReader: Sendable {
    let part: ServerPart
    private let rows: [OptionRow]

    package init(_ part: ServerPart) {
        self.part = part
        rows = part.rows
    }

    /// A reader for an operator's command, which accepts the configuration of any part.
    package static let anyPart = SettingsReader(
        .serve,
        rows: ServerPart.allCases.flatMap(\.rows).reduce(into: []) { rows, row in
            if !rows.contains(where: { $0.name == row.name }) { rows.append(row) }
        })

    private init(_ part: ServerPart, rows: [OptionRow]) {
        self.part = part
        self.rows = rows
    }

    package func read(
        arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(SettingsError) -> Settings {
        let commandLine = try self.commandLine(arguments)
        let variables = try self.environment(environment)
        let configFile = ServerOptions.config.row.name
        let path = commandLine.texts[configFile] ?? variables.texts[configFile]
        let file = try path.flatMap(\.texts.last).map { path throws(SettingsError) in try self.file(path) }
        return Settings(part, [file ?? SettingsLayer(), try credentials(environment), variables, commandLine])
    }

    /// The row of the option `name`. For `NAME-file`, where NAME is a secret option, it is the row of NAME, and
    /// `isFile` is true.
    private func row(_ name: String) -> (row: OptionRow, isFile: Bool)? {
        if let row = rows.first(where: { $0.name == name }) { return (row, false) }
        guard name.hasSuffix("-file") else { return nil }
        return rows.first { $0.isSecret && $0.name == name.dropLast(5) }.map { ($0, true) }
    }

    private func add(
        _ name: String, _ text: String, to layer: inout SettingsLayer, _ source: SettingSource
    ) throws(SettingsError) {
        guard let found = row(name) else { throw unknown(name, source) }
        if found.row.isSecret, !found.isFile { try requireHidden(name, source) }
        try layer.add(found.row, found.isFile ? secret(text, name, source) : text, source)
    }

    private func unknown(_ name: String, _ source: SettingSource) -> SettingsError {
        let nearest = nearestName(to: name, among: rows.map(\.name)) ?? ""
        return SettingsError(source, "unknown option \(name); did you mean \(nearest)?")
    }

}

/// Restricts where secrets may come from.
extension SettingsReader {
    /// Throws if other users, or other programs of this user, could read the value of a secret.
    private func requireHidden(_ name: String, _ source: SettingSource) throws(SettingsError) {
        let (inFile, advice) = ("name a file that holds it", "which only its owner may read")
        switch source {
        case .commandLine:
            throw SettingsError(
                source, "\(name): others can read the command line: \(inFile) by --\(name)-file, \(advice)")
        case .environment(let variable):
            throw SettingsError(
                source, "\(name): a secret does not belong there: \(inFile) by \(variable)_FILE, \(advice)")
        case .file(let path, _):
            guard try !isPrivate(path, name, source) else { return }
            throw SettingsError(
                source, "\(name): others may read this file: chmod 600 \(path), or \(inFile) by \(name)-file")
        case .credential, .fallback: return
        }
    }

    /// Whether only the owner of the file can read it, or root's group.
    private func isPrivate(_ path: String, _ name: String, _ source: SettingSource) throws(SettingsError) -> Bool {
        let status: stat
        do {
            let file: Int32
            (file, status) = try PlainFile.open(path)
            close(file)
        } catch { throw SettingsError(source, "\(name): \(error)") }
        return PlainFile.isPrivate(status)
    }

    /// The text of the file at `path`, without the final line break, which editors add.
    private func secret(_ path: String, _ name: String, _ source: SettingSource) throws(SettingsError) -> String {
        let text: String
        do { text = try PlainFile.text(path, limit: 4096) } catch {
            throw SettingsError(source, "\(name): cannot read \(error)")
        }
        guard try isPrivate(path, name, source) else {
            throw SettingsError(source, "\(name): others may read \(path): chmod 600 \(path)")
        }
        return text.trimmingCharacters(in: .newlines)
    }

    /// Reads the secrets that systemd hands over by `LoadCredential=`, as files in a folder that only this program can
    /// read.
    private func credentials(_ environment: [String: String]) throws(SettingsError) -> SettingsLayer {
        var layer = SettingsLayer()
        guard let folder = environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else { return layer }
        for row in rows where row.isSecret {
            let path = "\(folder)/\(row.name)"
            guard access(path, F_OK) == 0 else { continue }
            let source = SettingSource.credential(row.name)
            do {
                try layer.add(
                    row, PlainFile.text(path, limit: 4096).trimmingCharacters(in: .newlines), source)
            } catch let error as SettingsError { throw error } catch {
                throw SettingsError(source, "cannot be read: \(error)")
            }
        }
        return layer
    }
}

extension SettingsReader {
    private func commandLine(_ arguments: [String]) throws(SettingsError) -> SettingsLayer {
        var layer = SettingsLayer()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                throw SettingsError(.commandLine, "unexpected argument \(argument)")
            }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.map(String.init) ?? ""
            let isFlag = row(name).map { $0.row.kind.isFlag } ?? false
            let text = parts.count == 2 ? String(parts[1]) : isFlag ? "true" : nil
            guard row(name) != nil else { throw unknown(name, .commandLine) }
            guard let value = text ?? rest.popFirst() else {
                throw SettingsError(.commandLine, "missing value for --\(name)")
            }
            try add(name, value, to: &layer, .commandLine)
        }
        return layer
    }

    /// Reads the variables `MPIND_…`. Variables for other parts of the server are skipped. Elements of a list are
    /// separated by commas.
    private func environment(_ variables: [String: String]) throws(SettingsError) -> SettingsLayer {
        var layer = SettingsLayer()
        for (variable, text) in variables.sorted(by: { $0.key < $1.key }) where variable.hasPrefix("MPIND_") {
            let name = variable.dropFirst(6).lowercased().replacing("_", with: "-")
            if row(name) == nil, ServerPart.allCases.contains(where: { SettingsReader($0).row(name) != nil }) {
                continue
            }
            let isList = row(name).map { $0.row.kind.isList } ?? false
            for member in isList ? text.split(separator: ",").map(String.init) : [text] {
                try add(name, member, to: &layer, .environment(variable))
            }
        }
        return layer
    }

    private func file(_ path: String) throws(SettingsError) -> SettingsLayer {
        let text: String
        do { text = try PlainFile.text(path) } catch {
            throw SettingsError(.file(path, line: 1), "cannot be read: \(error)")
        }
        let root: Node?
        do { root = try Yams.compose(yaml: text) } catch {
            let reason = "\(error)".split(separator: "\n").first ?? ""
            throw SettingsError(.file(path, line: 1), "not YAML: \(reason)")
        }
        guard let root else { return SettingsLayer() }
        guard case .mapping(let members) = root else {
            throw SettingsError(.file(path, line: 1), "expected one `option: value` a line")
        }
        var layer = SettingsLayer()
        for (key, value) in members {
            let source = SettingSource.file(path, line: key.mark?.line ?? 0)
            guard let name = key.scalar?.string, let found = row(name) else {
                throw unknown(key.scalar?.string ?? "", source)
            }
            let texts = found.isFile ? value.scalar.map { [($0.string, nil)] } : value.texts(found.row.kind)
            guard let texts, found.row.name != ServerOptions.config.row.name else {
                throw SettingsError(source, "\(name): expected \(found.row.kind.expected)")
            }
            for (text, line) in texts {
                try add(name, text, to: &layer, line.map { SettingSource.file(path, line: $0) } ?? source)
            }
        }
        return layer
    }
}

extension Node {
    private func hasType(_ name: Tag.Name) -> Bool { tag.description == name.rawValue }

    /// The texts of a value in the file. An element of a list that is a mapping comes with its line number. Nil if the
    /// YAML type of the value is not that of the option.
    fileprivate func texts(_ kind: OptionKind) -> [(String, line: Int?)]? {
        if kind.isList {
            guard case .sequence(let members) = self else { return nil }
            let texts = members.compactMap { member -> (String, line: Int?)? in
                if let text = member.scalar?.string { return (text, nil) }
                guard kind.hasMembers, let text = member.members else { return nil }
                return (text, member.mark?.line)
            }
            return texts.count == members.count ? texts : nil
        }
        guard case .scalar(let scalar) = self, !hasType(.null) else { return nil }
        let isBool = hasType(.bool)
        return kind.isFlag == isBool ? [(isBool ? scalar.string.lowercased() : scalar.string, nil)] : nil
    }

    /// The mapping as `NAME=VALUE;NAME=VALUE`; nil if this is not a mapping of texts, or a text contains a semicolon.
    private var members: String? {
        guard case .mapping(let members) = self else { return nil }
        let texts = members.compactMap { key, value -> String? in
            guard let name = key.scalar?.string, let text = value.scalar?.string, !text.contains(";") else {
                return nil
            }
            return "\(name)=\(text)"
        }
        return texts.count == members.count ? texts.joined(separator: ";") : nil
    }
}

/// The name in `names` with the smallest edit distance to `text`; nil if there are no names.
func nearestName(to text: String, among names: [String]) -> String? {
    names.map { (name: $0, distance: distance(Array(text.utf8), Array($0.utf8))) }
        .min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
}

/// The Levenshtein distance: the number of letters to insert, delete or change.
private func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (index, byte) in left.enumerated() {
        var next = [index + 1]
        for (column, other) in right.enumerated() {
            let changed = row[column] + (byte == other ? 0 : 1)
            next.append(min(changed, row[column + 1] + 1, (next.last ?? 0) + 1))
        }
        row = next
    }
    return row.last ?? 0
}
