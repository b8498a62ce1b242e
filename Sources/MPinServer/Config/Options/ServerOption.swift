/// Which texts an option accepts, and how the help and errors describe them.
package struct OptionKind: Sendable {
    /// The placeholder in the help, such as `HOST:PORT`.
    package let placeholder: String
    /// The description in an error: "a number from 1 to 10".
    let expected: String
    let accepts: @Sendable (String) -> Bool
    /// Whether the option's name alone means `true` on the command line. In files and in the environment it needs the
    /// text `true` or `false`.
    package var isFlag = false
    /// Whether the option may be given more than once.
    package var isList = false
    /// Explains why a text is not accepted, better than ``expected``; nil if there is no better explanation.
    var problem: (@Sendable (String) -> String?)?
    /// Whether an element of the list is written as a mapping in a file, and as `NAME=VALUE;NAME=VALUE` on the command
    /// line and in the environment.
    var hasMembers = false

    static func text(_ placeholder: String) -> OptionKind {
        OptionKind(placeholder: placeholder, expected: "a text", accepts: { !$0.isEmpty })
    }

    static func integer(_ range: ClosedRange<Int>) -> OptionKind {
        OptionKind(
            placeholder: "NUMBER", expected: "a number from \(range.lowerBound) to \(range.upperBound)",
            accepts: { Int($0).map(range.contains) ?? false })
    }

    static let flag = OptionKind(
        placeholder: "", expected: "true or false", accepts: { $0 == "true" || $0 == "false" }, isFlag: true)

    static func list(_ placeholder: String) -> OptionKind {
        OptionKind(placeholder: placeholder, expected: "a list of texts", accepts: { !$0.isEmpty }, isList: true)
    }

    static let serviceClient = OptionKind(
        placeholder: "NAME/VERSION", expected: "a name and a version: MyApp/2.1",
        accepts: { ProductVersion($0) != nil }, isList: true)

    static func choice(_ words: [String]) -> OptionKind {
        OptionKind(
            placeholder: words.joined(separator: "|"), expected: words.joined(separator: ", "),
            accepts: { words.contains($0) })
    }

    /// A kind that accepts the texts for which the closure returns true.
    static func form(
        _ placeholder: String, _ expected: String, _ accepts: @escaping @Sendable (String) -> Bool
    ) -> OptionKind { OptionKind(placeholder: placeholder, expected: expected, accepts: accepts) }
}

/// One row of the option table, for the readers of files, environment and command line.
package struct OptionRow: Sendable {
    /// The name in the file. On the command line it follows two hyphens.
    package let name: String
    package let kind: OptionKind
    /// The default value; nil if there is none.
    package let fallback: String?
    package let help: String
    /// Whether the value is secret. Such a value is never shown, and must not be on the command line or in the
    /// environment, where others can read it. It may be in the configuration file, in a file of its own, which the
    /// option with the suffix `-file` names, or in the systemd credential of the same name.
    package var isSecret = false

    /// The environment variable: `MPIND_` and the name in capitals.
    package var environmentName: String { "MPIND_" + name.uppercased().replacing("-", with: "_") }
}

/// An option and the type of its value.
package struct ServerOption<Value: Sendable>: Sendable {
    package let row: OptionRow
    /// Converts texts that the row's kind has accepted. Returns the default if there are no texts.
    let read: @Sendable ([String]) -> Value
}

extension ServerOption where Value == String {
    static func text(_ name: String, _ fallback: String, _ kind: OptionKind, _ help: String) -> ServerOption {
        ServerOption(row: OptionRow(name: name, kind: kind, fallback: fallback, help: help)) { $0.last ?? fallback }
    }
}

extension ServerOption where Value == String? {
    static func text(_ name: String, _ kind: OptionKind, _ help: String, isSecret: Bool = false) -> ServerOption {
        ServerOption(row: OptionRow(name: name, kind: kind, fallback: nil, help: help, isSecret: isSecret)) { $0.last }
    }
}

extension ServerOption where Value == Int {
    static func integer(_ name: String, _ fallback: Int, _ range: ClosedRange<Int>, _ help: String) -> ServerOption {
        ServerOption(row: OptionRow(name: name, kind: .integer(range), fallback: String(fallback), help: help)) {
            $0.last.flatMap { Int($0) } ?? fallback
        }
    }
}

extension ServerOption where Value == Bool {
    static func flag(_ name: String, _ help: String, isOn: Bool = false) -> ServerOption {
        ServerOption(row: OptionRow(name: name, kind: .flag, fallback: String(isOn), help: help)) {
            $0.last.map { $0 == "true" } ?? isOn
        }
    }
}

extension ServerOption where Value == Bool? {
    /// A flag without a default: nil if it is not set.
    static func flag(_ name: String, _ help: String) -> ServerOption {
        ServerOption(row: OptionRow(name: name, kind: .flag, fallback: nil, help: help)) {
            $0.last.map { $0 == "true" }
        }
    }
}

extension ServerOption where Value == [String] {
    static func list(_ name: String, _ placeholder: String, _ help: String) -> ServerOption {
        ServerOption(row: OptionRow(name: name, kind: .list(placeholder), fallback: nil, help: help)) { $0 }
    }
}
