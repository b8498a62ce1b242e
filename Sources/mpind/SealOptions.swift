import ArgumentParser
import Foundation
import MPinSecrets
import MPinServer
import MPinService

/// The key or passphrase that seals the master shares of a D-TA. The passphrase itself is never an argument, because
/// other users of the machine can read arguments.
struct SealOptions: ParsableArguments {
    @Option(help: "Key file that seals the master shares.")
    var keyFile: String?

    @Option(
        help: """
            File with the passphrase that seals the master shares, in the place of a key file. (default: the file that \
            MPIND_PASSPHRASE_FILE names)
            """)
    var passphraseFile: String?

    /// The given key or passphrase, or for a state folder the key file of the database; nil if there is neither.
    func seal(forDatabase database: String, stateDir: String?) throws -> Seal? {
        if keyFile != nil || passphraseFile != nil { return try seal() }
        guard stateDir != nil else { return nil }
        return .key(try KeyFile.loadOfServer(database.replacing(/\.sqlite$/, with: ".key")))
    }

    func seal() throws -> Seal {
        let named = ProcessInfo.processInfo.environment["MPIND_PASSPHRASE_FILE"]
        switch (keyFile, passphraseFile ?? (keyFile == nil ? named : nil)) {
        case (let path?, nil): return .key(try KeyFile.loadOfServer(path))
        case (nil, let path?): return .passphrase(try SecretFile.loadPassphrase(path))
        default: throw StartError("give either --key-file or --passphrase-file")
        }
    }
}
