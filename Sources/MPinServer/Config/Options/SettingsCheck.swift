import Foundation
import MPinService
import MPinStore

/// Finds options that are missing or contradict each other.
extension Settings {
    /// Throws if the part could not start, or would be unsafe, as far as that can be seen without opening its
    /// databases.
    package func check() throws {
        let exposure = try exposure()
        for option in needed { _ = try require(option) }
        do {
            try checkParts()
            try checkFolder()
            try checkAddresses(exposure)
        } catch let error as StartError {
            throw SettingsError(error.description)
        }
    }

    /// Warnings about settings that work, but are probably a mistake.
    package var warnings: [String] { [mailWarning, callerWarning].compactMap(\.self) }

    private var mailWarning: String? {
        guard part == .serve, self[ServerOptions.mailDir] == nil, self[ServerOptions.smtpURL] == nil,
            !self[ServerOptions.forceActivate], let folder = self[ServerOptions.stateDir]
        else { return nil }
        return "neither --smtp-url nor --mail-dir is given: no mail is sent, and links lie as files in \(folder)/mail"
    }

    /// Warns about an RPS that only this machine reaches, so that all its requests come through an RPA or a proxy.
    /// Without --behind-proxy the RPS ignores the client's address that the RPA or proxy names, because a proxy may
    /// pass on whatever its clients claim. Then all clients count as one.
    private var callerWarning: String? {
        guard part == .rps, self[ServerOptions.tlsCert] == nil, !self[ServerOptions.behindProxy] else { return nil }
        return "without --behind-proxy all who come through the RPA at 127.0.0.1 count as one caller, with its limits"
    }

    private var needed: [ServerOption<String?>] {
        switch part {
        case .serve: [ServerOptions.stateDir]
        case .dta: [ServerOptions.database, ServerOptions.rpsKeyFile]
        case .rps:
            [ServerOptions.database, ServerOptions.keyFile]
        case .rpa: [ServerOptions.keyFile]
        }
    }

    private func checkParts() throws {
        switch part {
        case .serve:
            guard self[ServerOptions.isAllInOne] else {
                throw SettingsError(
                    "give --all-in-one, or run the parts with `mpind dta`, `mpind rps` and `mpind rpa`")
            }
            _ = try delivery()
        case .dta:
            guard (self[ServerOptions.keyFile] == nil) != (self[ServerOptions.passphraseFile] == nil) else {
                throw SettingsError("give either --key-file or --passphrase-file")
            }
        case .rps:
            try checkAuthorities()
            try checkProvider()
        case .rpa: _ = try requiredDelivery()
        }
        try checkPushes()
        _ = try auditFiles()
        if part != .dta { _ = (try brand(), try mails()) }
        if part == .serve || part == .rps { _ = try clientsFile() }
    }

    /// Throws if the options for the OpenID provider of an RPS are incomplete, or there are some without a provider.
    private func checkProvider() throws {
        guard self[ServerOptions.issuer] == nil else {
            if try delivery() == nil {
                throw SettingsError("--issuer needs --mail-dir or --smtp-url, for mails about new addresses")
            }
            return
        }
        let others = [
            ServerOptions.clients.row, ServerOptions.trust.row, ServerOptions.internalTarget.row,
            ServerOptions.pushURL.row,
        ]
        if let other = others.first(where: isSet) {
            throw SettingsError("--\(other.name) needs --issuer")
        }
    }

    /// Throws if only one of the options for pushes is there, or the clients that they are for are not served.
    private func checkPushes() throws {
        guard part == .serve || part == .rps else { return }
        let (url, key) = (self[ServerOptions.pushURL], self[ServerOptions.pushKeyFile])
        guard (url == nil) == (key == nil) else { throw SettingsError("give --push-url and --push-key-file together") }
        let isOn = try self[ServerOptions.trust] ?? (delivery() != .forceActivate)
        if url != nil, !isOn { throw SettingsError("--push-url needs --trust") }
    }

    /// The folder of keys and databases; nil if there is none.
    private func stateFolder() throws(StartError) -> String? {
        let database = try self[ServerOptions.database].map(databaseURL).flatMap { try? $0.file() }
            .map(MPinServer.folder(of:))
        return part == .serve ? self[ServerOptions.stateDir] : database
    }

    /// Throws if others than root, this process's user and its group may change the state folder or one above it. `mpind
    /// config check` may be run by another user than the server, so it is looked at only at the start.
    func checkFoldersAbove() throws(StartError) {
        if let folder = try stateFolder() { try FolderPath().requireOwn(folder) }
    }

    /// Throws if other users may write into the folder of keys and databases, because they could replace these files.
    private func checkFolder() throws(StartError) {
        guard let folder = try stateFolder() else { return }
        var status = stat()
        guard stat(folder, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw StartError("\(folder): not a folder") }
        guard status.st_mode & 0o022 == 0 else {
            throw StartError("\(folder): others may write in the state folder: chmod go-w \(folder)")
        }
    }

    private func checkAddresses(_ exposure: Exposure) throws {
        _ = try adminListen()
        let publicAddress =
            try part == .serve
            ? ListenAddress(host: self[ServerOptions.host], port: self[ServerOptions.publicPort])
            : self[ServerOptions.listen].map { try ListenAddress($0) }
        let privateAddress = try self[ServerOptions.privateListen].map { try ListenAddress($0) }
        for address in [publicAddress, privateAddress, try healthListen()].compactMap(\.self) {
            try exposure.require(address)
        }
        if part == .rps, self[ServerOptions.rpaKeyFile] == nil, privateAddress?.isLoopback == false {
            throw SettingsError("a private listener that other machines reach needs --rpa-key-file")
        }
        if part == .rpa, self[ServerOptions.rpsKeyFile] == nil, privateAddress?.isLoopback == false {
            throw SettingsError("a private listener that other machines reach needs --rps-key-file")
        }
        try checkURLs(exposure, isEverywhere: publicAddress?.isEverywhere == true)
    }

    /// Throws if clients on other machines would be sent to an address of this machine or to plain HTTP.
    private func checkURLs(_ exposure: Exposure, isEverywhere: Bool) throws(SettingsError) {
        if case .loopback = exposure { return }
        switch part {
        case .serve, .rpa:
            guard let url = self[ServerOptions.publicURL] else {
                guard exposure.identity == nil || isEverywhere else { return }
                throw SettingsError("--behind-proxy, or listening on all addresses, needs --public-url")
            }
            // With http, only clients on this machine are served: no other machine has this address.
            guard url.hasPrefix("https://") || url.isLoopbackURL else {
                throw SettingsError("--public-url must begin with https:// (http is for this machine only)")
            }
        case .rps:
            if let missing = try missingAuthorityURL() {
                throw SettingsError("clients on other machines need \(missing)")
            }
        case .dta: return
        }
    }
}

extension String {
    var isLoopbackURL: Bool {
        guard let url = URLComponents(string: self), let host = url.host else { return false }
        return (try? ListenAddress(host: host, port: url.port ?? 80).isLoopback) ?? false
    }
}
