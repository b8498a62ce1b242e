import CMPin
import MPinSDK

/// What the caller's `mpin_config` says; nil if it is malformed.
///
/// The caller may have been compiled against another version of the header. An older one has a shorter structure: what
/// is missing is zero. A newer one has a longer structure: what is unknown here must be zero, since it would otherwise
/// be ignored in silence.
func readConfig(_ config: UnsafePointer<mpin_config>?) -> SDKConfig? {
    guard let config, let known = knownPart(UnsafeRawPointer(config), size: config.pointee.size),
        let storagePath = text(known.storage_path),
        let keyPath = optionalText(known.storage_key_path),
        let backend = optionalText(known.backend),
        let rpsPrefix = optionalText(known.rps_prefix),
        let caFile = optionalText(known.ca_file),
        known.allow_insecure <= 1
    else { return nil }
    var result = SDKConfig(storagePath: storagePath)
    result.keyPath = keyPath
    result.backend = backend
    if let rpsPrefix { result.rpsPrefix = rpsPrefix }
    result.caFile = caFile
    if known.timeout_ms != 0 { result.timeoutMilliseconds = known.timeout_ms }
    result.allowInsecure = known.allow_insecure == 1
    return result
}

/// More than any version of the structure will have: a larger size is not one.
private let largestSize = 1 << 12

/// The structure as this version knows it.
private func knownPart(_ config: UnsafeRawPointer, size: Int) -> mpin_config? {
    let whole = MemoryLayout<mpin_config>.size
    let word = MemoryLayout<UnsafeRawPointer>.size
    guard size >= 2 * word, size <= largestSize else { return nil }
    for offset in min(whole, size)..<size where config.load(fromByteOffset: offset, as: UInt8.self) != 0 {
        return nil
    }
    var known = mpin_config()
    // Half a pointer is none: a size within a member ends before it.
    withUnsafeMutableBytes(of: &known) {
        $0.baseAddress?.copyMemory(from: config, byteCount: min(whole, size / word * word))
    }
    return known
}
