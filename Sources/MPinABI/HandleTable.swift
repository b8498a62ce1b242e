// Handles are keys into a table and never addresses, so an invalid handle is detected and never dereferenced.

import MPinHTTP

/// The kind of object that a handle refers to. The kind is a part of the key, so that a handle of one kind is invalid
/// where another kind is expected.
enum HandleKind: UInt64 {
    case sdk = 1
    case user = 2
    case serverContext = 3
    case httpResponse = 4
    case storageData = 5
    case session = 7
}

/// The objects of one kind for which C code holds handles.
///
/// A key has 64 bits: the highest bit, which is 1, the kind (3 bits), the process (8 bits, ``Forks``), the slot's
/// generation (24 bits) and the slot's index (28 bits). The highest bit of an address in user space is 0, so a pointer to
/// something else is not a valid key. Freeing a slot increments its generation, so a freed handle is not a valid key
/// either. A slot whose generations are used up is not used again.
final class HandleTable<Object: AnyObject & Sendable>: Sendable {
    private struct Slot {
        var generation: UInt64 = 0
        var object: Object?
        /// ``Forks/generation`` when the object was added.
        var process: UInt64 = 0
    }

    private struct Slots {
        var all: [Slot] = []
        var free: [Int] = []
    }

    private static var slotBits: UInt64 { 28 }
    private static var slotMask: UInt64 { (1 << slotBits) - 1 }
    private static var lastGeneration: UInt64 { (1 << 24) - 1 }

    private let prefix: UInt64
    private let slots = Locked(Slots())
    private let survivesForks: Bool

    /// `survivesForks`: whether the objects never change and hold no lock, so that every child may use them.
    init(_ kind: HandleKind, survivesForks: Bool = false) {
        prefix = 1 << 63 | kind.rawValue << 60
        self.survivesForks = survivesForks
    }

    /// Adds an object and returns its new handle. Nil if 2^28 handles are in use, or if there is no memory.
    func insert(_ object: Object) -> OpaquePointer? {
        guard Forks.areSeen else { return nil }
        return slots.withLock { slots in
            if slots.free.isEmpty {
                guard slots.all.count <= Int(Self.slotMask) else { return nil }
                slots.free.append(slots.all.count)
                slots.all.append(Slot())
            }
            let index = slots.free.removeLast()
            slots.all[index].object = object
            slots.all[index].process = Forks.generation
            return handle(index, slots.all[index])
        }
    }

    /// The object of the handle. Nil for NULL, for a freed handle, for one of another kind, and for one of a parent whose
    /// objects this process may not use.
    func object(_ handle: OpaquePointer?) -> Object? {
        guard survivesForks || !Forks.isLost(handle) else { return nil }
        return slots.withLock { slots in index(handle, in: slots).flatMap { slots.all[$0].object } }
    }

    /// Invalidates the handle and returns its object. Nil for an invalid handle. An object of a parent stays where it
    /// is: to release it could wait for a thread that this process does not have.
    func remove(_ handle: OpaquePointer?) -> Object? {
        guard survivesForks || !Forks.isLost(handle) else { return nil }
        return slots.withLock { slots in
            guard let index = index(handle, in: slots), let object = slots.all[index].object else { return nil }
            slots.all[index].object = nil
            if slots.all[index].generation < Self.lastGeneration {
                slots.all[index].generation += 1
                slots.free.append(index)
            }
            return object
        }
    }

    private func handle(_ index: Int, _ slot: borrowing Slot) -> OpaquePointer? {
        let process = slot.process << Forks.shift
        return OpaquePointer(bitPattern: UInt(prefix | process | slot.generation << Self.slotBits | UInt64(index)))
    }

    private func index(_ handle: OpaquePointer?, in slots: borrowing Slots) -> Int? {
        let key = UInt64(UInt(bitPattern: handle))
        let index = Int(key & Self.slotMask)
        guard key & (0xF << 60) == prefix, index < slots.all.count,
            slots.all[index].generation == key >> Self.slotBits & Self.lastGeneration,
            slots.all[index].process == key >> Forks.shift & Forks.last
        else { return nil }
        return index
    }
}

extension HandleTable: WholeAtFork {
    func lock() { slots.lock() }
    func unlock() { slots.unlock() }
    func rehearse() { _ = (object(nil), remove(nil)) }
}
