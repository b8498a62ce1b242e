import BN254CX

/// Gives `body` an arena of 4,096 limbs (32 KiB) on the stack. Afterwards, also after an error, wipes the arena and the
/// part of the stack that the called functions have used. So no secret reaches the heap, and none remains on the stack.
@inline(__always)
func withArena<Value>(_ body: (inout Arena) throws(MPinError) -> Value) throws(MPinError) -> Value {
    var storage = InlineArray<4096, Limb>(repeating: 0)
    var span = storage.mutableSpan
    return try span.withUnsafeMutableBufferPointer { buffer throws(MPinError) in
        guard let base = buffer.baseAddress, buffer.count == Arena.capacity else { throw .wrongParameter }
        defer {
            wipe(base, Arena.capacity)
            wipeStackBelow()
        }
        var arena = Arena(base)
        return try body(&arena)
    }
}

/// Wipes 4 KiB of the stack below the caller. The functions of the field keep values there that do not fit into
/// registers.
@inline(never)
private func wipeStackBelow() {
    var room = InlineArray<512, Limb>(repeating: 0)
    var span = room.mutableSpan
    span.withUnsafeMutableBufferPointer { buffer in
        if let base = buffer.baseAddress { wipe(base, buffer.count) }
    }
}

extension Arena {
    /// Takes a buffer for `count` secret bytes from the arena. The buffer is wiped together with the arena.
    mutating func octets(_ count: Int) -> UnsafeMutableBufferPointer<UInt8> {
        let start = UnsafeMutableRawPointer(take((count &+ 7) / 8)).bindMemory(to: UInt8.self, capacity: count)
        return UnsafeMutableBufferPointer(start: start, count: count)
    }
}
