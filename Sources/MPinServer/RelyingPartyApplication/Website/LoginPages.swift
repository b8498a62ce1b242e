import MPinWire

/// What a login page shows to the phone, and how its script finds out about the phone's login.
struct LoginOffer {
    enum Way {
        case code, number

        var path: String { self == .code ? "/login" : "/login/number" }
    }

    let way: Way
    let browser: WaitingBrowserResponse
    /// Base URL of this site.
    let publicURL: String
    /// Prefix of the RPS's public paths.
    let prefix: String
    let csrf: String

    func page(_ pages: Pages) -> Page? {
        let say = pages.language
        switch way {
        case .code:
            guard let picture = picture(say.plain(.loginCodePicture)) else { return nil }
            return page(pages, .loginCodeTitle, .loginCodeStep, shown: picture)
        case .number:
            guard let number = browser.accessNumber else { return nil }
            return page(
                pages, .loginNumberTitle, .loginNumberStep,
                shown: "<output id=\"number\" class=\"code\">\(number)</output>")
        }
    }

    /// The id alone is worth nothing to a phone that does not know the site: a whole URL tells any reader where it belongs.
    private func picture(_ label: String) -> HTML? {
        guard let url = browser.qrUrl, let id = url.split(separator: "#").last else { return nil }
        return QRCode.svg("\(publicURL)#\(id)", label: label)
    }

    private func page(_ pages: Pages, _ title: Phrase, _ step: Phrase, shown: HTML) -> Page {
        let say = pages.language
        return pages.page(
            title,
            """
            \(choice(say))
            <section class="card login" id="login" data-web-ott="\(browser.webOTT)" \
            data-seconds="\(browser.ttlSeconds)" data-access="/\(prefix)/access"\(asks) \(say.statusTexts)>
            <p>\(say[step])</p>
            \(shown)
            <p>\(say[.loginHost, ["host": "<strong>\(host)</strong>"]])</p>
            <p id="status" role="status">\(say[.statusWaiting])</p>
            <p id="remaining"></p>
            \(pages.continueForm(way, webOTT: browser.webOTT, csrf: csrf))
            <p id="renew" hidden><a class="button" href="\(way.path)">\(say[.startAgain])</a></p>
            </section>
            """, script: "live")
    }

    private func choice(_ say: Language) -> HTML {
        let (code, number): (HTML, HTML) =
            way == .code ? (" aria-current=\"page\"", "") : ("", " aria-current=\"page\"")
        return """
            <nav class="choice" aria-label="\(say[.loginWays])"><a href="/login"\(code)>\(say[.loginWayCode])</a>\
            <a href="/login/number"\(number)>\(say[.loginWayNumber])</a></nav>
            """
    }

    /// Whether a person confirms the login at its end.
    private var asks: HTML { way == .number ? " data-asks" : "" }
    private var host: String { publicURL.split(separator: "/").last.map(String.init) ?? publicURL }
}

extension Language {
    /// What the script of a login page says, in attributes: it has no texts of its own.
    var statusTexts: HTML {
        let texts: [(String, Phrase)] = [
            ("waiting", .statusWaiting), ("wid", .statusRead), ("user", .statusUser), ("abort", .statusDeclined),
            ("authenticate", .statusLoggingIn), ("offline", .statusOffline), ("refused", .statusRefused),
            ("expired", .statusExpired), ("remaining", .loginRemaining), ("wrong-pin", .statusWrongPIN),
            ("blocked", .statusBlocked), ("retired", .statusRegisterAgain),
        ]
        return texts.reduce("") { "\($0)data-text-\($1.0)=\"\(raw($1.1))\" " }
    }
}

/// What the phone has done so far, where it has not logged in.
enum LoginState {
    case open
    case declined
    /// A wrong PIN, or what it led to; the text that says so.
    case refused(Phrase)

    init(_ access: AccessResponse) {
        switch access.refusal {
        case 401: self = .refused(.statusWrongPIN)
        case 409: self = .refused(.statusRegisterAgain)
        case 410, 429: self = .refused(.statusBlocked)
        default: self = access.status == "abort" ? .declined : .open
        }
    }
}
