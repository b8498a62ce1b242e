import MPinSecrets
import MPinService
import MPinWire

/// The pages of the client in this browser, and its sections on other pages. Their scripts make the contents, because
/// only the browser knows its identities.
extension Pages {
    /// The page with this browser's identities.
    var client: Page {
        page(.clientTitle, clientElement(), module: "page-client.js")
    }

    /// The page that the service worker shows if the server cannot be reached.
    var offline: Page { message(.clientOfflineTitle, language[.clientOfflineText], button("/client", .startAgain)) }

    /// What to do with a QR code.
    var codeStep: Phrase { browserClient == nil ? .loginCodeStep : .clientCodeStep }

    /// The section of a login page. `wid`: the name of the waiting browser, which is this very one.
    func loginHere(wid: String, application: String = "") -> HTML {
        guard browserClient != nil else { return "" }
        return """
            <section class="card here" aria-labelledby="here"><h2 id="here">\(language[.clientHere])</h2>
            \(clientElement(wid: wid, application: application))</section>
            """
    }

    /// The section of the page that explains how to sign up.
    var signUpHere: HTML {
        guard browserClient != nil else { return "" }
        return """
            <section class="card here" aria-labelledby="here"><h2 id="here">\(language[.clientHere])</h2>
            \(clientElement())</section>
            """
    }

    /// The element that the scripts fill, with what they need to know: URLs, hashes and texts.
    private func clientElement(wid: String = "", application: String = "") -> HTML {
        guard let client = browserClient else { return "" }
        let members: [(String, String)] = [
            ("project", BrowserClient.projectID), ("name", brand.name), ("worker", client.url("worker.js")),
            ("wasm", client.url("mpin.wasm")), ("integrity", client.integrity("mpin.wasm")),
            ("service-worker", "/service-worker.js"), ("wid", wid),
            ("application", application),
        ]
        let data = members.reduce("" as HTML) { "\($0) data-\($1.0)=\"\($1.1)\"" }
        return """
            <div id="client-here"\(data) data-texts="\(language.clientTexts)"></div>\
            <noscript><p>\(language[.clientNoScript])</p></noscript>
            """
    }
}
