import CCurl
import Glibc

/// Opens libcurl's sockets, and none to an address that the request may not reach: after the lookup, so that no name can
/// stand for such an address.
final class SocketGate {
    private let reach: Set<AddressClass>?
    /// Of the sockets that were opened.
    private(set) var opened: Set<AddressClass> = []
    /// Of the first address that was refused.
    private(set) var refused: AddressClass?

    /// `reach` nil: every address.
    init(reach: Set<AddressClass>?) { self.reach = reach }

    /// Lets the session call this object; it must live until the session has run.
    func attach(to session: CurlSession) {
        session.set(CURLOPT_OPENSOCKETDATA, pointer: Unmanaged.passUnretained(self).toOpaque())
        session.require(
            mpin_curl_set_socket_callback(session.easy) { context, _, address in
                guard let context, let address else { return mpin_curl_socket_bad }
                return Unmanaged<SocketGate>.fromOpaque(context).takeUnretainedValue().open(address)
            })
    }

    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let (family, type, number) = (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        // In place: libcurl's address is longer than the type of the member that begins it.
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
