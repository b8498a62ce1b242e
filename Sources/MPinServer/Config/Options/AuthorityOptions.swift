import MPinSecrets
import MPinService

/// The option that lists the D-TAs of an RPS.
extension ServerOptions {
    static let authorities = ServerOption<[String]>(
        row: OptionRow(
            name: "authorities", kind: .authority, fallback: nil,
            help: """
                A D-TA, in the place of the options --dta1-… and --dta2-…: url and key-file, and, for one that clients \
                ask, public-url; index (its place in the list) says which share it keeps. In the file a list of \
                mappings. There are two.
                """)
    ) { $0 }
}

/// One D-TA of the option ``ServerOptions/authorities``, written as `url=http://127.0.0.1:8001;key-file=dta1.key`.
struct AuthorityEntry: Sendable {
    static let members = ["index", "url", "public-url", "key-file"]
    /// The number of D-TAs that the list must have. The Milagro protocol supports exactly two.
    static let count = 2

    let index: Int?
    let url: String
    let publicURL: String?
    let keyFile: String

    /// Why a text does not describe a D-TA, for the operator.
    struct Problem: Error {
        let text: String
    }

    init(_ text: String) throws(Problem) {
        var values: [String: String] = [:]
        for member in text.split(separator: ";", omittingEmptySubsequences: false) {
            let parts = member.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Problem(text: "expected MEMBER=VALUE;MEMBER=VALUE") }
            guard Self.members.contains(parts[0]) else {
                let nearest = nearestName(to: parts[0], among: Self.members) ?? ""
                throw Problem(text: "unknown member \(parts[0]); did you mean \(nearest)?")
            }
            guard values.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw Problem(text: "\(parts[0]): given twice")
            }
        }
        index = try Self.index(values["index"])
        guard let url = values["url"] else { throw Problem(text: "missing url") }
        for (name, text) in [("url", url), ("public-url", values["public-url"] ?? url)] {
            guard OptionKind.baseURL.accepts(text) else {
                throw Problem(text: "\(name): \"\(text)\" is not \(OptionKind.baseURL.expected)")
            }
        }
        guard let keyFile = values["key-file"] else { throw Problem(text: "missing key-file") }
        self.url = url
        publicURL = values["public-url"]
        self.keyFile = keyFile
    }

    /// Why the text does not describe a D-TA; nil if it does.
    static func problem(_ text: String) -> Problem? {
        do throws(Problem) {
            _ = try AuthorityEntry(text)
            return nil
        } catch { return error }
    }

    private static func index(_ text: String?) throws(Problem) -> Int? {
        guard let text else { return nil }
        guard let index = Int(text), (1...count).contains(index) else {
            throw Problem(text: "index: \"\(text)\" is not a number from 1 to \(count)")
        }
        return index
    }
}

extension OptionKind {
    fileprivate static let authority = OptionKind(
        placeholder: "url=URL;key-file=FILE", expected: "a list of mappings with url and key-file",
        accepts: { (try? AuthorityEntry($0)) != nil }, isList: true,
        problem: { AuthorityEntry.problem($0)?.text }, hasMembers: true)
}

extension Settings {
    /// The options that describe the D-TAs one by one, instead of the list ``ServerOptions/authorities``.
    private static let singles: [OptionRow] = [
        ServerOptions.dta1KeyFile.row, ServerOptions.dta2KeyFile.row, ServerOptions.dta2PublicURL.row,
        ServerOptions.dta1URL.row, ServerOptions.dta2URL.row,
    ]

    /// The list of D-TAs, ordered by index; nil if they are configured one by one.
    func authorityList() throws(SettingsError) -> [(index: Int, entry: AuthorityEntry)]? {
        let entries = self[ServerOptions.authorities].compactMap { try? AuthorityEntry($0) }
        guard !entries.isEmpty else { return nil }
        if let single = Self.singles.first(where: { isSet($0) }) {
            throw SettingsError("give either --authorities or --\(single.name)")
        }
        var indexed: [(index: Int, entry: AuthorityEntry)] = []
        for (place, entry) in zip(1..., entries) { indexed.append((entry.index ?? place, entry)) }
        guard indexed.map({ $0.index }).sorted() == Array(1...AuthorityEntry.count) else {
            throw SettingsError(
                "--authorities: there must be \(AuthorityEntry.count) D-TAs, each with an index of its own")
        }
        return indexed.sorted { $0.index < $1.index }
    }

    /// Throws if the D-TAs are configured one by one and a required option is missing.
    func checkAuthorities() throws(SettingsError) {
        guard try authorityList() == nil else { return }
        for option in [ServerOptions.dta1KeyFile, ServerOptions.dta2KeyFile] { _ = try require(option) }
    }

    /// The name of the option that must still be set, because clients would be sent to an address of this machine to
    /// reach the last D-TA. Nil if no option is missing.
    func missingAuthorityURL() throws(SettingsError) -> String? {
        if let last = try authorityList()?.last?.entry {
            return (last.publicURL ?? last.url).isLoopbackURL ? "public-url in the last of --authorities" : nil
        }
        let isMissing = self[ServerOptions.dta2PublicURL] == nil && self[ServerOptions.dta2URL].isLoopbackURL
        return isMissing ? "--dta2-public-url" : nil
    }

    /// The D-TAs in the order of their indices. Reads their key files.
    package func authorityLinks() throws -> [TrustAuthorityLink] {
        guard let list = try authorityList() else { return try authorityPair() }
        return try list.map { index, entry in
            TrustAuthorityLink(
                name: "D-TA \(index)", index: index, url: entry.url.withoutSlashAtEnd,
                publicURL: index == 1 ? nil : entry.publicURL ?? entry.url, requestKey: try loadKey(entry.keyFile))
        }
    }

    private func authorityPair() throws -> [TrustAuthorityLink] {
        let dta2URL = self[ServerOptions.dta2URL]
        return [
            TrustAuthorityLink(
                name: "D-TA 1", index: 1, url: self[ServerOptions.dta1URL],
                requestKey: try loadKey(require(ServerOptions.dta1KeyFile))),
            TrustAuthorityLink(
                name: "D-TA 2", index: 2, url: dta2URL, publicURL: self[ServerOptions.dta2PublicURL] ?? dta2URL,
                requestKey: try loadKey(require(ServerOptions.dta2KeyFile))),
        ]
    }
}
