import CAllocations

/// Counts heap allocations.
enum AllocationCounter {
    /// The number of heap allocations during `body`, including those of the Swift runtime and of C libraries.
    @inline(never)
    static func count(_ body: () -> Void) -> Int {
        let before = mpin_bench_allocations()
        body()
        return Int(mpin_bench_allocations() &- before)
    }

    /// Whether the counter detects three known allocations: two blocks and an object.
    static func works() -> Bool {
        let seen = count {
            let block = UnsafeMutableRawPointer.allocate(byteCount: 48, alignment: 8)
            let aligned = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
            let object = Probe()
            block.deallocate()
            aligned.deallocate()
            _ = object.address
        }
        return seen == 3
    }
}

private final class Probe {
    /// The address of the object. The getter is never inlined, so that the compiler makes the object on the heap.
    var address: ObjectIdentifier {
        @inline(never) get { ObjectIdentifier(self) }
    }
}
