import HTTPTypes
import Hummingbird

/// The CORS headers of a path (wire section 2).
struct CORSPolicy: Sendable {
    let methods: String
    let headers: String
    /// The allowed values of the request's `Origin`; `*` stands for every origin. If the list is empty, pages of other
    /// origins may read nothing. (Milagro's servers allowed all origins.)
    let origins: [String]
    /// Whether pages of the allowed origins may send this site's cookies with their requests.
    var takesCookies = true
    /// If this closure is set, it is used instead of ``origins``: it returns whether pages of an origin may read the
    /// answer to a request.
    var asks: (@Sendable (String, Request) async -> Bool)?

    private static let common =
        "Content-Type, Depth, User-Agent, X-File-Size, X-Requested-With, X-Requested-By, If-Modified-Since, "
        + "X-File-Name, Cache-Control"

    static func rps(_ origins: [String]) -> CORSPolicy {
        CORSPolicy(
            methods: "GET,PUT,POST,DELETE,OPTIONS", headers: common + ", WWW-Authenticate", origins: origins)
    }

    /// The policy of /service, the public path without a prefix.
    static func service(_ origins: [String]) -> CORSPolicy {
        CORSPolicy(methods: "GET, OPTIONS", headers: common, origins: origins)
    }

    static func dta(_ origins: [String]) -> CORSPolicy {
        CORSPolicy(methods: "GET, OPTIONS", headers: common, origins: origins)
    }

    static func rpa(_ origins: [String]) -> CORSPolicy {
        CORSPolicy(
            methods: "GET,POST,HEAD,OPTIONS", headers: common + ", Pragma, Expires, WWW-Authenticate",
            origins: origins)
    }

    /// A policy that lets pages of all origins read the answers, without cookies.
    static let open = CORSPolicy(methods: "GET, OPTIONS", headers: common, origins: ["*"], takesCookies: false)

    /// A policy that lets pages read the answers if `asks` returns true for their origin, without cookies.
    static func asking(
        methods: String, headers: String, _ asks: @escaping @Sendable (String) async -> Bool
    ) -> CORSPolicy {
        CORSPolicy(
            methods: methods, headers: headers, origins: [], takesCookies: false,
            asks: { origin, _ in await asks(origin) })
    }

    /// Scripts that call the provider's endpoints send these.
    static let scriptHeaders = "Authorization, Content-Type"

    /// Clients since client-js 8.9 send the name and the tag of the device, and no `X-MIRACL-CID`.
    static let trustHeaders =
        "Content-Type, X-MIRACL-CID, X-MIRACL-CLIENT, X-MIRACL-DEVICE-NAME, X-MIRACL-DEVICE-TAG"

    /// A policy for clients of MIRACL Trust (TRUST wire section 3): pages may read the answer to a request if `asks`
    /// returns true for their origin and the request.
    static func trust(
        methods: String, _ asks: @escaping @Sendable (String, Request) async -> Bool
    ) -> CORSPolicy {
        CORSPolicy(methods: methods, headers: trustHeaders, origins: [], takesCookies: false, asks: asks)
    }

    /// A policy for the shares of MIRACL Trust: pages of all origins may read them, because nobody gets a share without
    /// a signed request, and the D-TAs do not know the projects.
    static let trustShares = trust(methods: "GET, OPTIONS") { _, _ in true }

    func add(to fields: inout HTTPFields, _ request: Request) async {
        if let asks { return await add(to: &fields, request, asks) }
        if takesCookies { fields.append(HTTPField(name: .accessControlAllowCredentials, value: "true")) }
        fields.append(HTTPField(name: .accessControlAllowMethods, value: methods))
        fields.append(HTTPField(name: .accessControlAllowHeaders, value: headers))
        guard let origin = request.headers.value(.origin) else { return }
        fields.append(HTTPField(name: .vary, value: "Origin"))
        if origins.contains(origin) {
            fields[.accessControlAllowOrigin] = origin
        } else if origins.contains("*") {
            fields[.accessControlAllowOrigin] = "*"
        }
    }

    private func add(
        to fields: inout HTTPFields, _ request: Request, _ asks: @Sendable (String, Request) async -> Bool
    ) async {
        fields.append(HTTPField(name: .vary, value: "Origin"))
        guard let origin = request.headers.value(.origin), methods.contains(request.method.rawValue),
            await asks(origin, request)
        else { return }
        fields[.accessControlAllowOrigin] = origin
        fields.append(HTTPField(name: .accessControlAllowMethods, value: methods))
        fields.append(HTTPField(name: .accessControlAllowHeaders, value: headers))
    }
}
