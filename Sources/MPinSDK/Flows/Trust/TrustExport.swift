import MPinSecrets
import MPinWire

extension SDK {
    /// Writes the users of the current project into a new file of mode 0600, in the form in which client-js stores them
    /// (TRUST wire section 8). Returns their number.
    ///
    /// The tokens lie unsealed in that file: whoever reads it needs nothing but the PIN to log in.
    package func exportUsers(to path: String) throws(SDKError) -> Int {
        try perform { core, _ throws(SDKError) in
            _ = try core.currentProject()
            let users = try core.listUsers().compactMap { ClientJSUser($0.record) }
            let text: SecretBytes
            do { text = try JSON.encode(users) } catch {
                throw SDKError(.storageError, "export: cannot write a user as JSON")
            }
            do { try SecretFile.create(path, text.span) } catch {
                throw SDKError(.storageError, "cannot write \(error)")
            }
            core.log?(.warning, "\(users.count) users exported, their tokens unsealed")
            return users.count
        }
    }

    /// Adds the users in a file that ``exportUsers(to:)`` has written, or into which the list of client-js was copied,
    /// except those that are known already. Returns the number of added users. Refuses a file that the group or others
    /// can read, and one of more than a megabyte.
    package func importUsers(from path: String) throws(SDKError) -> Int {
        try perform { core, _ throws(SDKError) in _ = try core.currentProject() }
        let text: SecretBytes
        do { text = try SecretFile.load(path, limit: 1 << 20) } catch {
            throw SDKError(.storageError, "import: \(error)")
        }
        return try importStorage(ImportSource(format: .clientJS, users: text))
    }
}
