import MPinSecrets
import MPinService
import MPinWire

/// The pages of the client in this browser, and its sections on other pages. Their scripts make the contents, because
/// only the browser knows its identities.
extension Pages {
    /// The page with this browser's identities.
    var client: Page { page(.clientTitle, clientElement(), module: BrowserClient.script) }

    /// What the head of a page has for its script of the client, and whether that runs the client. A page of another
    /// origin has no such script, but it knows the way.
    func head(_ script: String?) -> (elements: HTML, runsClient: Bool) {
        guard let script, let client = browserClient else { return ("", false) }
        guard script == BrowserClient.script else {
            let page = (client.origin ?? "") + BrowserClient.path
            return ("<meta name=\"mpin-client\" content=\"\(page)\">\n\(client.head(script))", false)
        }
        return ("<link rel=\"manifest\" href=\"/client.webmanifest\">\n\(client.head(script))", true)
    }

    /// The page that the service worker shows if the server cannot be reached.
    var offline: Page { message(.clientOfflineTitle, language[.clientOfflineText], button("/client", .startAgain)) }

    /// What to do with a QR code.
    var codeStep: Phrase { browserClient == nil ? .loginCodeStep : .clientCodeStep }

    /// The section of a login page. `wid`: the name of the waiting browser, which is this very one.
    func loginHere(wid: String, application: String = "") -> HTML {
        section(clientElement(wid: wid, application: application), orAt: "#" + wid)
    }

    /// The section of the page that explains how to sign up.
    var signUpHere: HTML { section(clientElement(), orAt: "") }

    /// A section with the client's element, or with a link to the client's own origin.
    private func section(_ element: HTML, orAt fragment: String) -> HTML {
        guard let client = browserClient else { return "" }
        var content = element
        if !hostsClient, let origin = client.origin {
            let site: HTML = "\(origin.split(separator: "/").last.map(String.init) ?? origin)"
            content = """
                <p class="actions"><a class="button" href="\(origin + BrowserClient.path + fragment)" target="_blank" \
                rel="noopener">\(language[.clientElsewhere, ["site": site]])</a></p>
                """
        }
        return """
            <section class="card here" aria-labelledby="here"><h2 id="here">\(language[.clientHere])</h2>
            \(content)</section>
            """
    }

    /// The script of a login or sign-up page.
    var clientScript: String? { hostsClient ? BrowserClient.script : nil }

    /// The element that the scripts fill, with what they need to know: URLs, hashes and texts.
    private func clientElement(wid: String = "", application: String = "") -> HTML {
        guard let client = browserClient else { return "" }
        let members: [(String, String)] = [
            ("project", Projects.own), ("name", brand.name), ("worker", client.url("worker.js")),
            ("wasm", client.url("mpin.wasm")), ("integrity", client.integrity("mpin.wasm")),
            ("service-worker", "/service-worker.js"), ("wid", wid), ("application", application),
            ("move-to", hostsClient ? "" : client.origin ?? ""),
        ]
        let data = members.reduce("" as HTML) { "\($0) data-\($1.0)=\"\($1.1)\"" }
        return """
            <div id="client-here"\(data) data-texts="\(language.clientTexts)"></div>\
            <noscript><p>\(language[.clientNoScript])</p></noscript>
            """
    }
}
