import CMPin
import MPinSDK
import MPinSecrets

/// Reads the caller's `mpin_config` and its context. An error names the malformed member.
func readConfig(_ config: UnsafePointer<mpin_config>?) throws(SDKError) -> (SDKConfig, Environment) {
    guard let config else { throw malformed("config is NULL") }
    let known = try knownPart(config, size: config.pointee.size, of: mpin_config(), "config", "mpin_config")
    let context = try readContext(known.context)
    try checkOneKey(known, context)
    guard known.storage_path != nil || context.storage_get != nil else {
        throw malformed("config.storage_path is NULL: name a file, or set storage_get and storage_set of a context")
    }
    var result = try readTexts(known)
    if known.timeout_ms != 0 { result.timeoutMilliseconds = known.timeout_ms }
    guard known.allow_insecure <= 1 else { throw malformed("config.allow_insecure is neither 0 nor 1") }
    result.allowInsecure = known.allow_insecure == 1
    if let passphrase = secretOctets(known.storage_passphrase) {
        result.passphrase = SecretBytes(copying: passphrase.span)
    }
    return (result, environment(context, hasKeyPath: result.keyPath != nil))
}

func malformed(_ text: String) -> SDKError { SDKError(.invalidArgument, text) }

private func readTexts(_ config: mpin_config) throws(SDKError) -> SDKConfig {
    func read(_ text: UnsafePointer<CChar>?, _ name: String) throws(SDKError) -> String? {
        guard let read = optionalText(text) else { throw malformed("config.\(name) is not UTF-8") }
        return read
    }
    var result = SDKConfig(storagePath: try read(config.storage_path, "storage_path") ?? "")
    result.keyPath = try read(config.storage_key_path, "storage_key_path")
    result.backend = try read(config.backend, "backend")
    result.rpsPrefix = try read(config.rps_prefix, "rps_prefix") ?? result.rpsPrefix
    result.caFile = try read(config.ca_file, "ca_file")
    result.proxy = try read(config.proxy, "proxy")
    result.pinnedKeys = try read(config.pinned_keys, "pinned_keys")
    result.clientID = try read(config.client_id, "client_id")
    return result
}

/// Refuses a configuration that names more than one key, because the store has only one.
private func checkOneKey(_ config: mpin_config, _ context: mpin_context) throws(SDKError) {
    let named = [config.storage_key_path != nil, config.storage_passphrase != nil, context.storage_key != nil]
    guard named.filter({ $0 }).count <= 1 else {
        throw malformed(
            "two keys of the store: give one of config.storage_key_path, config.storage_passphrase and storage_key of a "
                + "context")
    }
}

/// Reads the context. If there is none, all callbacks are NULL.
private func readContext(_ context: UnsafePointer<mpin_context>?) throws(SDKError) -> mpin_context {
    guard let context else { return mpin_context() }
    let known = try knownPart(context, size: context.pointee.size, of: mpin_context(), "context", "mpin_context")
    guard (known.storage_get == nil) == (known.storage_set == nil) else {
        throw malformed("storage_get and storage_set of a context go together: set both, or none")
    }
    return known
}

/// The largest size of a structure that is accepted, in bytes. No version of the header will have a larger structure.
private let largestSize = 1 << 12

/// Copies the caller's structure into the structure of this version. Members that the caller's structure does not have
/// are as in `empty`.
///
/// The caller may have been compiled with another version of the header. A structure of an older version is shorter, so
/// its missing members are zero. A structure of a newer version is longer; members that this version does not know must
/// be zero, because ignoring them silently would be wrong.
func knownPart<Structure>(
    _ structure: UnsafePointer<Structure>, size: Int, of empty: Structure, _ name: String, _ type: String
) throws(SDKError) -> Structure {
    let start = UnsafeRawPointer(structure)
    let whole = MemoryLayout<Structure>.size
    let word = MemoryLayout<UnsafeRawPointer>.size
    guard size >= 2 * word, size <= largestSize else { throw malformed("\(name).size is not sizeof(\(type))") }
    for offset in min(whole, size)..<size where start.load(fromByteOffset: offset, as: UInt8.self) != 0 {
        throw malformed("\(name) has a member that this library does not know: it is older than the header")
    }
    var known = empty
    // A size may end inside a member. That member is not copied, because half a pointer is useless.
    withUnsafeMutableBytes(of: &known) {
        $0.baseAddress?.copyMemory(from: start, byteCount: min(whole, size / word * word))
    }
    return known
}
