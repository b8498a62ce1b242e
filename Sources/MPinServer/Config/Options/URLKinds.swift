import MPinHTTP

/// Options that hold URLs: what is no URL of the web would end up in mails, pages and clients.
extension OptionKind {
    private static let web = ["http", "https"]

    /// `http://` or `https://`, where paths are put behind it.
    static let baseURL = form("URL", "a URL that begins with http:// or https://, without ? and #") {
        isURL($0, schemes: web) && !$0.contains("?") && !$0.contains("#")
    }

    /// Of one endpoint; empty where there is none.
    static let endpoint = form("URL", "a URL that begins with http:// or https://, or nothing") {
        $0.isEmpty || isURL($0, schemes: web)
    }

    /// For clients: of the web, or a path.
    static func pathOrURL(_ placeholder: String) -> OptionKind {
        form(placeholder, "a path, or a URL that begins with http:// or https://") { text in
            isURL(text, schemes: web) || isPath(text)
        }
    }

    /// With a password in it the URL would be a secret.
    static let mailServer = form("URL", "smtp://HOST:PORT or smtps://HOST:PORT, without user name and password") {
        isURL($0, schemes: ["smtp", "smtps"])
    }

    /// No scheme, so no program takes it for anything but a path.
    private static func isPath(_ text: String) -> Bool {
        !text.isEmpty && !text.prefix { $0 != "/" }.contains(":")
            && text.unicodeScalars.allSatisfy { $0.value > 32 && $0.value != 127 }
    }
}
