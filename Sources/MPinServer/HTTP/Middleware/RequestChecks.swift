import Hummingbird

/// What is refused, or answered, before any handler looks at the request.
struct RequestChecks: Sendable {
    let limits: Limits

    func answer(_ request: Request) throws(APIError) -> Response? {
        guard request.uri.string.utf8.count <= limits.targetBytes else { throw APIError.targetTooLong }
        // Any path, known or not (wire section 2).
        return request.method == .options ? .json(["message": "options request"]) : nil
    }
}
