import Synchronization

/// Lets those changes of this process that share a key run one after the other, so that they do not make each other
/// start again.
final class KeyLocks: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    /// The keys that are in use, and who waits for each.
    private let waiting = Mutex<[ItemKey: [Waiter]]>([:])

    /// Calls `body` when nobody else uses one of the keys. They must be in order (``ItemKey/inOrder(_:)``), so that no two
    /// callers wait for each other.
    func withLocks<Result: Sendable>(
        _ keys: [ItemKey], _ body: () async throws -> Result
    ) async throws -> Result {
        for key in keys { await lock(key) }
        defer { for key in keys { unlock(key) } }
        return try await body()
    }

    private func lock(_ key: ItemKey) async {
        await withCheckedContinuation { waiter in
            let isFree = waiting.withLock { waiting in
                guard waiting[key] != nil else {
                    waiting[key] = []
                    return true
                }
                waiting[key]?.append(waiter)
                return false
            }
            if isFree { waiter.resume() }
        }
    }

    /// Hands the key on to whoever has waited longest.
    private func unlock(_ key: ItemKey) {
        let next = waiting.withLock { waiting -> Waiter? in
            if waiting[key]?.isEmpty == false { return waiting[key]?.removeFirst() }
            waiting[key] = nil
            return nil
        }
        next?.resume()
    }
}
