import MPinSecrets

/// Returns memory of `count` zero bytes for an input or output, or NULL if `count` is negative or above 2^20. JavaScript
/// writes to it and reads from it, and gives it back to `mpin_wasm_free` with the same count.
@_cdecl("mpin_wasm_alloc")
public func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
    guard 0...(1 << 20) ~= count else { return nil }
    let start = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 8)
    start.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    return start
}

/// Wipes and frees memory of `count` bytes from `mpin_wasm_alloc`.
@_cdecl("mpin_wasm_free")
public func free(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int) {
    guard let start, count >= 0 else { return }
    var bytes = UnsafeMutableBufferPointer(start: start, count: count).mutableSpan
    wipe(&bytes)
    start.deallocate()
}
