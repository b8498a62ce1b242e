import Foundation
import Synchronization

/// Runs `work` for each number from 0 to count - 1, each in its own thread. Returns the results of those that did not
/// fail.
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

/// A counter for several threads.
final class Count: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add() { count.withLock { $0 += 1 } }

    /// Waits until the counter has reached `wanted`, or until the time is over.
    func wait(for wanted: Int, seconds: Double = 60) {
        let end = Date(timeIntervalSinceNow: seconds)
        while count.withLock({ $0 }) < wanted, Date() < end { usleep(1_000) }
    }
}

func parallel<T: Sendable>(_ count: Int, _ work: @escaping @Sendable () throws -> T) -> [T] {
    parallel(count) { _ in try work() }
}

/// Runs asynchronous work in a test that is not asynchronous, and returns its result.
func finish<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) throws -> T {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Result<T, any Error>?>(nil)
    Task {
        do {
            let value = try await work()
            result.withLock { $0 = .success(value) }
        } catch { result.withLock { $0 = .failure(error) } }
        done.signal()
    }
    done.wait()
    guard let result = result.withLock({ $0 }) else { throw Sockets.Failure(text: "no result") }
    return try result.get()
}
