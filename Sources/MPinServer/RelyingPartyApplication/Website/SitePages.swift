import HTTPTypes
import Hummingbird

extension SiteConfig {
    /// The language of a visitor: the best that the browser asks for, otherwise the operator's.
    func language(_ request: Request) -> Language {
        Language.preferred(request.headers[.acceptLanguage]) ?? language
    }

    /// The pages in this visitor's language.
    func pages(_ request: Request) -> Pages { pages(request, in: language(request)) }

    func pages(_ request: Request, in language: Language) -> Pages {
        let isHere = browserClient?.isAt(request) ?? false
        return Pages(brand: brand, language: language, browserClient: browserClient, hostsClient: isHere)
    }

    /// The base URL of the client's pages.
    var clientURL: String { browserClient?.origin ?? publicURL }

    /// Makes pages for errors, but only for requests of people: those that accept HTML and do not go to a path that
    /// programs use. `prefix`: that of the RPS's public endpoints.
    func errorPage(prefix: String) -> ErrorForm {
        { error, request, _ in
            let accepts = request.headers[values: .accept].joined(separator: ",")
            guard accepts.contains("text/html"), !isCalledByPrograms(request.uri.path, prefix) else { return nil }
            return pages(request).refusal(error)
        }
    }

    private func isCalledByPrograms(_ path: String, _ prefix: String) -> Bool {
        let first = path.split(separator: "/").first ?? ""
        let names = [
            prefix, String(AuthorityGate.path.dropFirst()), "service", "mpinAuthenticate", "mpinLogout", "oidc",
            ".well-known",
        ]
        return names.contains(String(first))
    }

    /// Adds the files that the pages need.
    func addFiles(to router: Router<RequestContext>) {
        for file in Asset.all(brand) { router.serve(file.path, [.get: { _, _ in file.response }]) }
        router.serve("/favicon.ico", [.get: { _, _ in brand.favicon() }])
    }
}
