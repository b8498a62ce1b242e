/// How many of something are there, in all and by caller.
struct CallerCounts {
    private(set) var all = 0
    private var byCaller: [IPAddress: Int] = [:]

    /// Counts one more; false where there are `most` already, or `mostOfOne` of that caller. A caller that is nil, or a
    /// proxy that brings many, has no limit of its own.
    mutating func enter(_ caller: IPAddress?, most: Int, mostOfOne: Int) -> Bool {
        guard all < most else { return false }
        if let caller {
            guard byCaller[caller, default: 0] < mostOfOne else { return false }
            byCaller[caller, default: 0] += 1
        }
        all += 1
        return true
    }

    mutating func leave(_ caller: IPAddress?) {
        all -= 1
        guard let caller, let count = byCaller[caller] else { return }
        byCaller[caller] = count > 1 ? count - 1 : nil
    }
}
