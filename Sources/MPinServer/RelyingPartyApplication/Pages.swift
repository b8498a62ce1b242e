/// The web pages of the RPA: HTML without scripts; everything from outside is escaped.
enum Pages {
    static let home = page("M-Pin", "<p>This is an M-Pin server. Register and log in with an M-Pin client.</p>")

    /// Opening a link must not activate by itself: mail scanners open links too.
    static func confirm(user: String) -> String {
        page(
            "Confirm your registration",
            """
            <p>Confirm that you are registering <strong>\(escape(user))</strong> for M-Pin.</p>
            <form method="post"><button type="submit">Confirm</button></form>
            """)
    }

    static let activated = page(
        "Confirmed", "<p>Your identity is activated. Return to the app and choose your PIN.</p>")
    static let expired = page("Link expired", "<p>This link has expired. Start the registration again.</p>")
    static let used = page("Nothing to confirm", "<p>This registration was finished before, or it has expired.</p>")
    static let invalid = page("Invalid link", "<p>This is not a link that was sent from here.</p>")
    static let failed = page("Try again later", "<p>The server could not confirm the registration now.</p>")

    private static func page(_ title: String, _ body: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title)</title>
        </head>
        <body>
        <h1>\(title)</h1>
        \(body)
        </body>
        </html>

        """
    }

    static func escape(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            default: String(character)
            }
        }.joined()
    }
}
