import Hummingbird
import NIOCore
import NIOHTTP1

/// Every error in the one shape, and an unforeseen one as 500 and a log line.
func renderedError(_ error: any Error, _ context: RequestContext) throws -> Response {
    switch error {
    case let error as APIError: return error.response
    case let error as HTTPError:
        return (error.status == .notFound ? APIError.notFound : APIError(error.status, error.status.reasonPhrase))
            .response
    case is HTTPParserError:
        // The framework answers 400 and ends the connection.
        throw error
    case is ChannelError:
        // The client has gone in the middle of its request: whatever is answered, nobody hears it.
        return APIError.gone.response
    case let error as SQLiteConnection.Failure:
        // A full disk, or another process that does not let go of the file.
        context.logger.error("store failed", metadata: ["error": "\(error)"])
        return APIError.storeFailed.response
    default:
        context.logger.error("request failed", metadata: ["error": "\(error)"])
        return APIError.internalError.response
    }
}
