import MPinSecrets

/// A structure of outputs, which begins with its size as the caller was compiled. It is filled aside and handed over
/// when the whole call has succeeded.
///
/// The caller may have been compiled against another version of the header: what lies outside a shorter structure is
/// left out, and what a longer one has in addition becomes zero.
struct StructureOutput<Structure: BitwiseCopyable>: ~Copyable {
    private let target: UnsafeMutableRawPointer
    /// Bytes that the caller has.
    private let size: Int
    private let room: UnsafeMutableBufferPointer<UInt8>
    /// The end of the last member that was set.
    private var known = MemoryLayout<Int>.size
    private var fits = true

    /// Nil for NULL and for a size that no version of the structure has.
    init?(_ target: UnsafeMutablePointer<Structure>?) {
        guard let target = UnsafeMutableRawPointer(target) else { return nil }
        let size = target.load(as: Int.self)
        guard size >= 2 * MemoryLayout<Int>.size, size <= 1 << 16 else { return nil }
        self.target = target
        self.size = size
        room = .allocate(capacity: MemoryLayout<Structure>.size)
        room.initialize(repeating: 0)
    }

    /// Sets a number.
    mutating func set<Number: FixedWidthInteger & BitwiseCopyable>(
        _ member: KeyPath<Structure, Number>, _ number: Number
    ) {
        guard let place = place(member) else { return }
        UnsafeMutableRawBufferPointer(place).storeBytes(of: number, as: Number.self)
    }

    /// Sets bytes; others than the array has do not fit.
    mutating func set<Array>(_ member: KeyPath<Structure, Array>, bytes: Span<UInt8>) {
        guard let place = place(member) else { return }
        guard bytes.count == place.count else { return fits = false }
        for index in bytes.indices { place[index] = bytes[index] }
    }

    /// Sets a text and its NUL; one that is too long does not fit.
    mutating func set<Array>(_ member: KeyPath<Structure, Array>, text: String) {
        guard let place = place(member) else { return }
        // A NUL within would cut the text.
        guard text.utf8.count < place.count, !text.utf8.contains(0) else { return fits = false }
        _ = place.update(fromContentsOf: text.utf8)
    }

    /// Sets as much of a text as there is room for, in whole characters.
    mutating func set<Array>(_ member: KeyPath<Structure, Array>, cutText text: String) {
        var room = MemoryLayout<Array>.size - 1
        let cut = text.unicodeScalars.lazy.filter { $0 != "\0" }.prefix { scalar in
            room -= UTF8.width(scalar)
            return room >= 0
        }
        set(member, text: String(String.UnicodeScalarView(cut)))
    }

    /// Writes the caller's structure; false, with nothing written, where something does not fit.
    func handOver() -> Bool {
        guard fits, let source = room.baseAddress else { return false }
        let start = MemoryLayout<Int>.size
        (target + start).copyMemory(from: source + start, byteCount: known - start)
        (target + known).initializeMemory(as: UInt8.self, repeating: 0, count: size - known)
        return true
    }

    /// Where the member lies; nil outside of the caller's structure.
    private mutating func place<Member>(_ member: KeyPath<Structure, Member>) -> UnsafeMutableBufferPointer<UInt8>? {
        guard let offset = MemoryLayout<Structure>.offset(of: member), offset + MemoryLayout<Member>.size <= size else {
            return nil
        }
        known = max(known, offset + MemoryLayout<Member>.size)
        return UnsafeMutableBufferPointer(rebasing: room[offset..<offset + MemoryLayout<Member>.size])
    }

    deinit {
        let room = room
        var bytes = room.mutableSpan
        wipe(&bytes)
        room.deallocate()
    }
}
