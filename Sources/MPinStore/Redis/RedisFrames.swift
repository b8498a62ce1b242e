/// Follows the lengths in what a server sends, before anything is made of it (Redis serialization protocol, version 2). A
/// server that has gone wrong, or somebody in its place, can announce billions of elements or bytes, for which memory
/// would be taken and a caller would wait.
struct RedisFrames {
    /// More than any answer to our commands has: the largest are 500 items or names at once (``RedisStore``), and a server
    /// may find more names than it was asked for.
    private static let mostElements = 1 << 16
    private static let mostBytes = 1 << 26
    /// An answer has arrays in an array at most.
    private static let mostDepth = 4
    /// The most bytes of a line: a length, a number, a status or an error.
    private static let mostLineBytes = 1 << 12

    /// The beginning of a line whose end has not come.
    private var line: [UInt8] = []
    /// How many bytes of a text, and of the line end after it, are still to come.
    private var textBytes = 0
    /// How many elements of each array are still to come, the outermost first.
    private var missing: [Int] = []
    /// Of the reply that is under way.
    private var elements = 0
    private var bytes = 0

    /// Looks at the next bytes. False if a length is larger than that of any answer that was asked for, or if this is not
    /// Redis's protocol.
    mutating func accept(_ received: UnsafeRawBufferPointer) -> Bool {
        var rest = received[...]
        while !rest.isEmpty {
            if textBytes > 0 {
                let part = rest.prefix(textBytes)
                textBytes -= part.count
                rest = rest.dropFirst(part.count)
                if textBytes == 0 { end() }
                continue
            }
            let part = rest.prefix { $0 != UInt8(ascii: "\n") }
            guard line.count + part.count <= Self.mostLineBytes else { return false }
            line += part
            rest = rest.dropFirst(part.count)
            guard rest.popFirst() != nil else { return true }
            guard line.popLast() == UInt8(ascii: "\r"), begin() else { return false }
            line.removeAll(keepingCapacity: true)
        }
        return true
    }

    /// Takes a whole line, which begins a reply or an element.
    private mutating func begin() -> Bool {
        switch line.first {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ":"): end()
        case UInt8(ascii: "$"):
            guard let count = length(atMost: Self.mostBytes - bytes) else { return false }
            guard count >= 0 else {
                end()
                return true
            }
            bytes += count
            textBytes = count + 2
        case UInt8(ascii: "*"):
            guard let count = length(atMost: Self.mostElements - elements), missing.count < Self.mostDepth else {
                return false
            }
            elements += max(count, 0)
            if count > 0 { missing.append(count) } else { end() }
        default: return false
        }
        return true
    }

    /// The number in the line; -1 stands for something that does not exist.
    private func length(atMost most: Int) -> Int? {
        guard let count = Int(String(decoding: line.dropFirst(), as: UTF8.self)), -1 <= count, count <= most else {
            return nil
        }
        return count
    }

    /// An element is whole, and with the last one of an array the array, too.
    private mutating func end() {
        while let left = missing.popLast() {
            guard left == 1 else {
                missing.append(left - 1)
                return
            }
        }
        (elements, bytes) = (0, 0)
    }
}
