import Hummingbird
import MPinService
import MPinStore
import NIOCore
import NIOHTTP1

/// A page in the place of an error; nil where nobody would read it.
typealias ErrorPage = @Sendable (APIError, Request) -> Response?

/// Every error in the one shape, or as a page, and an unforeseen one as 500 and a log line.
func renderedError(
    _ error: any Error, _ request: Request, _ context: RequestContext, page: ErrorPage?
) throws -> Response {
    let error = try apiError(error, context)
    return page?(error, request) ?? error.response
}

private func apiError(_ error: any Error, _ context: RequestContext) throws -> APIError {
    switch error {
    case let error as APIError: return error
    case let error as ServiceError: return error.spelled
    case let error as HTTPError:
        return error.status == .notFound ? APIError.notFound : APIError(error.status, error.status.reasonPhrase)
    case is HTTPParserError:
        // The framework answers 400 and ends the connection.
        throw error
    case is ChannelError:
        // The client has gone in the middle of its request: whatever is answered, nobody hears it.
        return APIError.gone
    case StoreError.unavailable, StoreError.unknownOutcome, StoreError.conflict:
        context.logger.error("store failed", metadata: ["error": "\(error)"])
        return APIError.storeFailed
    default:
        context.logger.error("request failed", metadata: ["error": "\(error)"])
        return APIError.internalError
    }
}
