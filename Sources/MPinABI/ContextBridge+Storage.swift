// mpin.h: the program's own storage and key. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinHTTP
import MPinSDK
import MPinSecrets

let stored = HandleTable<StoredData>(.storageData)

/// The data that storage_get has appended so far.
final class StoredData: Sendable {
    private let buffer = Locked(WipedBuffer(limit: StoredData.limit))
    /// The limit in bytes, as for a file of the built-in store.
    private static let limit = 64 << 20

    private let isTooLong = Locked(false)

    /// Appends bytes. False if the data would then be longer than `limit`.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if buffer.withLock({ $0.append(bytes) }) { return true }
        isTooLong.withLock { $0 = true }
        return false
    }

    /// The data; nil if it was too long.
    var secret: SecretBytes? { isTooLong.withLock { $0 } ? nil : buffer.withLock { $0.secret() } }
}

extension Callbacks {
    /// Calls storage_get and returns what the program has stored of this kind. Empty if there is nothing.
    fileprivate func get(_ kind: Int32) throws(SDKError) -> SecretBytes {
        let data = StoredData()
        // The handle is valid only during the callback.
        guard let handle = stored.insert(data) else { throw SDKError(.storageError, "too many reads at once") }
        let status = context.storage_get?(context.user, handle, kind) ?? MPIN_STORAGE_ERROR
        _ = stored.remove(handle)
        guard status == MPIN_OK else { throw SDKError(.storageError, "the program's storage_get gave \(status)") }
        guard let secret = data.secret else { throw SDKError(.storageError, "the program has stored too much") }
        return secret
    }

    fileprivate func set(_ kind: Int32, _ bytes: Span<UInt8>) throws(SDKError) {
        let status = bytes.withUnsafeBufferPointer {
            context.storage_set?(context.user, kind, $0.baseAddress, $0.count) ?? MPIN_STORAGE_ERROR
        }
        guard status == MPIN_OK else { throw SDKError(.storageError, "the program's storage_set gave \(status)") }
    }
}

/// Keeps the encrypted store by the program's callbacks storage_get and storage_set. Only one sdk may use this storage
/// at a time, because an sdk is not told of changes by another one.
struct CallbackStorage: Storage {
    let callbacks: Callbacks

    func read() throws(SDKError) -> [UInt8]? {
        let blob = try callbacks.get(MPIN_STORAGE_USERS)
        return blob.count == 0 ? nil : blob.span.withUnsafeBufferPointer { Array($0) }
    }

    let mayBeEmptied = true

    func update(
        within limits: CallLimits?, _ change: ([UInt8]?) throws(SDKError) -> [UInt8]
    ) throws(SDKError) {
        let blob = try change(read())
        try callbacks.set(MPIN_STORAGE_USERS, blob.span)
    }

    /// Logs a warning and keeps no copy: the program's storage has no second place for damaged records, so the next
    /// save drops them.
    func setAside() throws(SDKError) {
        callbacks.log(.warning, "damaged records are left out of what is stored from now on")
    }

    func version() -> UInt64 { 1 }
}

/// The store's key in the program's secure storage, as 64 hex digits. The key is made once.
struct CallbackVault: KeySource {
    let callbacks: Callbacks

    func key(forNewStore isNew: Bool, random: RandomSource) throws(SDKError) -> SecretBytes {
        let text = try callbacks.get(MPIN_STORAGE_SECURE)
        guard text.count > 0 else { return try make(isNew, random) }
        guard text.count == 2 * SealedBox.keySize, let key = SecretBytes(hex: text.span) else {
            throw SDKError(.storageError, "what the program has stored as key is none")
        }
        return key
    }

    private func make(_ isNew: Bool, _ random: RandomSource) throws(SDKError) -> SecretBytes {
        guard isNew else { throw SDKError(.storageError, "the key of the store is gone") }
        let key: SecretBytes
        do { key = try .random(count: SealedBox.keySize, from: random) } catch {
            throw SDKError(.randomFailed, "the random generator failed")
        }
        let digits = key.hexDigits
        try callbacks.set(MPIN_STORAGE_SECURE, digits.span)
        return key
    }
}

/// The store's key from the program's callback storage_key.
struct CallbackKey: KeySource {
    let callbacks: Callbacks

    func key(forNewStore isNew: Bool, random: RandomSource) throws(SDKError) -> SecretBytes {
        let key = SecretBytes(count: SealedBox.keySize)
        var bytes = key.mutableSpan
        let status = bytes.withUnsafeMutableBufferPointer {
            callbacks.context.storage_key?(callbacks.context.user, $0.baseAddress) ?? MPIN_STORAGE_ERROR
        }
        guard status == MPIN_OK else { throw SDKError(.storageError, "the program's storage_key gave \(status)") }
        return key
    }
}

@_cdecl("mpin_storage_data_append") @implementation
public func mpin_storage_data_append(
    _ data: OpaquePointer?, _ bytes: UnsafePointer<UInt8>?, _ bytes_len: Int
) -> mpin_status {
    guard let data = stored.object(data) else { return unusable(data) }
    guard let octets = optionalOctets(bytes, bytes_len) else { return MPIN_INVALID_ARGUMENT }
    return data.append(UnsafeRawBufferPointer(octets ?? .init(start: nil, count: 0)))
        ? MPIN_OK : MPIN_BUFFER_TOO_SMALL
}
