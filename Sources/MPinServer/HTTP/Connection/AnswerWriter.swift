import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// Writes an answer straight into the pipeline of its connection. The framework's own writer passes all parts through a
/// queue to a handler, which takes longer than encoding them. All parts are sent together at the end, because an answer
/// is in memory as a whole.
struct AnswerWriter: ResponseBodyWriter {
    let channel: any Channel

    func write(_ response: Response) async throws {
        channel.write(HTTPResponsePart.head(response.head), promise: nil)
        try await response.body.write(self)
    }

    func write(_ buffer: ByteBuffer) async throws {
        channel.write(HTTPResponsePart.body(buffer), promise: nil)
    }

    /// Returns when the client, however slowly, has been sent everything. Throws if the connection has ended.
    func finish(_ trailers: HTTPFields?) async throws {
        try await channel.writeAndFlush(HTTPResponsePart.end(trailers))
    }
}
