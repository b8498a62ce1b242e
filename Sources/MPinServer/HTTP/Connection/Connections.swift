import HummingbirdCore
import Logging
import MPinService
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL

/// Sets up a connection: TLS if there is a certificate, deadlines, HTTP/1.1.
struct Connections: HTTPChannelHandler {
    private(set) var responder: HTTPChannelHandler.Responder
    let limits: Limits
    let tls: TLSIdentity?
    let counter: ConnectionCounter
    let queue: AcceptQueue
    let groups: ConnectionGroups

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Arrival> {
        let arrival = channel.eventLoop.makeCompletedFuture {
            let connection = counter.admit(channel)
            if connection == nil { channel.close(promise: nil) }
            let pipeline = channel.pipeline.syncOperations
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls.context)) }
            let (clock, disconnect, last) = (
                RequestClock(limits, connection), ClientDisconnect(), LastAnswer()
            )
            try pipeline.addHandler(ByteWatch(clock))
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoderLimits)
            try pipeline.addHandlers([
                ConnectionHandler(clock, disconnect, last, bodyLimit: limits.bodyBytes),
                HTTP1ToHTTPServerCodec(secure: tls != nil),
            ])
            let parts = try NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
            return Arrival(channel) {
                await ClientDisconnect.$current.withValue(disconnect) {
                    await answering(until: last).handleHTTP(asyncChannel: parts, logger: logger)
                }
            } left: {
                queue.left()
            }
        }
        arrival.whenFailure { _ in queue.left() }
        return arrival
    }

    private func answering(until last: LastAnswer) -> Connections {
        var connection = self
        connection.responder = { [responder] request, writer, channel in
            guard !last.isSent else { throw ChannelError.outputClosed }
            try await responder(request, writer, channel)
        }
        return connection
    }

    /// Hands the connection to a task group and returns at once, because the framework keeps a task of its own for the
    /// connection until this function returns.
    func handle(value: Arrival, logger: Logger) async { groups.serve(value) }

    private var decoderLimits: NIOHTTPDecoderLimitConfiguration {
        var decoder = NIOHTTPDecoderLimitConfiguration()
        decoder.maxHeaderFieldSize = limits.headerBytes
        decoder.maxHeaderListSize = limits.headerBytes
        decoder.maxHeaderFieldCount = limits.headerCount
        return decoder
    }
}
