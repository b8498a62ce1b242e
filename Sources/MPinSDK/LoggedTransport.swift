import MPinHTTP

extension HTTPTransport {
    /// Tells of every exchange, without anything that may hold a token: no path, query, header or body.
    func logging(to log: Log?) -> any HTTPTransport {
        guard let log else { return self }
        return LoggedTransport(transport: self, log: log)
    }
}

private struct LoggedTransport: HTTPTransport {
    let transport: any HTTPTransport
    let log: Log

    func execute(
        _ request: HTTPRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(HTTPFailure) -> HTTPResponse {
        let start = monotonicNanoseconds()
        func tell(_ level: LogLevel, _ outcome: String) {
            let milliseconds = (monotonicNanoseconds() &- start) / 1_000_000
            log(level, "\(request.method.rawValue) \(request.origin): \(outcome) in \(milliseconds) ms")
        }
        do throws(HTTPFailure) {
            let response = try transport.execute(request, isCancelled: isCancelled)
            tell(.debug, "HTTP \(response.status), \(response.body.count) bytes")
            return response
        } catch {
            tell(.warning, "\(error)")
            throw error
        }
    }
}
