import MPinSecrets

/// A structure that the library fills for a C caller. Its first member is the size that the structure has in the
/// caller's version of the header. The library fills separate memory, which is copied to the caller's structure when
/// the whole call has succeeded.
///
/// The caller may have been compiled with another version of the header. Members beyond the end of a shorter structure
/// are left out. Members of a longer structure that this version does not know become zero.
struct StructureOutput<Structure: BitwiseCopyable>: ~Copyable {
    private let target: UnsafeMutableRawPointer
    /// The size of the caller's structure in bytes.
    private let size: Int
    private let room: UnsafeMutableBufferPointer<UInt8>
    /// The end of the last member that was set, in bytes from the beginning.
    private var known = MemoryLayout<Int>.size
    private var fits = true

    /// Prepares the output for the caller's structure `target`. Nil for NULL and for a size that no version of the
    /// structure has.
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

    /// Sets a member that is an array of bytes. If `bytes` does not have exactly its size, ``handOver()`` will fail.
    mutating func set<Array>(_ member: KeyPath<Structure, Array>, bytes: Span<UInt8>) {
        guard let place = place(member) else { return }
        guard bytes.count == place.count else { return fits = false }
        for index in bytes.indices { place[index] = bytes[index] }
    }

    /// Sets the beginning of a member that is an array of bytes; the rest is zero. If `bytes` is longer than the member,
    /// ``handOver()`` will fail.
    mutating func set<Array>(_ member: KeyPath<Structure, Array>, start bytes: Span<UInt8>) {
        guard let place = place(member) else { return }
        guard bytes.count <= place.count else { return fits = false }
        for index in bytes.indices { place[index] = bytes[index] }
    }

    /// Sets a text and its NUL. If the text is too long, ``handOver()`` will fail.
    mutating func set<Array>(_ member: KeyPath<Structure, Array>, text: String) {
        guard let place = place(member) else { return }
        // A text with a NUL inside is refused as well, because C would read only its beginning.
        guard text.utf8.count < place.count, !text.utf8.contains(0) else { return fits = false }
        _ = place.update(fromContentsOf: text.utf8)
    }

    /// Sets a text, cut at a character boundary if it is too long.
    mutating func set<Array>(_ member: KeyPath<Structure, Array>, cutText text: String) {
        var room = MemoryLayout<Array>.size - 1
        let cut = text.unicodeScalars.lazy.filter { $0 != "\0" }.prefix { scalar in
            room -= UTF8.width(scalar)
            return room >= 0
        }
        set(member, text: String(String.UnicodeScalarView(cut)))
    }

    /// Writes the caller's structure. False, with nothing written, if a value did not fit into its member.
    func handOver() -> Bool {
        guard fits, let source = room.baseAddress else { return false }
        let start = MemoryLayout<Int>.size
        (target + start).copyMemory(from: source + start, byteCount: known - start)
        (target + known).initializeMemory(as: UInt8.self, repeating: 0, count: size - known)
        return true
    }

    /// The memory of the member. Nil if it is outside of the caller's structure.
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
