import MPinWire

/// The contents of a login page: the QR code or number for the phone, and the data with which its script follows the
/// phone's login.
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
            guard let id, let picture = QRCode.svg("\(publicURL)#\(id)", label: say.plain(.loginCodePicture)) else {
                return nil
            }
            return page(pages, .loginCodeTitle, pages.codeStep, shown: picture, here: pages.loginHere(wid: id))
        case .number:
            guard let number = browser.accessNumber else { return nil }
            return page(
                pages, .loginNumberTitle, .loginNumberStep,
                shown: "<output id=\"number\" class=\"code\">\(number)</output>")
        }
    }

    /// The id in the QR code. The code contains a whole URL, because a program that does not know this site can do nothing
    /// with the id alone, and because any phone opens it as a link.
    private var id: String? { browser.qrUrl?.split(separator: "#").last.map(String.init) }

    private func page(_ pages: Pages, _ title: Phrase, _ step: Phrase, shown: HTML, here: HTML = "") -> Page {
        let say = pages.language
        return pages.page(
            title,
            """
            \(choice(say))
            \(here)
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
            """, script: "live", module: way == .code ? pages.clientScript : nil)
    }

    private func choice(_ say: Language) -> HTML {
        let (code, number): (HTML, HTML) =
            way == .code ? (" aria-current=\"page\"", "") : ("", " aria-current=\"page\"")
        return """
            <nav class="choice" aria-label="\(say[.loginWays])"><a href="/login"\(code)>\(say[.loginWayCode])</a>\
            <a href="/login/number"\(number)>\(say[.loginWayNumber])</a></nav>
            """
    }

    /// On the page that shows an access number: the attribute that makes the script submit the form after the phone's
    /// login. The form leads to a page that asks the person whether the login is theirs.
    private var asks: HTML { way == .number ? " data-asks" : "" }
    private var host: String { publicURL.split(separator: "/").last.map(String.init) ?? publicURL }
}

extension Language {
    /// The texts for the script, as attributes of an element. The script itself contains none, so that it serves all
    /// languages.
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

/// The state of the phone's login while it has not succeeded.
enum LoginState {
    case open
    case declined
    /// The login was refused, and the page shows this text.
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
