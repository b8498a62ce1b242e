/// Why a store does not do what it is asked for.
package enum StoreError: Error, CustomStringConvertible {
    /// It cannot be opened by this program. For a person, without the name of the store.
    case unusable(String)

    package var description: String {
        switch self {
        case .unusable(let reason): reason
        }
    }
}
