/// What the body of an error answer says, whoever wrote it: `{"message"}` (wire section 2), or at MIRACL servers
/// `{"error", "info", "requestID"}` and the older `{"error": {"code", "info"}, "requestID"}`.
package struct ErrorDetail: Sendable {
    /// Name of the error, such as `LIMITED_QUICKCODE_GENERATION`; empty where there is none.
    package let code: String
    /// The server's words; may be empty.
    package let text: String
    /// The server's name of the request; may be empty.
    package let requestID: String
    /// Of a wrong PIN: how many more may be wrong before the block; nil where the server does not tell.
    package let attemptsLeft: Int?

    package init(_ body: JSONValue) {
        let error = body["error"] ?? .null
        code = Self.text(error) ?? Self.text(error["code"]) ?? ""
        let words = [Self.text(body["message"]), code, Self.text(body["info"]) ?? Self.text(error["info"])]
        text = words.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
        requestID = Self.text(body["requestID"]) ?? ""
        if case .int(let left)? = body["attemptsLeft"], left >= 0 { attemptsLeft = left } else { attemptsLeft = nil }
    }

    private static func text(_ value: JSONValue?) -> String? {
        guard case .string(let text) = value else { return nil }
        return text
    }
}
