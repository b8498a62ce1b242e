/// Where a value was set. A later case overrides an earlier one.
package enum SettingSource: Sendable, Equatable, CustomStringConvertible {
    case fallback
    case file(String, line: Int)
    case credential(String)
    case environment(String)
    case commandLine

    package var description: String {
        switch self {
        case .fallback: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .credential(let name): "credential \(name)"
        case .environment(let name): "environment \(name)"
        case .commandLine: "command line"
        }
    }
}

/// Why the settings cannot be used, in one line for the operator.
package struct SettingsError: Error, Equatable, CustomStringConvertible {
    package let description: String
    /// The exit code of sysexits.h: 64 for a wrong command line, 78 for a wrong file or environment.
    package let exitCode: Int32

    init(_ source: SettingSource, _ text: String) {
        description = source == .commandLine ? text : "\(source): \(text)"
        exitCode = source == .commandLine ? 64 : 78
    }

    /// An error that is not about the value of one option: an option is missing, or two options contradict each other.
    /// It counts as an error of the command line.
    init(_ text: String) { self.init(.commandLine, text) }
}

/// The texts of all options that are set in one source, such as the environment.
struct SettingsLayer {
    var texts: [String: (texts: [String], source: SettingSource)] = [:]

    /// Checks a text and adds it. An option that is a list may get several texts. Any other option may be set only once
    /// in one source: directly, or by a file that contains its value.
    mutating func add(_ row: OptionRow, _ text: String, _ source: SettingSource) throws(SettingsError) {
        guard row.kind.accepts(text) else {
            if let problem = row.kind.problem?(text) { throw SettingsError(source, "\(row.name): \(problem)") }
            let shown = row.isSecret ? "the value" : "\"\(text)\""
            throw SettingsError(source, "\(row.name): \(shown) is not \(row.kind.expected)")
        }
        let before = texts[row.name]?.texts ?? []
        guard before.isEmpty || row.kind.isList else { throw SettingsError(source, "\(row.name): given twice") }
        texts[row.name] = (before + [text], source)
    }
}

/// Every option of a part with its value and its source.
package struct Settings: Sendable {
    package let part: ServerPart
    private var values: [String: (texts: [String], source: SettingSource)] = [:]

    /// Merges the layers. A value of a later layer replaces that of an earlier one.
    init(_ part: ServerPart, _ layers: [SettingsLayer]) {
        self.part = part
        for layer in layers { values.merge(layer.texts) { _, new in new } }
    }

    package subscript<Value>(option: ServerOption<Value>) -> Value { option.read(values[option.row.name]?.texts ?? []) }

    /// The value of an option. Throws an error that names the option if it is not set.
    package func require<Value>(_ option: ServerOption<Value?>) throws(SettingsError) -> Value {
        guard let value = self[option] else { throw SettingsError("missing --\(option.row.name)") }
        return value
    }

    package func isSet<Value>(_ option: ServerOption<Value>) -> Bool { isSet(option.row) }

    func isSet(_ row: OptionRow) -> Bool { values[row.name] != nil }

    /// The settings in the form of a configuration file, with the source of each value. Secrets are not shown.
    package var description: String {
        part.rows.filter { $0.name != ServerOptions.config.row.name }.map { row in
            let value = values[row.name]
            let texts = value?.texts ?? row.fallback.map { [$0] } ?? []
            guard !texts.isEmpty else { return "# \(row.name): not set" }
            let shown = row.isSecret ? ["(redacted)"] : texts.map { row.kind.isPlain ? $0 : quoted($0) }
            let text = row.kind.isList ? "[" + shown.joined(separator: ", ") + "]" : shown.joined()
            return "\(row.name): \(text)  # \(value?.source ?? .fallback)"
        }.map { $0 + "\n" }.joined()
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension OptionKind {
    /// Whether values of this kind are written without quotes in a configuration file.
    fileprivate var isPlain: Bool { isFlag || placeholder == "NUMBER" }
}
