import MPinSecrets

/// Copies that are not wiped: for what turned out to hold no secret.
extension SecretBytes {
    var plainBytes: [UInt8] { span.withUnsafeBufferPointer { Array($0) } }
    var plainText: String { span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
}
