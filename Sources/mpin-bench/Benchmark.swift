import CGMP
import Glibc

/// One row of the results: an operation and its cost.
struct Timing {
    let name: String
    /// The processor time of one operation, in nanoseconds.
    let nanoseconds: Double
    /// The time of one unit U in nanoseconds, measured alternately with the operation. U is a product of 4x4 limbs by
    /// GMP's mpn_sec_mul.
    let unit: Double
    /// The time of the operation in units.
    let ratio: Double
    /// The number of heap allocations of one operation.
    let allocations: Int
}

/// Times operations and collects the results. Each operation runs in several batches, with a batch of the unit U before
/// and after each of them; the result is the median of the ratios. If the machine is slower for a while, the
/// nanoseconds change but the ratio does not, so compare results by their ratios.
struct Benchmark {
    private(set) var timings: [Timing] = []
    private let isCounting: Bool
    private let onTiming: (Timing) -> Void
    private let operands: UnsafeMutablePointer<UInt>

    /// The number of runs of each operation while a program counts instructions. It equals the number of sample users,
    /// which the operations take in turn, so that each user is counted once.
    private static let countedRuns = 16
    private static let batches = 11
    private static let nanosecondsOfBatch = 4e6
    private static let unitsOfBatch = 50_000

    /// If `isCounting` is true, each operation runs a fixed number of times in `counted` and is not timed.
    init(isCounting: Bool = false, onTiming: @escaping (Timing) -> Void) {
        self.isCounting = isCounting
        self.onTiming = onTiming
        operands = .allocate(capacity: 16)
        for i in 0..<16 { operands[i] = 0x9E37_79B9_7F4A_7C15 &* UInt(i + 1) }
    }

    /// Times `operation`.
    mutating func time(_ name: String, _ operation: () -> Void) {
        operation()
        if isCounting {
            Benchmark.counted(operation)
            return add(Timing(name: name, nanoseconds: 0, unit: 0, ratio: 0, allocations: 0))
        }
        let allocations = AllocationCounter.count(operation)
        let first = Benchmark.nanoseconds(of: operation, 1)
        let guess = Benchmark.nanoseconds(of: operation, max(1, Int(2e5 / max(first, 20))))
        let repetitions = max(1, Int(Benchmark.nanosecondsOfBatch / max(guess, 1)))
        var times: [Double] = [], units: [Double] = [unit()], ratios: [Double] = []
        for batch in 0..<Benchmark.batches {
            times.append(Benchmark.nanoseconds(of: operation, repetitions))
            units.append(unit())
            ratios.append(2 * times[batch] / (units[batch] + units[batch + 1]))
        }
        add(
            Timing(
                name: name, nanoseconds: Benchmark.median(times), unit: Benchmark.median(units),
                ratio: Benchmark.median(ratios), allocations: allocations))
    }

    /// Times the unit U itself, a call of mpn_sec_mul. It is the first row of the results.
    mutating func timeUnit() {
        let times = (0..<Benchmark.batches).map { _ in unit() }
        let time = Benchmark.median(times)
        add(Timing(name: "mpn_sec_mul", nanoseconds: time, unit: time, ratio: 1, allocations: 0))
    }

    private mutating func add(_ timing: Timing) {
        timings.append(timing)
        onTiming(timing)
    }

    private func unit() -> Double {
        let operands = operands
        return Benchmark.nanoseconds(
            of: { __gmpn_sec_mul(operands + 8, operands, 4, operands + 4, 4, nil) }, Benchmark.unitsOfBatch)
    }

    /// The average nanoseconds of one operation in `repetitions` runs. The function is never inlined, so that the
    /// compiler cannot move an operation out of the loop.
    @inline(never)
    private static func nanoseconds(of operation: () -> Void, _ repetitions: Int) -> Double {
        let start = now()
        for _ in 0..<repetitions { operation() }
        return (now() - start) / Double(repetitions)
    }

    /// Runs `operation` between two calls of `sched_yield`, by which Tests/Proof/instructions.py recognises what to
    /// count.
    private static func counted(_ operation: () -> Void) {
        sched_yield()
        for _ in 0..<countedRuns { operation() }
        sched_yield()
    }

    /// The processor time of this thread in nanoseconds.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
