import BN254CX

/// Gives `body` an arena of 4,096 limbs (32 KiB) on the stack. Afterwards, also after an error, wipes the arena and the
/// part of the stack that the called functions have used. So no secret reaches the heap, and none remains on the stack.
@inline(__always)
func withArena<Value>(_ body: (inout Arena) throws(MPinError) -> Value) throws(MPinError) -> Value {
    try withArena(InlineArray<4096, Limb>.self, holds: Arena.capacity, body)
}

/// The same with 1,024 limbs (8 KiB), which suffice for operations on scalars and points of G1. A larger arena takes
/// longer to clear and to wipe: 1 % of each pass of a login.
@inline(__always)
func withG1Arena<Value>(_ body: (inout Arena) throws(MPinError) -> Value) throws(MPinError) -> Value {
    try withArena(InlineArray<1024, Limb>.self, holds: Arena.g1Capacity, body)
}

@inline(__always)
private func withArena<let size: Int, Value>(
    _ type: InlineArray<size, Limb>.Type, holds capacity: Int, _ body: (inout Arena) throws(MPinError) -> Value
) throws(MPinError) -> Value {
    var storage = InlineArray<size, Limb>(repeating: 0)
    var span = storage.mutableSpan
    return try span.withUnsafeMutableBufferPointer { buffer throws(MPinError) in
        guard let base = buffer.baseAddress, buffer.count == capacity else { throw .wrongParameter }
        defer {
            wipe(base, capacity)
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
