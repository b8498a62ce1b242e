/// The kinds of objects for which JavaScript holds handles.
enum HandleKind { case serverContext }

/// The table of handles in a module, which has one thread and addresses of 32 bits. A handle is the index of an object
/// plus one, so NULL is none, and an index is never used again.
final class HandleTable<Object: AnyObject & Sendable>: @unchecked Sendable {
    private var objects: [Object?] = []

    /// A module has no child processes, so `survivesForks` means nothing here.
    init(_ kind: HandleKind, survivesForks: Bool) {}

    /// Adds an object and returns its new handle.
    func insert(_ object: Object) -> OpaquePointer? {
        objects.append(object)
        return OpaquePointer(bitPattern: objects.count)
    }

    /// The object of the handle. Nil for an invalid handle.
    func object(_ handle: OpaquePointer?) -> Object? {
        index(handle).flatMap { objects[$0] }
    }

    /// Invalidates the handle and returns its object. Nil for an invalid handle.
    func remove(_ handle: OpaquePointer?) -> Object? {
        guard let index = index(handle) else { return nil }
        defer { objects[index] = nil }
        return objects[index]
    }

    private func index(_ handle: OpaquePointer?) -> Int? {
        let index = Int(bitPattern: handle) &- 1
        return objects.indices.contains(index) ? index : nil
    }
}
