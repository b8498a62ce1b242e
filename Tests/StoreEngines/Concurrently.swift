/// Runs `work` for each number from 0 to count - 1, all at the same time, each in its own task. Returns the results.
@discardableResult
package func concurrently<T: Sendable>(
    _ count: Int, _ work: @escaping @Sendable (Int) async throws -> T
) async throws -> [T] {
    try await withThrowingTaskGroup(of: T.self) { group in
        for index in 0..<count { group.addTask { try await work(index) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
