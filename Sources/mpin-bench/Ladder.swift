import CGMP
import Glibc

/// One rung: an operation and what it costs.
struct Rung {
    let name: String
    /// Nanoseconds of processor time of one operation.
    let nanoseconds: Double
    /// Nanoseconds of a unit U, a product of 4x4 limbs by GMP's mpn_sec_mul, timed in turn with the operation.
    let unit: Double
    /// The operation in units.
    let ratio: Double
    /// Heap allocations of one operation.
    let allocations: Int
}

/// Times operations and keeps the results. Before and behind each of several batches runs a batch of the unit, and each is
/// compared with those two; the median counts. So a machine that slows down for a while changes the nanoseconds, not the
/// ratio: rungs are compared by their ratios.
struct Ladder {
    private(set) var rungs: [Rung] = []
    private let onRung: (Rung) -> Void
    private let operands: UnsafeMutablePointer<UInt>

    private static let batches = 11
    private static let nanosecondsOfBatch = 4e6
    private static let unitsOfBatch = 50_000

    init(onRung: @escaping (Rung) -> Void) {
        self.onRung = onRung
        operands = .allocate(capacity: 16)
        for i in 0..<16 { operands[i] = 0x9E37_79B9_7F4A_7C15 &* UInt(i + 1) }
    }

    /// Times `operation`.
    mutating func time(_ name: String, _ operation: () -> Void) {
        operation()
        let allocations = AllocationCounter.count(operation)
        let first = Ladder.nanoseconds(of: operation, 1)
        let guess = Ladder.nanoseconds(of: operation, max(1, Int(2e5 / max(first, 20))))
        let repetitions = max(1, Int(Ladder.nanosecondsOfBatch / max(guess, 1)))
        var times: [Double] = [], units: [Double] = [unit()], ratios: [Double] = []
        for batch in 0..<Ladder.batches {
            times.append(Ladder.nanoseconds(of: operation, repetitions))
            units.append(unit())
            ratios.append(2 * times[batch] / (units[batch] + units[batch + 1]))
        }
        add(
            Rung(
                name: name, nanoseconds: Ladder.median(times), unit: Ladder.median(units),
                ratio: Ladder.median(ratios), allocations: allocations))
    }

    /// The first rung: the unit itself.
    mutating func timeUnit() {
        let times = (0..<Ladder.batches).map { _ in unit() }
        let time = Ladder.median(times)
        add(Rung(name: "mpn_sec_mul", nanoseconds: time, unit: time, ratio: 1, allocations: 0))
    }

    private mutating func add(_ rung: Rung) {
        rungs.append(rung)
        onRung(rung)
    }

    private func unit() -> Double {
        let operands = operands
        return Ladder.nanoseconds(
            of: { __gmpn_sec_mul(operands + 8, operands, 4, operands + 4, 4, nil) }, Ladder.unitsOfBatch)
    }

    /// Nanoseconds of one of `repetitions` operations. Never inlined: an operation must not be moved out of the loop.
    @inline(never)
    private static func nanoseconds(of operation: () -> Void, _ repetitions: Int) -> Double {
        let start = now()
        for _ in 0..<repetitions { operation() }
        return (now() - start) / Double(repetitions)
    }

    /// Processor time of this thread in nanoseconds.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
