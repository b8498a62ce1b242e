import CCurl
import MPinSecrets

/// Collects one answer from libcurl's callbacks.
final class Exchange {
    private let body: WipedBuffer
    private let headerLimit: Int
    private var headerBytes = 0
    private var headers: [(String, String)] = []
    private var isHeaderComplete = false
    private var isTooLarge = false

    init(limit: Int) {
        body = WipedBuffer(limit: limit)
        headerLimit = limit
    }

    /// Makes this object the target of the handle's callbacks. This object must live until the handle has run.
    func attach(to handle: CurlHandle) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        handle.set(CURLOPT_WRITEDATA, pointer: context)
        handle.set(CURLOPT_HEADERDATA, pointer: context)
        _ = mpin_curl_set_data_callback(handle.easy, CURLOPT_WRITEFUNCTION) { data, size, count, context in
            Exchange.from(context)?.receiveBody(UnsafeRawBufferPointer(start: data, count: size &* count)) ?? 0
        }
        _ = mpin_curl_set_data_callback(handle.easy, CURLOPT_HEADERFUNCTION) { data, size, count, context in
            Exchange.from(context)?.receiveHeader(UnsafeRawBufferPointer(start: data, count: size &* count)) ?? 0
        }
    }

    /// Returns the answer, or throws why there is none.
    func answer(
        _ outcome: CurlHandle.Outcome, _ handle: CurlHandle, origin: String, isDirect: Bool
    ) throws(HTTPFailure) -> HTTPResponse {
        switch outcome {
        case .cancelled: throw .cancelled
        case .timedOut, .failed(CURLE_OPERATION_TIMEDOUT, _): throw .timedOut
        case .failed(_, let text): throw isTooLarge ? .answerTooLarge : .network("\(origin): \(text)")
        // If the connection closes within the header, libcurl reports success with an empty body.
        case .done where !isHeaderComplete: throw .network("\(origin): the answer breaks off")
        case .done:
            var status = 0
            _ = mpin_curl_get_long(handle.easy, CURLINFO_RESPONSE_CODE, &status)
            return HTTPResponse(
                status: status, headers: headers, body: body.secret(), peer: isDirect ? handle.peer : nil)
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> Exchange? {
        context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }

    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard body.append(bytes) else {
            isTooLarge = true
            return 0
        }
        return bytes.count
    }

    /// Receives one header line. Returns the number of its bytes, or 0 to end the transfer if the header lines exceed
    /// the limit. Status lines of interim answers count, so that a server cannot send such answers without end.
    private func receiveHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.count <= headerLimit - headerBytes else {
            isTooLarge = true
            return 0
        }
        headerBytes += bytes.count
        let line = String(decoding: bytes, as: UTF8.self)
        if line == "\r\n" || line == "\n" {
            isHeaderComplete = true
        } else if line.hasPrefix("HTTP/") {
            isHeaderComplete = false
            headers = []
        } else if let colon = line.firstIndex(of: ":") {
            headers.append((String(line[..<colon]), trimmed(line[line.index(after: colon)...])))
        }
        return bytes.count
    }
}

/// The text without spaces, tabs and line breaks at both ends.
private func trimmed(_ text: Substring) -> String {
    let start = text.drop { $0.isWhitespace }
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(start[...last])
}
