import Foundation
import MPinService
import MPinStore

/// What the options of a part lack or contradict together.
extension Settings {
    /// Refuses what could not start, or should not, as far as that can be seen without touching any state.
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

    /// What could start, but hardly as it was meant.
    package var warnings: [String] { [noMails, oneCaller].compactMap(\.self) }

    private var noMails: String? {
        guard part == .serve, self[ServerOptions.mailDir] == nil, self[ServerOptions.smtpURL] == nil,
            !self[ServerOptions.forceActivate], let folder = self[ServerOptions.stateDir]
        else { return nil }
        return "neither --smtp-url nor --mail-dir is given: no mail is sent, and links lie as files in \(folder)/mail"
    }

    /// An RPS that only this machine reaches is asked by an RPA or a proxy. Their word about who calls is not taken unasked:
    /// a proxy that nobody has set up for it may hand on whatever its clients claim.
    private var oneCaller: String? {
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
        case .rps: try checkAuthorities()
        case .rpa: _ = try requiredDelivery()
        }
        _ = try auditFiles()
        if part == .serve || part == .rpa { _ = (try brand(), try mails()) }
        if part == .serve { _ = try clientsFile() }
    }

    /// Whoever may write where keys and databases lie can put others in their place.
    private func checkFolder() throws(StartError) {
        let database = try self[ServerOptions.database].map(databaseURL).flatMap { try? $0.file() }
            .map(MPinServer.folder(of:))
        guard let folder = part == .serve ? self[ServerOptions.stateDir] : database else { return }
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
        for address in [publicAddress, privateAddress].compactMap(\.self) { try exposure.require(address) }
        if part == .rps, self[ServerOptions.rpaKeyFile] == nil, privateAddress?.isLoopback == false {
            throw SettingsError("a private listener that other machines reach needs --rpa-key-file")
        }
        if part == .rpa, self[ServerOptions.rpsKeyFile] == nil, privateAddress?.isLoopback == false {
            throw SettingsError("a private listener that other machines reach needs --rps-key-file")
        }
        try checkURLs(exposure, isEverywhere: publicAddress?.isEverywhere == true)
    }

    /// Clients on other machines must not be sent to an address that is not theirs, nor to plain HTTP.
    private func checkURLs(_ exposure: Exposure, isEverywhere: Bool) throws(SettingsError) {
        if case .loopback = exposure { return }
        switch part {
        case .serve, .rpa:
            guard let url = self[ServerOptions.publicURL] else {
                guard exposure.identity == nil || isEverywhere else { return }
                throw SettingsError("--behind-proxy, or listening on all addresses, needs --public-url")
            }
            guard url.hasPrefix("https://") else { throw SettingsError("--public-url must begin with https://") }
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
