import CCurl
import Glibc

/// Opens libcurl's sockets and refuses addresses that the request must not reach. The check comes after the name
/// lookup, so a host name cannot be used to reach such an address.
final class SocketGate {
    private let reach: Set<AddressClass>?
    /// The classes of the addresses for which sockets were opened.
    private(set) var opened: Set<AddressClass> = []
    /// The class of the first address that was refused.
    private(set) var refused: AddressClass?

    /// Allows the address classes in `reach`; nil means all.
    init(reach: Set<AddressClass>?) { self.reach = reach }

    /// Makes this object the target of the handle's socket callback. This object must live until the handle has run.
    func attach(to handle: CurlHandle) {
        handle.set(CURLOPT_OPENSOCKETDATA, pointer: Unmanaged.passUnretained(self).toOpaque())
        handle.require(
            mpin_curl_set_socket_callback(handle.easy) { context, _, address in
                guard let context, let address else { return mpin_curl_socket_bad }
                return Unmanaged<SocketGate>.fromOpaque(context).takeUnretainedValue().open(address)
            })
    }

    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let (family, type, number) = (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        // The pointer is computed by offset: libcurl's address is longer than the declared type of its member `addr`.
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return mpin_curl_socket_bad }
        let kind = AddressClass((UnsafeRawPointer(address) + offset).assumingMemoryBound(to: sockaddr.self))
        if let reach {
            guard let kind, reach.contains(kind) else {
                refused = refused ?? kind ?? .special
                return mpin_curl_socket_bad
            }
        }
        if let kind { opened.insert(kind) }
        return socket(family, type | Int32(SOCK_CLOEXEC.rawValue), number)
    }
}
