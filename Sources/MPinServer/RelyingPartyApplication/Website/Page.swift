import HTTPTypes
import Hummingbird
import NIOCore

/// One complete page of the website.
struct Page {
    private let document: HTML
    private let language: String
    private let runsClient: Bool

    /// Makes a page. `script`: the name of the script that only this page has; the script for times is on all pages.
    /// `module`: the script of the client for browsers, if there is one.
    init(_ pages: Pages, title: HTML, content: HTML, script: String?, module: String? = nil) {
        let say = pages.language
        let name = pages.brand.name
        let icon = pages.brand.icon
        let more: HTML = script.map { "<script src=\"/\($0).js\" defer></script>" } ?? ""
        let client = pages.head(module)
        language = say.code
        runsClient = client.runsClient
        document = """
            <!DOCTYPE html>
            <html lang="\(say.code)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) · \(name)</title>
            <link rel="stylesheet" href="/style.css">
            <link rel="icon" href="\(icon.path)" type="\(icon.type)">
            <script src="/times.js" defer></script>
            \(more)
            \(client.elements)
            </head>
            <body>
            <header><nav aria-label="\(say[.navPages])"><a class="brand" href="/"><img src="\(icon.path)" alt="">\
            <span>\(name)</span></a><a href="/signup">\(say[.signUp])</a><a href="/login">\(say[.logIn])</a></nav></header>
            <main>
            <h1>\(title)</h1>
            \(content)
            </main>
            <footer><p>\(say[client.runsClient ? .clientFooter : .footer])</p></footer>
            </body>
            </html>

            """
    }

    /// Other sites that a page needs, as a `Content-Security-Policy` lists them.
    struct Sources {
        /// The sites that the page's forms lead to, also by a redirect.
        var forms: [String] = []
        var images: [String] = []
    }

    func response(_ status: HTTPResponse.Status = .ok, sources: Sources = Sources()) -> Response {
        var response = Response.html(document.text, status: status)
        response.headers[.contentSecurityPolicy] = policy(sources)
        // With a stricter referrer policy, browsers would send the Origin `null` with a form's POST.
        response.headers[.referrerPolicy] = "same-origin"
        response.headers[.contentLanguage] = language
        response.headers[.vary] = "Accept-Language"
        return response
    }

    /// The content security policy: only files from this site and from `sources`, and nothing inline. A page of the
    /// client may also start its Worker and its service worker, by its one Trusted Types policy.
    private func policy(_ sources: Sources) -> String {
        let images = (["'self'"] + sources.images).joined(separator: " ")
        let forms = (["'self'"] + sources.forms).joined(separator: " ")
        return """
            default-src 'none'; style-src 'self'; script-src 'self'; img-src \(images); connect-src 'self'; \
            form-action \(forms); frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'\(
                runsClient ? "; worker-src 'self'; manifest-src 'self'; trusted-types mpin" : "")
            """
    }
}
