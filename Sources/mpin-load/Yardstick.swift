import CGMP
import Foundation
import Synchronization

/// An operation with a known cost. It is timed repeatedly while the load runs, so that a slower machine slows down both
/// measurements.
struct Yardstick: Sendable {
    /// How often the operation runs in one sample.
    let times: Int
    /// Prepares the operation. The result runs it once.
    let prepare: @Sendable () throws -> () -> Void

    /// U, the unit of cost: one product of 4x4 limbs by GMP's `mpn_sec_mul`.
    static let unit = Yardstick(times: 20_000) {
        var limbs = (0..<16).map { 0x9E37_79B9_7F4A_7C15 &* UInt($0 + 1) }
        return {
            limbs.withUnsafeMutableBufferPointer { buffer in
                guard let start = buffer.baseAddress else { return }
                __gmpn_sec_mul(start + 8, start, 4, start + 4, 4, nil)
            }
        }
    }
}

/// Takes samples of a ``Yardstick`` on its own thread until it is stopped.
final class Sampler: Sendable {
    private let isStopping = Atomic(false)
    private let result = Mutex<Double?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ yardstick: Yardstick) {
        Thread.detachNewThread { [self] in
            var samples: [Double] = []
            if let operation = try? yardstick.prepare() {
                repeat {
                    samples.append(Self.nanoseconds(of: operation, times: yardstick.times))
                    Thread.sleep(forTimeInterval: 0.05)
                } while !isStopping.load(ordering: .relaxed)
            }
            let median = samples.isEmpty ? nil : samples.sorted()[samples.count / 2]
            result.withLock { $0 = median }
            done.signal()
        }
    }

    /// Stops the thread. Returns the median time of the operation in nanoseconds.
    func stop() -> Double {
        isStopping.store(true, ordering: .relaxed)
        done.wait()
        return result.withLock { $0 } ?? .nan
    }

    private static func nanoseconds(of operation: () -> Void, times: Int) -> Double {
        let start = threadTime()
        for _ in 0..<times { operation() }
        return (threadTime() - start) / Double(times)
    }

    /// The processor time of this thread in nanoseconds.
    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
