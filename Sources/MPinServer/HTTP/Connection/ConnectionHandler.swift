import MPinService
import NIOCore
import NIOHTTP1

/// Decides whether a connection is kept after an answer. Refuses ambiguous requests, which a proxy and this server
/// could understand differently. Answers `Expect: 100-continue`. Notices when the client disconnects.
///
/// One handler does all of this, because each handler that a part of a message passes costs time.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart
    private let clock: RequestClock
    private let disconnect: ClientDisconnect
    private let last: LastAnswer
    private let bodyLimit: Int

    init(_ clock: RequestClock, _ disconnect: ClientDisconnect, _ last: LastAnswer, bodyLimit: Int) {
        self.clock = clock
        self.disconnect = disconnect
        self.last = last
        self.bodyLimit = bodyLimit
    }

    func channelInactive(context: ChannelHandlerContext) {
        disconnect.report()
        last.noteSent()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !last.isSent else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            clock.headArrived()
            // This error makes the framework answer 400 and close the connection.
            guard !Self.isAmbiguous(head) else { return context.fireErrorCaught(HTTPParserError.invalidHeaderToken) }
            if !head.isKeepAlive { clock.isLastRequest() }
            if expectsContinue(head) {
                let interim = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
            }
        case .body: break
        case .end: clock.endArrived()
        }
        context.fireChannelRead(data)
    }

    /// Notices that the client has disconnected, or that the server is ending. In the second case the framework would
    /// close a connection without a running request at once, and so reset a request that is just arriving.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { disconnect.report() }
        if event as? ChannelEvent == .outputClosed { last.noteSent() }
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

    /// Whether the client waits for an interim 100 (RFC 9110 section 10.1.1), as the PUT of Milagro's C++ client does
    /// for a second. It gets none if its body is too large and will be refused. Requests without this header never get a
    /// 100: that client would take the last header block for the body (wire section 2).
    private func expectsContinue(_ head: HTTPRequestHead) -> Bool {
        let expectations = head.headers["Expect"]
        guard expectations.count == 1, expectations[0].lowercased() == "100-continue" else { return false }
        return (head.headers["Content-Length"].first.flatMap { Int($0) } ?? 0) <= bodyLimit
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !last.isSent else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
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
            last.noteSent()
            noteSent(promise)
            context.writeAndFlush(data, promise: promise)
            context.close(mode: .output, promise: nil)
        case .end:
            clock.answered()
            noteSent(promise)
            context.write(data, promise: promise)
        default: context.write(data, promise: promise)
        }
    }

    /// Tells the clock when the end of an answer has left.
    private func noteSent(_ promise: EventLoopPromise<Void>?) {
        guard let promise else { return clock.sent() }
        promise.futureResult.assumeIsolated().whenComplete { [clock] _ in clock.sent() }
    }
}
