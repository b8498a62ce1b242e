import CMPin
import MPinSDK
import MPinSecrets

/// What the caller's `mpin_config` says, with its context; nil if one of them is malformed.
func readConfig(_ config: UnsafePointer<mpin_config>?) -> (SDKConfig, Environment)? {
    guard let config, let known = knownPart(config, size: config.pointee.size, of: mpin_config()),
        let context = readContext(known.context), isOneKey(known, context),
        let storagePath = optionalText(known.storage_path), let keyPath = optionalText(known.storage_key_path),
        var result = readTexts(known, storagePath: storagePath ?? ""), known.allow_insecure <= 1
    else { return nil }
    guard storagePath != nil || context.storage_get != nil else { return nil }
    result.keyPath = keyPath
    if known.timeout_ms != 0 { result.timeoutMilliseconds = known.timeout_ms }
    result.allowInsecure = known.allow_insecure == 1
    if let passphrase = secretOctets(known.storage_passphrase) {
        result.passphrase = SecretBytes(copying: passphrase.span)
    }
    return (result, environment(context, hasKeyPath: keyPath != nil))
}

private func readTexts(_ config: mpin_config, storagePath: String) -> SDKConfig? {
    guard let backend = optionalText(config.backend), let rpsPrefix = optionalText(config.rps_prefix),
        let caFile = optionalText(config.ca_file), let proxy = optionalText(config.proxy),
        let pinnedKeys = optionalText(config.pinned_keys), let clientID = optionalText(config.client_id)
    else { return nil }
    var result = SDKConfig(storagePath: storagePath)
    result.backend = backend
    if let rpsPrefix { result.rpsPrefix = rpsPrefix }
    result.caFile = caFile
    result.proxy = proxy
    result.pinnedKeys = pinnedKeys
    result.clientID = clientID
    return result
}

/// The store has one key: whoever names two would not know which one is used.
private func isOneKey(_ config: mpin_config, _ context: mpin_context) -> Bool {
    let named = [config.storage_key_path != nil, config.storage_passphrase != nil, context.storage_key != nil]
    return named.filter { $0 }.count <= 1
}

/// All callbacks NULL where there is no context; nil if it is malformed.
private func readContext(_ context: UnsafePointer<mpin_context>?) -> mpin_context? {
    guard let context else { return mpin_context() }
    guard let known = knownPart(context, size: context.pointee.size, of: mpin_context()),
        (known.storage_get == nil) == (known.storage_set == nil)
    else { return nil }
    return known
}

/// More than any version of the structures will have: a larger size is not one.
private let largestSize = 1 << 12

/// The structure as this version knows it, `empty` where the caller's has no such member.
///
/// The caller may have been compiled against another version of the header. An older one has a shorter structure: what
/// is missing is zero. A newer one has a longer structure: what is unknown here must be zero, since it would otherwise
/// be ignored in silence.
private func knownPart<Structure>(
    _ structure: UnsafePointer<Structure>, size: Int, of empty: Structure
) -> Structure? {
    let start = UnsafeRawPointer(structure)
    let whole = MemoryLayout<Structure>.size
    let word = MemoryLayout<UnsafeRawPointer>.size
    guard size >= 2 * word, size <= largestSize else { return nil }
    for offset in min(whole, size)..<size where start.load(fromByteOffset: offset, as: UInt8.self) != 0 {
        return nil
    }
    var known = empty
    // Half a pointer is none: a size within a member ends before it.
    withUnsafeMutableBytes(of: &known) {
        $0.baseAddress?.copyMemory(from: start, byteCount: min(whole, size / word * word))
    }
    return known
}
