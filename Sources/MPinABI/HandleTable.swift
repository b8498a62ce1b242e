// Handles are keys, never addresses, so that a wrong one is refused instead of followed.

import MPinHTTP

/// What a handle stands for; part of the key, so that a handle of one kind is foreign to the others.
enum HandleKind: UInt64 {
    case sdk = 1
    case user = 2
    case serverContext = 3
    case httpResponse = 4
    case storageData = 5
}

/// The objects of one kind that C holds.
///
/// A key is 64 bits: 1, the kind (3 bits), the slot's generation (32), the slot (28). The first bit is that of no
/// address in user space, so a pointer to something else is never taken for a key; the generation grows whenever a
/// slot is freed, so neither is a handle that was freed. A slot whose generations are used up is never used again.
final class HandleTable<Object: AnyObject & Sendable>: Sendable {
    private struct Slot {
        var generation: UInt64 = 0
        var object: Object?
    }

    private struct Slots {
        var all: [Slot] = []
        var free: [Int] = []
    }

    private static var slotBits: UInt64 { 28 }
    private static var slotMask: UInt64 { (1 << slotBits) - 1 }
    private static var lastGeneration: UInt64 { (1 << 32) - 1 }

    private let prefix: UInt64
    private let slots = Locked(Slots())

    init(_ kind: HandleKind) {
        prefix = 1 << 63 | kind.rawValue << 60
    }

    /// A new handle; nil if 2^28 handles are in use.
    func insert(_ object: Object) -> OpaquePointer? {
        slots.withLock { slots in
            if slots.free.isEmpty {
                guard slots.all.count <= Int(Self.slotMask) else { return nil }
                slots.free.append(slots.all.count)
                slots.all.append(Slot())
            }
            let index = slots.free.removeLast()
            slots.all[index].object = object
            return handle(index, slots.all[index].generation)
        }
    }

    /// What the handle stands for; nil for NULL and for a stale or foreign handle.
    func object(_ handle: OpaquePointer?) -> Object? {
        slots.withLock { slots in index(handle, in: slots).flatMap { slots.all[$0].object } }
    }

    /// Makes the handle stale and returns what it stood for.
    func remove(_ handle: OpaquePointer?) -> Object? {
        slots.withLock { slots in
            guard let index = index(handle, in: slots), let object = slots.all[index].object else { return nil }
            slots.all[index].object = nil
            if slots.all[index].generation < Self.lastGeneration {
                slots.all[index].generation += 1
                slots.free.append(index)
            }
            return object
        }
    }

    private func handle(_ index: Int, _ generation: UInt64) -> OpaquePointer? {
        OpaquePointer(bitPattern: UInt(prefix | generation << Self.slotBits | UInt64(index)))
    }

    private func index(_ handle: OpaquePointer?, in slots: borrowing Slots) -> Int? {
        let key = UInt64(UInt(bitPattern: handle))
        let index = Int(key & Self.slotMask)
        guard key & (0xF << 60) == prefix, index < slots.all.count,
            slots.all[index].generation == key >> Self.slotBits & Self.lastGeneration
        else { return nil }
        return index
    }
}
