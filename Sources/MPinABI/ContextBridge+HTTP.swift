// mpin.h: the answers that http_execute fills. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import Glibc
import MPinHTTP
import MPinSecrets

let answers = HandleTable<CallbackAnswer>(.httpResponse)

/// Sends requests through the program's http_execute.
struct CallbackTransport: HTTPTransport {
    let callbacks: Callbacks
    let policy: HTTPPolicy

    func execute(
        _ request: HTTPRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(HTTPFailure) -> HTTPResponse {
        if let refusal = policy.refusal(of: request.url) { throw refusal }
        guard !isCancelled() else { throw .cancelled }
        let left = UInt32(clamping: request.deadline.remainingMilliseconds())
        guard left > 0 else { throw .timedOut }
        let answer = CallbackAnswer(
            limit: policy.maxAnswerBytes, reach: request.reach, origin: request.origin, isCanceled: isCancelled)
        // The handle is valid only during the callback.
        guard let handle = answers.insert(answer) else { throw .network("too many requests at once") }
        let status = call(request, handle, left)
        _ = answers.remove(handle)
        return try answer.response(status, request.deadline)
    }

    private func call(_ request: HTTPRequest, _ handle: OpaquePointer, _ milliseconds: UInt32) -> mpin_status {
        guard let execute = callbacks.context.http_execute else { return MPIN_NETWORK_ERROR }
        let headers = TextList(
            request.headers.flatMap { [$0.0, $0.1] },
            secrets: request.secretHeaders.flatMap { [SecretBytes(utf8: $0.0), $0.1] })
        let method = TextList([request.method.rawValue])
        let url = request.cString(request.url)
        defer { withExtendedLifetime((headers, method, url)) {} }
        var status = MPIN_NETWORK_ERROR
        request.withBody { body in
            var view = mpin_http_request()
            view.size = MemoryLayout<mpin_http_request>.size
            view.method = method.first[0]
            view.url = url.span.withUnsafeBufferPointer { text in
                text.baseAddress.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) }
            }
            view.headers = UnsafePointer(headers.first)
            view.body = body.isEmpty ? nil : body.baseAddress
            view.body_len = body.count
            view.timeout_ms = milliseconds
            status = execute(callbacks.context.user, &view, handle)
        }
        return status
    }
}

/// An array of C strings that ends with NULL. The secret ones come after the others, and are wiped with the list.
private final class TextList {
    let first: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let count: Int
    private let secrets: [SecretBytes]

    init(_ strings: [String], secrets: [SecretBytes] = []) {
        count = strings.count
        self.secrets = secrets.map { SecretBytes(joining: [$0, SecretBytes(count: 1)]) }
        first = .allocate(capacity: count + secrets.count + 1)
        for (index, string) in strings.enumerated() { (first + index).initialize(to: strdup(string)) }
        for (index, secret) in self.secrets.enumerated() {
            let text = secret.span.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
            (first + count + index).initialize(to: text?.assumingMemoryBound(to: CChar.self))
        }
        (first + count + secrets.count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { free(UnsafeMutablePointer(mutating: first[index])) }
        first.deallocate()
    }
}

/// The answer as far as http_execute has filled it in.
final class CallbackAnswer: Sendable {
    private struct Content {
        var status = 0
        var headers: [(String, String)] = []
        var headerBytes = 0
        var isTooLarge = false
        /// `peer` is the class of the last address to which the program was allowed to connect. `refused` is the class
        /// of the first address that was refused to the program.
        var peer: AddressClass?
        var refused: AddressClass?
    }

    private let content = Locked(Content())
    private let body: Locked<WipedBuffer>
    private let limit: Int
    private let reach: Set<AddressClass>?
    private let origin: String
    let isCanceled: @Sendable () -> Bool

    init(limit: Int, reach: Set<AddressClass>?, origin: String, isCanceled: @escaping @Sendable () -> Bool) {
        self.limit = limit
        self.reach = reach
        self.origin = origin
        self.isCanceled = isCanceled
        body = Locked(WipedBuffer(limit: limit))
    }

    func mayConnect(_ kind: AddressClass) -> Bool {
        let isAllowed = reach?.contains(kind) ?? true
        content.withLock { content in
            if isAllowed { content.peer = kind } else { content.refused = content.refused ?? kind }
        }
        return isAllowed
    }

    func set(status: Int) { content.withLock { $0.status = status } }

    /// Adds a header. False if all headers together would then have more than `limit` bytes.
    func add(_ name: String, _ value: String) -> Bool {
        content.withLock { content in
            let size = name.utf8.count + value.utf8.count + 4
            guard size <= limit - content.headerBytes else {
                content.isTooLarge = true
                return false
            }
            content.headerBytes += size
            content.headers.append((name, value))
            return true
        }
    }

    /// Appends bytes to the body. False if the body would then have more than `limit` bytes.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if body.withLock({ $0.append(bytes) }) { return true }
        content.withLock { $0.isTooLarge = true }
        return false
    }

    /// Returns the answer, or throws why there is none. An answer that comes after the deadline counts as `timedOut`,
    /// because callers rely on the deadline.
    func response(_ status: mpin_status, _ deadline: Deadline) throws(HTTPFailure) -> HTTPResponse {
        let content = content.withLock { $0 }
        if status == MPIN_CANCELED || (status != MPIN_OK && isCanceled()) { throw .cancelled }
        if status == MPIN_TIMED_OUT || deadline.remainingMilliseconds() == 0 { throw .timedOut }
        if content.isTooLarge { throw .answerTooLarge }
        if status != MPIN_OK, let refused = content.refused { throw .forbiddenAddress(origin, refused) }
        guard status == MPIN_OK else { throw .network("the program's http_execute gave \(status)") }
        guard content.status != 0 else { throw .network("the program's http_execute set no HTTP status") }
        return HTTPResponse(
            status: content.status, headers: content.headers, body: body.withLock { $0.secret() }, peer: content.peer)
    }
}

@_cdecl("mpin_http_response_may_connect") @implementation
public func mpin_http_response_may_connect(
    _ response: OpaquePointer?, _ address: UnsafePointer<CChar>?, _ may_connect: UnsafeMutablePointer<Int32>?
) -> mpin_status {
    guard let answer = answers.object(response) else { return unusable(response) }
    guard let address = text(address), let kind = AddressClass(host: address.lowercased()), let may_connect else {
        return MPIN_INVALID_ARGUMENT
    }
    may_connect.pointee = answer.mayConnect(kind) ? 1 : 0
    return MPIN_OK
}

@_cdecl("mpin_http_response_set_status") @implementation
public func mpin_http_response_set_status(_ response: OpaquePointer?, _ status: Int32) -> mpin_status {
    guard let answer = answers.object(response) else { return unusable(response) }
    guard (100...599).contains(status) else { return MPIN_INVALID_ARGUMENT }
    answer.set(status: Int(status))
    return MPIN_OK
}

@_cdecl("mpin_http_response_add_header") @implementation
public func mpin_http_response_add_header(
    _ response: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> mpin_status {
    guard let answer = answers.object(response) else { return unusable(response) }
    guard let name = text(name), !name.isEmpty, let value else { return MPIN_INVALID_ARGUMENT }
    return answer.add(name, String(cString: value)) ? MPIN_OK : MPIN_INVALID_ARGUMENT
}

@_cdecl("mpin_http_response_append_body") @implementation
public func mpin_http_response_append_body(
    _ response: OpaquePointer?, _ bytes: UnsafePointer<UInt8>?, _ bytes_len: Int
) -> mpin_status {
    guard let answer = answers.object(response) else { return unusable(response) }
    guard let octets = optionalOctets(bytes, bytes_len) else { return MPIN_INVALID_ARGUMENT }
    return answer.append(UnsafeRawBufferPointer(octets ?? .init(start: nil, count: 0)))
        ? MPIN_OK : MPIN_BUFFER_TOO_SMALL
}

@_cdecl("mpin_http_response_is_canceled") @implementation
public func mpin_http_response_is_canceled(
    _ response: OpaquePointer?, _ canceled: UnsafeMutablePointer<Int32>?
) -> mpin_status {
    guard let answer = answers.object(response) else { return unusable(response) }
    guard let canceled else { return MPIN_INVALID_ARGUMENT }
    canceled.pointee = answer.isCanceled() ? 1 : 0
    return MPIN_OK
}
