import CCurl
import Glibc

/// A libcurl handle with its open connections. Only one thread may use it at a time.
final class CurlHandle: @unchecked Sendable {
    let easy: UnsafeMutableRawPointer
    private let multi: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    /// The error code of the first option that libcurl has refused since the last reset; nil if there was none. A
    /// request must not be sent without all of its options, for example without its key pin or CA file.
    private var refusal: CURLcode?
    /// The classes of the addresses to which the handle's open connections lead.
    var addresses: Set<AddressClass> = []
    /// The process that made the handle. After a fork, the connections belong to the parent.
    let process = getpid()

    /// How a transfer ended.
    enum Outcome {
        case done
        case timedOut
        case cancelled
        case failed(CURLcode, text: String)
    }

    /// Why a handle could not be made.
    enum Unavailable: String, Error {
        case noLibrary = "libcurl.so.4 is not installed: install it or set the HTTP callback"
        case noMemory = "libcurl has no memory"
    }

    init() throws(Unavailable) {
        guard mpin_curl_is_available() == 1 else { throw .noLibrary }
        guard let easy = mpin_curl_easy_init() else { throw .noMemory }
        guard let multi = mpin_curl_multi_init() else {
            mpin_curl_easy_cleanup(easy)
            throw .noMemory
        }
        self.easy = easy
        self.multi = multi
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        // In a forked child, the handle is not closed: closing a TLS connection would write to the parent's
        // connection.
        guard process == getpid() else { return }
        mpin_curl_easy_cleanup(easy)
        mpin_curl_multi_cleanup(multi)
        errorText.deallocate()
    }

    /// Clears every option. The connections stay open.
    func reset() {
        mpin_curl_easy_reset(easy)
        refusal = nil
        errorText.update(repeating: 0, count: Int(CURL_ERROR_SIZE))
        set(CURLOPT_ERRORBUFFER, pointer: errorText)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        mpin_curl_set_quick_exit(easy)
    }

    func set(_ option: CURLoption, _ value: Int) { require(mpin_curl_set_long(easy, option, value)) }
    func set(_ option: CURLoption, _ value: String) { require(mpin_curl_set_string(easy, option, value)) }
    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
        require(mpin_curl_set_pointer(easy, option, pointer))
    }

    /// Records the result of setting an option. After an error, ``run(until:isCancelled:)`` fails.
    func require(_ code: CURLcode) {
        if code != CURLE_OK, refusal == nil { refusal = code }
    }

    /// Trusts only the certificate authorities in `file`; nil means those of the system.
    func trust(_ file: String?) {
        guard let file else { return }
        set(CURLOPT_CAINFO, file)
        set(CURLOPT_CAPATH, pointer: nil)
    }

    /// The class of the server's address in the last transfer; nil if there was no connection.
    var peer: AddressClass? {
        mpin_curl_get_primary_ip(easy).flatMap { AddressClass(host: String(cString: $0).lowercased()) }
    }

    /// Runs the transfer that the options describe. Calls `isCancelled` every 50 ms, because libcurl's own loop would
    /// call back only once a second.
    func run(until deadline: Deadline, isCancelled: () -> Bool) -> Outcome {
        if let refusal { return failure(refusal) }
        guard mpin_curl_multi_add_handle(multi, easy) == CURLM_OK else { return failure(CURLE_FAILED_INIT) }
        defer { mpin_curl_multi_remove_handle(multi, easy) }
        let pipe = BrokenPipeSignal()
        defer { pipe.restore() }
        while true {
            var running: Int32 = 0
            guard mpin_curl_multi_perform(multi, &running) == CURLM_OK else { return failure(CURLE_RECV_ERROR) }
            if running == 0 { return result() }
            if isCancelled() { return .cancelled }
            let left = deadline.remainingMilliseconds()
            guard left > 0 else { return .timedOut }
            guard mpin_curl_multi_poll(multi, Int32(min(left, 50))) == CURLM_OK else {
                return failure(CURLE_RECV_ERROR)
            }
        }
    }

    private func result() -> Outcome {
        let code = mpin_curl_multi_result(multi)
        return code == CURLE_OK ? .done : failure(code)
    }

    /// Advice for an error that the user can solve; nil for any other error.
    private static func hint(_ code: CURLcode) -> String? {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION: "certificate not trusted: name its authority by ca_file, --ca-file"
        case CURLE_SSL_CACERT_BADFILE: "the file of authorities (ca_file, --ca-file) cannot be read"
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: "the server's key is none of the pinned ones"
        default: nil
        }
    }

    private func failure(_ code: CURLcode) -> Outcome {
        let detail = String(cString: errorText)
        let reason = detail.isEmpty ? String(cString: mpin_curl_easy_strerror(code)) : detail
        return .failed(code, text: Self.hint(code).map { "\($0) (\(reason))" } ?? reason)
    }
}

/// Blocks SIGPIPE in this thread until ``restore()``. With CURLOPT_NOSIGNAL, libcurl does not prevent this signal when
/// TLS writes to a closed connection, and the signal would end the host process.
private struct BrokenPipeSignal {
    private var signal = sigset_t()
    private var former = sigset_t()
    private let wasPending: Bool

    init() {
        var pending = sigset_t()
        sigemptyset(&signal)
        sigaddset(&signal, SIGPIPE)
        sigpending(&pending)
        wasPending = sigismember(&pending, SIGPIPE) == 1
        pthread_sigmask(SIG_BLOCK, &signal, &former)
    }

    func restore() {
        var (signal, former, zero) = (signal, former, timespec())
        if !wasPending { while sigtimedwait(&signal, nil, &zero) == -1 && errno == EINTR {} }
        pthread_sigmask(SIG_SETMASK, &former, nil)
    }
}
