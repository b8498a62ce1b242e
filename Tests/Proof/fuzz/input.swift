// Functions that all targets in Swift use.

/// Splits one input of libFuzzer into its first byte and the rest. The rest is copied to memory of exactly its size, so
/// that the address sanitizer detects a read beyond it. Returns the value that libFuzzer expects.
func withInput(
    _ data: UnsafePointer<UInt8>, _ size: Int, _ body: (UInt8, UnsafeMutableBufferPointer<UInt8>) -> Void
) -> Int32 {
    guard size > 0 else { return 0 }
    let input = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: size - 1)
    defer { input.deallocate() }
    _ = input.initialize(from: UnsafeBufferPointer(start: data + 1, count: size - 1))
    body(data[0], input)
    return 0
}

func expect(_ holds: Bool, _ law: StaticString) {
    if !holds { fatalError("\(law)") }
}
