import MPinService
import NIOCore
import NIOHTTP1

/// Decides whether a connection lives on after an answer, refuses what two servers in a row may read in two ways, and sees
/// the client go.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart
    private let clock: RequestClock
    private let departure: Departure

    init(_ clock: RequestClock, _ departure: Departure) {
        self.clock = clock
        self.departure = departure
    }

    func channelInactive(context: ChannelHandlerContext) {
        departure.come()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            clock.headArrived()
            // The framework answers 400 to an error of the parser and ends the connection.
            guard !Self.isAmbiguous(head) else { return context.fireErrorCaught(HTTPParserError.invalidHeaderToken) }
            if !head.isKeepAlive { clock.isLastRequest() }
        case .body: break
        case .end: clock.endArrived()
        }
        context.fireChannelRead(data)
    }

    /// The framework would close a connection without a running request at once, and reset the request that may just be
    /// arriving.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { departure.come() }
        guard event is ChannelShouldQuiesceEvent else { return context.fireUserInboundEventTriggered(event) }
        clock.finish()
    }

    /// No host or two of them; a length beside a transfer coding; a coding that does not end in `chunked`; codings in
    /// HTTP/1.0, which has none.
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
