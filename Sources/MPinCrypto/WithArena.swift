import BN254CX
import Glibc

/// Lends `body` 4,096 limbs of the stack (32 KiB) for one operation and wipes them afterwards, whatever happens, and with
/// them what the functions that it called have left below: no heap, and nothing secret is left behind.
@inline(__always)
func withArena<Value>(_ body: (inout Arena) throws(MPinError) -> Value) throws(MPinError) -> Value {
    var storage = InlineArray<4096, UInt>(repeating: 0)
    var span = storage.mutableSpan
    return try span.withUnsafeMutableBufferPointer { buffer throws(MPinError) in
        guard let base = buffer.baseAddress, buffer.count == Arena.capacity else { throw .wrongParameter }
        defer {
            explicit_bzero(base, Arena.capacity &* 8)
            wipeStackBelow()
        }
        var arena = Arena(base)
        return try body(&arena)
    }
}

/// Wipes 4 KiB of the stack below the caller, where the field's functions put what does not fit into registers.
@inline(never)
private func wipeStackBelow() {
    var room = InlineArray<512, UInt>(repeating: 0)
    var span = room.mutableSpan
    span.withUnsafeMutableBufferPointer { buffer in
        if let base = buffer.baseAddress { explicit_bzero(base, 8 &* buffer.count) }
    }
}
