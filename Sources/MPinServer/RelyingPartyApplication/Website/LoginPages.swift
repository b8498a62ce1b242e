import MPinWire

/// What a login page shows to the phone, and how its script finds out about the phone's login.
struct LoginOffer {
    enum Way {
        case code, number

        var path: String { self == .code ? "/login" : "/login/number" }
    }

    let way: Way
    let session: BrowserSessionResponse
    /// Base URL of this site.
    let publicURL: String
    /// Prefix of the RPS's public paths.
    let prefix: String
    let csrf: String

    var page: Page? {
        switch way {
        case .code:
            guard let picture else { return nil }
            return page(title: "Log in with a QR code", steps: "Scan this code with your M-Pin app.", shown: picture)
        case .number:
            guard let number = session.accessNumber else { return nil }
            return page(
                title: "Log in with an access number", steps: "Type this number into your M-Pin app.",
                shown: "<output id=\"number\" class=\"code\">\(number)</output>")
        }
    }

    /// The id alone is worth nothing to a phone that does not know the site: a whole URL tells any reader where it belongs.
    private var picture: HTML? {
        guard let url = session.qrUrl, let id = url.split(separator: "#").last else { return nil }
        return QRCode.svg("\(publicURL)#\(id)")
    }

    private func page(title: String, steps: String, shown: HTML) -> Page {
        Page(
            title: title,
            content: """
                \(choice)
                <section class="card login" id="login" data-web-ott="\(session.webOTT)" \
                data-seconds="\(session.ttlSeconds)" data-access="/\(prefix)/access"\(asks)>
                <p>\(steps)</p>
                \(shown)
                <p>Check that your phone shows <strong>\(host)</strong> before you enter your PIN.</p>
                <p id="status" role="status">Waiting for your phone</p>
                <p id="remaining"></p>
                \(Pages.continueForm(way, webOTT: session.webOTT, csrf: csrf))
                <p id="renew" hidden><a class="button" href="\(way.path)">Start again</a></p>
                </section>
                """, isLive: true)
    }

    private var choice: HTML {
        let (code, number): (HTML, HTML) =
            way == .code ? (" aria-current=\"page\"", "") : ("", " aria-current=\"page\"")
        return """
            <nav class="choice" aria-label="Ways to log in"><a href="/login"\(code)>QR code</a>\
            <a href="/login/number"\(number)>Access number</a></nav>
            """
    }

    /// Whether a person confirms the login at its end.
    private var asks: HTML { way == .number ? " data-asks" : "" }
    private var host: String { publicURL.split(separator: "/").last.map(String.init) ?? publicURL }
}
