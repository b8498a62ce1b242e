import Foundation
import Synchronization

/// Runs `work` for 0..<count on as many threads at once; a failure leaves its place out.
func parallel<T: Sendable>(_ count: Int, _ work: @escaping @Sendable (Int) throws -> T) -> [T] {
    let results = Mutex<[T]>([])
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        Thread.detachNewThread {
            if let result = try? work(index) { results.withLock { $0.append(result) } }
            group.leave()
        }
    }
    group.wait()
    return results.withLock { $0 }
}

func parallel<T: Sendable>(_ count: Int, _ work: @escaping @Sendable () throws -> T) -> [T] {
    parallel(count) { _ in try work() }
}
