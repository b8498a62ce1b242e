import CJansson
import Glibc

/// The memory that jansson frees, wiped: of values, and of what its parser has copied on the way to them.
enum JSONMemory {
    /// To be asked for before jansson is. Its functions are the whole process's: they are replaced only while they are
    /// plain `malloc` and `free`, so that those of a program are kept and what anybody has got from jansson stays good.
    static let isWiped: Bool = {
        var allocate: json_malloc_t?
        var release: json_free_t?
        json_get_alloc_funcs(&allocate, &release)
        let plain: (json_malloc_t, json_free_t) = (malloc, free)
        guard address(allocate) == address(plain.0), address(release) == address(plain.1) else { return false }
        json_set_alloc_funcs(plain.0) { block in
            if let block { explicit_bzero(block, malloc_usable_size(block)) }
            free(block)
        }
        return true
    }()

    private static func address<Function>(_ function: Function?) -> UnsafeRawPointer? {
        function.map { unsafeBitCast($0, to: UnsafeRawPointer.self) }
    }
}
