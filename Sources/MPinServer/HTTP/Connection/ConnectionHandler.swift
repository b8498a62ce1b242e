import MPinService
import NIOCore
import NIOHTTP1

/// Decides whether a connection is kept after an answer. Refuses ambiguous requests, which a proxy and this server
/// could understand differently. Notices when the client disconnects.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart
    private let clock: RequestClock
    private let disconnect: ClientDisconnect

    init(_ clock: RequestClock, _ disconnect: ClientDisconnect) {
        self.clock = clock
        self.disconnect = disconnect
    }

    func channelInactive(context: ChannelHandlerContext) {
        disconnect.report()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            clock.headArrived()
            // This error makes the framework answer 400 and close the connection.
            guard !Self.isAmbiguous(head) else { return context.fireErrorCaught(HTTPParserError.invalidHeaderToken) }
            if !head.isKeepAlive { clock.isLastRequest() }
        case .body: break
        case .end: clock.endArrived()
        }
        context.fireChannelRead(data)
    }

    /// Notices that the client has disconnected, or that the server is ending. In the second case the framework would
    /// close a connection without a running request at once, and so reset a request that is just arriving.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { disconnect.report() }
        guard event is ChannelShouldQuiesceEvent else { return context.fireUserInboundEventTriggered(event) }
        clock.finish()
    }

    /// Whether a request is ambiguous: it does not have exactly one Host (in HTTP/1.0 it may have none); it has more
    /// than one Content-Length, or a Content-Length and a Transfer-Encoding; its Transfer-Encoding is not `chunked`; or
    /// it is an HTTP/1.0 request with a Transfer-Encoding, which that version does not know.
    private static func isAmbiguous(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["Host"].count
        let isOld = head.version.major < 1 || head.version == .http1_0
        guard isOld ? hosts <= 1 : hosts == 1 else { return true }
        guard head.headers["Content-Length"].count <= 1 else { return true }
        let codings = head.headers[canonicalForm: "Transfer-Encoding"]
        guard !codings.isEmpty else { return false }
        return codings.count != 1 || codings[0].lowercased() != "chunked" || isOld
            || head.headers.contains(name: "Content-Length")
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.status.code >= 200:
            if head.headers[canonicalForm: "Connection"].contains("close") { clock.isLastAnswer() }
            if clock.closesNow {
                clock.isLastAnswer()
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end where clock.closesNow:
            clock.answered()
            context.writeAndFlush(data, promise: promise)
            context.close(mode: .output, promise: nil)
        case .end:
            clock.answered()
            context.write(data, promise: promise)
        default: context.write(data, promise: promise)
        }
    }
}
