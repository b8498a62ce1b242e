import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Answers `Expect: 100-continue` with an interim 100 (RFC 9110 section 10.1.1), because the PUT of Milagro's C++
/// client waits a second for it. Requests without this header never get a 100: that client would take the last header
/// block for the body (wire section 2).
final class ExpectContinueHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart
    private let bodyLimit: Int

    init(bodyLimit: Int) { self.bodyLimit = bodyLimit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data), expectsContinue(head) {
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
        context.fireChannelRead(data)
    }

    /// Whether the client waits for a 100. It gets none if its body is too large and will be refused.
    private func expectsContinue(_ head: HTTPRequest) -> Bool {
        guard head.headerFields[.expect]?.lowercased() == "100-continue" else { return false }
        return (head.headerFields[.contentLength].flatMap(Int.init) ?? 0) <= bodyLimit
    }
}
