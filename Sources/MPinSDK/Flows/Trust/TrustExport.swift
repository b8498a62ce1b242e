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
}
