import MPinHTTP

/// The kinds of options that contain URLs. The URLs are checked, because they are sent to clients and written into
/// mails and pages.
extension OptionKind {
    private static let web = ["http", "https"]

    /// An `http://` or `https://` URL to which paths are added.
    static let baseURL = form("URL", "a URL that begins with http:// or https://, without ? and #") {
        isURL($0, schemes: web) && !$0.contains("?") && !$0.contains("#")
    }

    /// The URL of one endpoint. The empty text means that there is none.
    static let endpoint = form("URL", "a URL that begins with http:// or https://, or nothing") {
        $0.isEmpty || isURL($0, schemes: web)
    }

    /// The URL to which secrets are posted. They must not cross the network without TLS.
    static let webhook = form("URL", "a URL that begins with https://, or http:// on this machine") {
        isURL($0, schemes: web) && ($0.hasPrefix("https://") || $0.isLoopbackURL)
    }

    /// The origin of pages that handle secrets.
    static let origin = form("ORIGIN", "https://HOST, or http:// on this machine, without a path") {
        webhook.accepts($0) && $0.split(separator: "/", omittingEmptySubsequences: false).count == 3
            && !$0.contains { "?#@".contains($0) }
    }

    /// An `http://` or `https://` URL or a path, for clients.
    static func pathOrURL(_ placeholder: String) -> OptionKind {
        form(placeholder, "a path, or a URL that begins with http:// or https://") { text in
            isURL(text, schemes: web) || isPath(text)
        }
    }

    /// The URL of a mail server. It must not contain a password, because then it would be a secret.
    static let mailServer = form("URL", "smtp://HOST:PORT or smtps://HOST:PORT, without user name and password") {
        isURL($0, schemes: ["smtp", "smtps"])
    }

    /// Whether the text is a path. It must have no scheme, so that no program takes it for a URL.
    private static func isPath(_ text: String) -> Bool {
        !text.isEmpty && !text.prefix { $0 != "/" }.contains(":")
            && text.unicodeScalars.allSatisfy { $0.value > 32 && $0.value != 127 }
    }
}
