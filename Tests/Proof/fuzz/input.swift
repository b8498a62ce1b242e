// What the targets in Swift have in common.

/// One input of libFuzzer: its first byte, and a copy of the rest that has its exact size, so that the address sanitizer
/// sees a read beyond it. Returns what libFuzzer wants to hear.
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
