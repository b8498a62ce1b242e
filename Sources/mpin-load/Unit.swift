import CGMP
import Foundation
import Synchronization

/// The unit of cost U: one product of 4x4 limbs by GMP's `mpn_sec_mul`. It is measured repeatedly while the load runs,
/// so that a slower machine slows down both measurements.
struct Unit: ~Copyable {
    private static let products = 20_000
    private let limbs: UnsafeMutablePointer<UInt>
    private var times: [Double] = []

    init() {
        limbs = .allocate(capacity: 16)
        for i in 0..<16 { limbs[i] = 0x9E37_79B9_7F4A_7C15 &* UInt(i + 1) }
    }

    deinit { limbs.deallocate() }

    /// Measures the products once more, for about 0.2 ms.
    mutating func sample() {
        let start = Self.threadTime()
        for _ in 0..<Self.products { __gmpn_sec_mul(limbs + 8, limbs, 4, limbs + 4, 4, nil) }
        times.append((Self.threadTime() - start) / Double(Self.products))
    }

    /// The median of the samples in nanoseconds.
    var nanoseconds: Double { times.sorted()[times.count / 2] }

    /// The processor time of this thread in nanoseconds.
    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}

/// Takes samples of ``Unit`` on its own thread until it is stopped.
final class UnitSampler: Sendable {
    private let isStopping = Atomic(false)
    private let result = Mutex<Double?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init() {
        Thread.detachNewThread { [self] in
            var unit = Unit()
            repeat {
                unit.sample()
                Thread.sleep(forTimeInterval: 0.05)
            } while !isStopping.load(ordering: .relaxed)
            let nanoseconds = unit.nanoseconds
            result.withLock { $0 = nanoseconds }
            done.signal()
        }
    }

    /// Stops the thread and returns the median of the samples in nanoseconds.
    func stop() -> Double {
        isStopping.store(true, ordering: .relaxed)
        done.wait()
        return result.withLock { $0 } ?? .nan
    }
}
