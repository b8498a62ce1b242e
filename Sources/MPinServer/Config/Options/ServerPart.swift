/// The part that a process runs. Each part has its own options.
package enum ServerPart: String, Sendable, CaseIterable {
    /// Runs all parts in one process.
    case serve
    case dta
    case rps
    case rpa

    package var rows: [OptionRow] {
        let own =
            switch self {
            case .serve: ServerOptions.allInOne + ServerOptions.login + ServerOptions.mail + ServerOptions.website
            case .dta: ServerOptions.authority
            case .rps: ServerOptions.service + ServerOptions.login + ServerOptions.provider
            case .rpa: ServerOptions.application + ServerOptions.mail + ServerOptions.website
            }
        return own + ServerOptions.audit + ServerOptions.edge
    }

    /// The options with their defaults, for `--help`.
    package var help: String {
        rows.map { row in
            let value = row.isSecret ? "-file FILE" : row.kind.isFlag ? "" : " " + row.kind.placeholder
            let head = "--\(row.name)\(value)"
            let fallback = row.kind.isFlag ? nil : row.fallback.map { " (default: \($0))" }
            let more = row.kind.isList ? " May be repeated." : ""
            return "  \(head)\n        \(row.help)\(more)\(fallback ?? "")"
        }.joined(separator: "\n")
    }
}
