import CCurl
import Glibc
import MPinSecrets

/// HTTP/1.1 over libcurl. TLS certificates are verified, redirects are not followed, answers are not compressed, and
/// connections are kept for later requests.
package final class CurlTransport: HTTPTransport {
    private let policy: HTTPPolicy
    private let idle = Locked<[CurlHandle]>([])
    /// The largest number of idle handles that are kept.
    private static let maxIdle = 8

    package init(policy: HTTPPolicy = HTTPPolicy()) { self.policy = policy }

    package func execute(
        _ request: HTTPRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(HTTPFailure) -> HTTPResponse {
        let url = try policy.checked(request.url)
        guard request.isWellFormed else { throw .invalidRequest }
        guard !isCancelled() else { throw .cancelled }
        if let refusal = url.refusal(request.reach) { throw refusal }
        let proxy = ProxyChoice.proxy(for: url, configured: policy.proxy)
        // With a proxy, libcurl connects to the proxy and does not know the server's address, so the gate allows all
        // addresses.
        let gate = SocketGate(reach: proxy == nil ? request.reach : nil)
        let handle = try takeHandle(request.reach)
        defer { giveBack(handle) }
        let exchange = Exchange(limit: policy.maxAnswerBytes)
        prepare(handle, request.cString(url.text), proxy)
        gate.attach(to: handle)
        let outcome = perform(request, handle, exchange, isCancelled)
        withExtendedLifetime(gate) {}
        if proxy == nil { handle.addresses.formUnion(gate.opened) }
        if case .failed = outcome, let refused = gate.refused { throw .forbiddenAddress(url.origin, refused) }
        return try exchange.answer(outcome, handle, origin: url.origin, isDirect: proxy == nil)
    }

    private func perform(
        _ request: HTTPRequest, _ handle: CurlHandle, _ exchange: Exchange, _ isCancelled: () -> Bool
    ) -> CurlHandle.Outcome {
        // If a kept connection turns out to be dead, libcurl repeats the request on a new one, although the server may
        // have received it. On a new connection libcurl never repeats a request.
        if !request.mayRepeat { handle.set(CURLOPT_FRESH_CONNECT, 1) }
        let lines = HeaderList(request.headers + [("Expect", "")], request.secretHeaders)
        handle.set(CURLOPT_HTTPHEADER, pointer: lines.first)
        exchange.attach(to: handle)
        defer { withExtendedLifetime(lines) {} }
        var outcome = CurlHandle.Outcome.cancelled
        request.withBody { body in
            setMethod(request.method, body, handle)
            outcome = handle.run(until: request.deadline, isCancelled: isCancelled)
        }
        return outcome
    }

    /// Sets the options that do not depend on the body. `url` is a C string, which libcurl copies.
    private func prepare(_ handle: CurlHandle, _ url: SecretBytes, _ proxy: String?) {
        handle.reset()
        handle.require(mpin_curl_set_http_only(handle.easy))
        url.span.withUnsafeBufferPointer { text in
            handle.set(CURLOPT_URL, pointer: UnsafeMutableRawPointer(mutating: text.baseAddress))
        }
        handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        handle.set(CURLOPT_FOLLOWLOCATION, 0)
        if let agent = policy.userAgent { handle.set(CURLOPT_USERAGENT, agent) }
        handle.trust(policy.caFile)
        if let keys = policy.pinnedKeys { handle.set(CURLOPT_PINNEDPUBLICKEY, keys) }
        // Both options are always set, so that libcurl does not take a proxy from the environment. `ProxyChoice` has
        // already decided which proxy to use, if any.
        handle.set(CURLOPT_PROXY, proxy ?? "")
        handle.set(CURLOPT_NOPROXY, "")
    }

    private func setMethod(
        _ method: HTTPRequest.Method, _ body: UnsafeBufferPointer<UInt8>, _ handle: CurlHandle
    ) {
        guard method != .get else { return handle.set(CURLOPT_HTTPGET, 1) }
        handle.set(CURLOPT_POST, 1)
        handle.set(CURLOPT_POSTFIELDSIZE, body.count)
        if let base = body.baseAddress {
            handle.set(CURLOPT_POSTFIELDS, pointer: UnsafeMutableRawPointer(mutating: base))
        } else {
            handle.set(CURLOPT_COPYPOSTFIELDS, "")
        }
        if method != .post { handle.set(CURLOPT_CUSTOMREQUEST, method.rawValue) }
    }

    /// Returns a kept handle, or a new one if none is suitable. A handle is not suitable if one of its connections
    /// leads outside `reach`.
    private func takeHandle(_ reach: Set<AddressClass>?) throws(HTTPFailure) -> CurlHandle {
        let kept = idle.withLock { idle -> CurlHandle? in
            let fitting = idle.lastIndex { handle in reach.map { handle.addresses.isSubset(of: $0) } ?? true }
            return fitting.map { idle.remove(at: $0) }
        }
        if let kept, kept.process == getpid() { return kept }
        do throws(CurlHandle.Unavailable) {
            return try CurlHandle()
        } catch { throw error == .noLibrary ? .unavailable(error.rawValue) : .network(error.rawValue) }
    }

    private func giveBack(_ handle: CurlHandle) {
        // The options are cleared, because they contain pointers to memory of the finished request.
        handle.reset()
        idle.withLock { idle in
            // The oldest handle is removed, because a newer one is more likely to suit the next request.
            if idle.count >= Self.maxIdle { idle.removeFirst() }
            idle.append(handle)
        }
    }
}

extension HTTPRequest {
    /// Whether the headers have no control characters and their names are tokens (RFC 9110 section 5.6.2), and a GET
    /// has no body.
    fileprivate var isWellFormed: Bool {
        guard method != .get || body == nil else { return false }
        return headers.allSatisfy { name, value in HeaderField.isName(name) && HeaderField.isValue(value) }
            && secretHeaders.allSatisfy { name, value in HeaderField.isName(name) && HeaderField.isValue(value) }
    }
}

/// Owns the header lines in libcurl's list format. libcurl copies the lines, and wipes its copies when it frees them.
private final class HeaderList {
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    init(_ headers: [(String, String)], _ secretHeaders: [(String, SecretBytes)]) {
        // libcurl sends a header with an empty value if it is written as "Name;". "Expect:" suppresses the header that
        // libcurl would add itself.
        for (name, value) in headers {
            let line = value.isEmpty ? (name == "Expect" ? "Expect:" : "\(name);") : "\(name): \(value)"
            first = mpin_curl_slist_append(first, line) ?? first
        }
        for (name, value) in secretHeaders {
            let line = SecretBytes(joining: [SecretBytes(utf8: "\(name): "), value, SecretBytes(count: 1)])
            first = line.span.withUnsafeBufferPointer { line in
                line.withMemoryRebound(to: CChar.self) { mpin_curl_slist_append(first, $0.baseAddress) ?? first }
            }
        }
    }

    deinit { mpin_curl_slist_free_all(first) }
}
