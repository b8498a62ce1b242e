package import MPinSecrets

/// A buffer for an answer. It grows up to a limit and wipes the memory that it gives up.
package final class WipedBuffer {
    private var storage: UnsafeMutableBufferPointer<UInt8>
    package private(set) var count = 0
    private let limit: Int

    /// Makes a buffer for at most `limit` bytes.
    package init(limit: Int) {
        self.limit = limit
        storage = .allocate(capacity: min(limit, 4096))
        storage.initialize(repeating: 0)
    }

    deinit { release(storage) }

    /// Appends bytes. False, with nothing added, if that would exceed the limit.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= limit - count else { return false }
        if bytes.count > storage.count - count { grow(to: count + bytes.count) }
        for (offset, byte) in bytes.enumerated() { storage[count + offset] = byte }
        count += bytes.count
        return true
    }

    /// A copy of all bytes that were appended.
    package func secret() -> SecretBytes { SecretBytes(copying: storage.span.extracting(0..<count)) }

    private func grow(to needed: Int) {
        let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: min(limit, max(needed, 2 * storage.count)))
        larger.initialize(repeating: 0)
        for index in 0..<count { larger[index] = storage[index] }
        release(storage)
        storage = larger
    }

    private func release(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        var bytes = memory.mutableSpan
        wipe(&bytes)
        memory.deallocate()
    }
}
