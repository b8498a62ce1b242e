import BN254CX

extension Arena {
    /// A buffer for `count` secret bytes. It is wiped with the arena.
    mutating func octets(_ count: Int) -> UnsafeMutableBufferPointer<UInt8> {
        let start = UnsafeMutableRawPointer(take((count &+ 7) / 8)).bindMemory(to: UInt8.self, capacity: count)
        return UnsafeMutableBufferPointer(start: start, count: count)
    }
}
