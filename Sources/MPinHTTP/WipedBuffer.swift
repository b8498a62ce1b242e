package import MPinSecrets

/// Grows as an answer arrives, up to a limit, and leaves no copy behind.
package final class WipedBuffer {
    private var storage: UnsafeMutableBufferPointer<UInt8>
    package private(set) var count = 0
    private let limit: Int

    /// Holds at most `limit` bytes.
    package init(limit: Int) {
        self.limit = limit
        storage = .allocate(capacity: min(limit, 4096))
        storage.initialize(repeating: 0)
    }

    deinit { release(storage) }

    /// False, with nothing added, where the limit would be passed.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= limit - count else { return false }
        if bytes.count > storage.count - count { grow(to: count + bytes.count) }
        for (offset, byte) in bytes.enumerated() { storage[count + offset] = byte }
        count += bytes.count
        return true
    }

    /// A copy of what has arrived.
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
