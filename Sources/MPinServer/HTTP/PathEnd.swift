import Hummingbird

/// The last two words of a request's path. They tell what kind of request it is, whatever the prefix of the RPS. A
/// slash at the end is ignored, as the router ignores it.
struct PathEnd {
    /// Nil if the path has only one word.
    let secondLast: Substring?
    /// Nil if the path has no word.
    let last: Substring?

    init(_ path: String) {
        var rest = path[...]
        last = Self.takeLast(&rest)
        secondLast = Self.takeLast(&rest)
    }

    /// Cuts off the last word and the slashes around it, and returns the word.
    private static func takeLast(_ path: inout Substring) -> Substring? {
        let slash = UInt8(ascii: "/")
        guard let end = path.utf8.lastIndex(where: { $0 != slash }) else { return nil }
        let words = path[...end]
        let start = words.utf8.lastIndex(of: slash).map { words.utf8.index(after: $0) } ?? words.startIndex
        path = words[..<start]
        return words[start...]
    }
}

extension Request {
    var pathEnd: PathEnd { PathEnd(uri.path) }
}
