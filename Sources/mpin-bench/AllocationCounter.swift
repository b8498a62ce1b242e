import CAllocations

/// Counts heap allocations.
enum AllocationCounter {
    /// Heap allocations during `body`, those of the Swift runtime and of C libraries included.
    @inline(never)
    static func count(_ body: () -> Void) -> Int {
        let before = mpin_bench_allocations()
        body()
        return Int(mpin_bench_allocations() &- before)
    }

    /// Whether known allocations are seen: two blocks and an object.
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
    /// Never inlined, so that the object is made on the heap.
    var address: ObjectIdentifier {
        @inline(never) get { ObjectIdentifier(self) }
    }
}
