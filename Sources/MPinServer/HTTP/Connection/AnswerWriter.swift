import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// Writes an answer straight into the pipeline of its connection. The framework's own writer passes all parts through a
/// queue to a handler, which takes longer than encoding them.
struct AnswerWriter: ResponseBodyWriter {
    let channel: any Channel

    func write(_ response: Response) async throws {
        channel.write(HTTPResponsePart.head(response.head), promise: nil)
        try await response.body.write(self)
    }

    /// Writes a part of the body. If the client reads more slowly than the parts come, waits until it has read them.
    func write(_ buffer: ByteBuffer) async throws {
        if channel.isWritable {
            channel.write(HTTPResponsePart.body(buffer), promise: nil)
        } else {
            try await channel.writeAndFlush(HTTPResponsePart.body(buffer))
        }
    }

    func finish(_ trailers: HTTPFields?) async throws {
        let end = HTTPResponsePart.end(trailers)
        if channel.isWritable { channel.writeAndFlush(end, promise: nil) } else { try await channel.writeAndFlush(end) }
    }
}
