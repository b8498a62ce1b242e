import MPinSecrets

/// The store's key in a file of its own.
struct KeyFileSource: KeySource {
    let path: String

    func key(forNewStore isNew: Bool, random: RandomSource) throws(SDKError) -> SecretBytes {
        do {
            return isNew ? try KeyFile.loadOrCreate(path, random: random) : try KeyFile.load(path)
        } catch .random {
            throw SDKError(.randomFailed, "the random generator failed")
        } catch { throw SDKError(.storageError, "\(error)") }
    }
}
