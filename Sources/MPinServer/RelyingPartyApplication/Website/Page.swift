import HTTPTypes
import Hummingbird
import NIOCore

/// One page of the website: what they all have around their content.
struct Page {
    let title: String
    let content: HTML
    /// Whether ``Website/script`` works on it.
    var isLive = false

    private var document: HTML {
        let script: HTML = isLive ? "<script src=\"/live.js\" defer></script>" : ""
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) · M-Pin</title>
            <link rel="stylesheet" href="/style.css">
            <link rel="icon" href="/icon.svg" type="image/svg+xml">
            \(script)
            </head>
            <body>
            <header><nav aria-label="Pages"><a class="brand" href="/"><img src="/icon.svg" alt="" width="28" height="28">\
            M-Pin</a><a href="/signup">Sign up</a><a href="/login">Log in</a></nav></header>
            <main>
            <h1>\(title)</h1>
            \(content)
            </main>
            <footer><p>Your PIN never leaves your phone.</p></footer>
            </body>
            </html>

            """
    }

    func response(_ status: HTTPResponse.Status = .ok) -> Response {
        var response = Response.html(document.text, status: status)
        response.headers[.contentSecurityPolicy] = Self.policy
        // A form's POST has a useful Origin only if this site may see its own referrers.
        response.headers[.referrerPolicy] = "same-origin"
        return response
    }

    /// Everything from here and nothing inline.
    private static let policy = """
        default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
        form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'
        """
}
