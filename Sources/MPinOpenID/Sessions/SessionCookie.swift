import MPinSecrets

/// The cookie of a browser session, 87 characters. Its first half is the ``BrowserSession/id``, which clients learn,
/// too. Its second half is known only to the browser, and changes with each PIN.
package struct SessionCookie: Sendable, Equatable {
    package let id: String
    private let secret: OpaqueToken

    init(id: String, secret: OpaqueToken) {
        self.id = id
        self.secret = secret
    }

    /// Nil if `text` does not have the form of such a cookie.
    package init?(_ text: String) {
        let halves = text.split(separator: ".", omittingEmptySubsequences: false)
        guard halves.count == 2, let id = OpaqueToken(halves[0]), let secret = OpaqueToken(halves[1]) else {
            return nil
        }
        self.init(id: id.text, secret: secret)
    }

    package var text: String { "\(id).\(secret.text)" }

    /// The SHA-256 of the secret half. The store has only this.
    var secretKey: String { secret.key }

    /// The token in the provider's forms for this browser: 43 characters. A page of another site cannot make it, and
    /// nobody can compute the cookie from it.
    package var formToken: String { Base64URL.encode(SHA256.hash(Array("form \(secret.text)".utf8))) }

    /// Returns whether `text` is ``formToken``. The time does not depend on where they differ.
    package func isFormToken(_ text: String) -> Bool {
        let (own, other) = (Array(formToken.utf8), Array(text.utf8))
        return constantTimeEqual(own.span, other.span)
    }

    package static func == (left: SessionCookie, right: SessionCookie) -> Bool { left.text == right.text }
}
