import MPinHTTP
package import MPinService

/// Asks a running server how it is, for programs that watch it by running a command.
package struct HealthProbe: Sendable {
    /// What the probe asks.
    package enum Question: String, Sendable {
        /// Whether the process answers.
        case live = "/health/live"
        /// Whether it can serve requests.
        case ready = "/health/ready"
    }

    /// Whether the answer is yes.
    package let isUp: Bool
    /// The answer in JSON.
    package let text: String

    /// Asks the admin listener of a server on this machine. Throws `StartError` if there is no answer within three
    /// seconds.
    package init(_ question: Question, at address: ListenAddress) throws(StartError) {
        guard address.isLoopback else { throw StartError("\(address): not an address of this machine") }
        let answer: HTTPResponse
        do {
            answer = try CurlTransport().execute(
                HTTPRequest(url: address.url + question.rawValue, deadline: .after(milliseconds: 3000)))
        } catch { throw StartError("\(address): no answer: \(error)") }
        isUp = answer.status == 200
        text = String(decoding: answer.bytes, as: UTF8.self)
    }
}
