import HTTPTypes
import Hummingbird
import MPinOpenID

/// A browser's request to a protected host, as the headers of the host's reverse proxy describe it.
struct ProxiedRequest {
    /// The origin of the protected host.
    let origin: WebOrigin
    /// Path and query. Empty if the proxy does not name them.
    let target: String
    let method: String
    /// The id of the client that the proxy asks about (`X-Mpin-Client`). Nil if it does not say.
    let clientID: String?
    /// Whether nginx asks, which knows no other answers than 2xx, 401 and 403.
    let isOfNginx: Bool

    /// Reads `X-Original-URL` and `X-Original-Method`, as the document configures nginx, or `X-Forwarded-Method`,
    /// `-Proto`, `-Host` and `-Uri`, as Caddy and Traefik send them. A proxy may pass on headers of the other kind that
    /// a browser has invented, so both kinds must name the same origin if both are there.
    ///
    /// Throws 403, because nginx takes other errors for failures of its own.
    init(_ request: Request, _ context: RequestContext) throws(APIError) {
        guard context.isFromTrustedProxy else {
            throw APIError(.forbidden, "Only a trusted proxy may ask (--behind-proxy, --trusted-proxy)")
        }
        guard !request.headers.contains(where: { Self.isTakenForUser($0.name) }) else {
            throw APIError(.forbidden, "A header has a name that websites take for that of the user")
        }
        clientID = try Self.single(.xMpinClient, request)
        let original = try Self.single(.xOriginalURL, request)
        let host = try Self.single(.xForwardedHost, request)
        isOfNginx = original != nil
        method = try Self.single(isOfNginx ? .xOriginalMethod : .xForwardedMethod, request) ?? "GET"
        var origins: [WebOrigin?] = []
        var target = try Self.single(.xForwardedURI, request) ?? ""
        if let host { origins.append(Self.origin(try Self.single(.xForwardedProto, request) ?? "", host)) }
        if let original {
            let (origin, rest) = Self.split(original)
            origins.append(origin)
            target = rest
        }
        guard let first = origins.first, let origin = first, origins.allSatisfy({ $0 == origin }) else {
            throw APIError(.forbidden, "The proxy's headers do not name one host")
        }
        self.origin = origin
        self.target = target
    }

    /// Whether websites of CGI and WSGI take a header of this name for one that names the user, though the proxy, which
    /// compares whole names, does not replace it: they spell `Remote_User` and `Remote.User` as `REMOTE_USER`, too.
    private static func isTakenForUser(_ name: HTTPField.Name) -> Bool {
        let text = name.canonicalName
        guard text.hasPrefix("remote"), !HTTPField.Name.ofUser.contains(name) else { return false }
        let folded = text.map { $0.isLetter || $0.isNumber ? $0 : "-" }
        return HTTPField.Name.ofUser.contains { $0.canonicalName.elementsEqual(folded) }
    }

    /// Returns the value of a header. Nil if there is none. Throws if it is there several times.
    private static func single(_ name: HTTPField.Name, _ request: Request) throws(APIError) -> String? {
        let values = request.headers[values: name]
        guard values.count < 2 else { throw APIError(.forbidden, "The proxy's headers do not name one host") }
        return values.first
    }

    /// Splits a URL into its origin, or nil if it has none, and the rest.
    private static func split(_ url: String) -> (WebOrigin?, String) {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let scheme = parts.first, scheme.hasSuffix(":"), parts[1].isEmpty else {
            return (nil, "")
        }
        let host = parts[2].prefix { $0 != "/" && $0 != "?" }
        return (origin(String(scheme.dropLast()), String(host)), String(parts[2][host.endIndex...]))
    }

    /// Returns the origin in the form that browsers send: in lower case, and without the scheme's default port.
    private static func origin(_ scheme: String, _ host: String) -> WebOrigin? {
        let (scheme, host) = (scheme.lowercased(), host.lowercased())
        let port = scheme == "https" ? ":443" : ":80"
        return WebOrigin("\(scheme)://" + (host.hasSuffix(port) ? String(host.dropLast(port.count)) : host))
    }
}

extension Request {
    /// Whether a script or a part of a page is asking, and not a person who has opened a page. A login page would be of
    /// no use to it.
    var isOfScript: Bool {
        if headers[.xRequestedWith]?.lowercased() == "xmlhttprequest" { return true }
        if let mode = headers[.secFetchMode], mode != "navigate" { return true }
        guard let accept = headers[.accept]?.lowercased() else { return false }
        return !accept.contains("text/html") && !accept.hasPrefix("*/*")
    }
}

extension HTTPField.Name {
    static let remoteUser = constant("Remote-User")
    static let remoteName = constant("Remote-Name")
    static let remoteEmail = constant("Remote-Email")
    static let remoteGroups = constant("Remote-Groups")
    /// The headers by which a website learns who its user is.
    fileprivate static let ofUser = [remoteUser, remoteName, remoteEmail, remoteGroups]

    fileprivate static let xMpinClient = constant("X-Mpin-Client")
    fileprivate static let xOriginalURL = constant("X-Original-URL")
    fileprivate static let xOriginalMethod = constant("X-Original-Method")
    fileprivate static let xForwardedMethod = constant("X-Forwarded-Method")
    fileprivate static let xForwardedHost = constant("X-Forwarded-Host")
    fileprivate static let xForwardedURI = constant("X-Forwarded-Uri")
    fileprivate static let xRequestedWith = constant("X-Requested-With")
    fileprivate static let secFetchMode = constant("Sec-Fetch-Mode")
}
