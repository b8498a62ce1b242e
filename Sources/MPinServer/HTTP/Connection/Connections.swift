import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL

/// Sets a connection up: TLS where there is a certificate, deadlines, HTTP/1.1.
struct Connections: HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let limits: Limits
    let tls: TLSIdentity?
    let counter: ConnectionCounter

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            if !counter.admit(channel) { channel.close(promise: nil) }
            let pipeline = channel.pipeline.syncOperations
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls.context)) }
            let clock = RequestClock(limits)
            try pipeline.addHandler(ByteWatch(clock))
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoderLimits)
            try pipeline.addHandlers([
                ConnectionHandler(clock), HTTP1ToHTTPServerCodec(secure: tls != nil),
                ExpectContinueHandler(bodyLimit: limits.bodyBytes), HTTPConnectionStateHandler(logger: logger),
            ])
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async { await handleHTTP(asyncChannel: value, logger: logger) }

    private var decoderLimits: NIOHTTPDecoderLimitConfiguration {
        var decoder = NIOHTTPDecoderLimitConfiguration()
        decoder.maxHeaderFieldSize = limits.headerBytes
        decoder.maxHeaderListSize = limits.headerBytes
        decoder.maxHeaderFieldCount = limits.headerCount
        return decoder
    }
}
