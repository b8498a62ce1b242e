import Hummingbird
import MPinService
import MPinStore
import NIOCore
import NIOHTTP1

/// Makes a page for an error, or the answer in the form of the request's wire; nil if it needs neither.
typealias ErrorForm = @Sendable (APIError, Request, RequestContext) -> Response?

/// Turns every error into an answer: JSON, unless `form` makes another one. An unexpected error becomes 500 and is logged.
func renderedError(
    _ error: any Error, _ request: Request, _ context: RequestContext, form: ErrorForm?
) throws -> Response {
    let error = try apiError(error, context)
    return form?(error, request, context) ?? error.response
}

private func apiError(_ error: any Error, _ context: RequestContext) throws -> APIError {
    switch error {
    case let error as APIError: return error
    case let error as ServiceError: return error.spelled
    case let error as NoRoom: return error.spelled
    case let error as HTTPError:
        return error.status == .notFound ? APIError.notFound : APIError(error.status, error.status.reasonPhrase)
    case is HTTPParserError:
        // The framework answers 400 and closes the connection.
        throw error
    case is ChannelError:
        // The client has disconnected during its request, so nobody reads the answer.
        return APIError.gone
    case let error as StoreError:
        context.logger.error("store failed", metadata: ["error": "\(error)"])
        return APIError.storeFailed
    default:
        context.logger.error("request failed", metadata: ["error": "\(error)"])
        return Moment.now().isOfMachine ? APIError.internalError : APIError.clockIsWrong
    }
}
