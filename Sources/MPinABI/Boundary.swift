// How bytes cross the C boundary, for all functions. Nothing here may trap, so everything from C is checked
// before it is used. A `size_t` arrives as an `Int`, so a value above `Int.max` is negative here.

import MPinCrypto
import MPinSecrets

/// The octets of an input. Nil for NULL or an impossible length.
func octets(_ start: UnsafePointer<UInt8>?, _ count: Int) -> UnsafeBufferPointer<UInt8>? {
    guard let start, count >= 0 else { return nil }
    return UnsafeBufferPointer(start: start, count: count)
}

/// The octets of an optional input. The inner nil means that there is no input: `start` is NULL and `count` is 0. The
/// outer nil is an error.
func optionalOctets(_ start: UnsafePointer<UInt8>?, _ count: Int) -> UnsafeBufferPointer<UInt8>?? {
    if start == nil, count == 0 { return .some(nil) }
    guard let octets = octets(start, count) else { return nil }
    return .some(octets)
}

/// An output of a fixed size. The call writes to separate memory, which is copied to the caller's buffer when the whole
/// call has succeeded. So nothing is written after an error, and an output may overlap an input.
struct Output: ~Copyable {
    private let target: UnsafeMutablePointer<UInt8>?
    /// The memory that the call writes to. Its count is 0 if the output is not wanted.
    let room: UnsafeMutableBufferPointer<UInt8>

    /// Prepares an output of `size` bytes. NULL with length 0 is allowed if the output is optional.
    init(
        _ target: UnsafeMutablePointer<UInt8>?, _ count: Int, size: Int, optional: Bool = false
    ) throws(MPinError) {
        let isAbsent = optional && target == nil && count == 0
        if !isAbsent {
            guard target != nil, 0...size ~= count else { throw .wrongParameter }
            guard count == size else { throw .bufferTooSmall }
        }
        self.target = target
        room = .allocate(capacity: isAbsent ? 0 : size)
        room.initialize(repeating: 0)
    }

    /// Copies the result to the caller's buffer.
    func handOver() {
        if let target, let source = room.baseAddress { target.update(from: source, count: room.count) }
    }

    deinit {
        let room = room
        var bytes = room.mutableSpan
        wipe(&bytes)
        room.deallocate()
    }
}
