import Hummingbird
import NIOCore
import NIOHTTP1

/// Turns every error into the one shape, and an unforeseen one into 500 and a log line.
struct ErrorRenderer: RouterMiddleware {
    typealias Context = RequestContext

    func handle(
        _ request: Request, context: RequestContext, next: (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as APIError {
            return error.response
        } catch let error as HTTPError {
            return (error.status == .notFound ? APIError.notFound : APIError(error.status, error.status.reasonPhrase))
                .response
        } catch let error as HTTPParserError {
            // The framework answers 400 and ends the connection.
            throw error
        } catch is ChannelError {
            // The client has gone in the middle of its request: whatever is answered, nobody hears it.
            return APIError.gone.response
        } catch {
            context.logger.error("request failed", metadata: ["error": "\(error)"])
            return APIError.internalError.response
        }
    }
}
