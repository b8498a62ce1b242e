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

    /// Makes pages for errors, but only for people, whose browsers accept HTML.
    var errorPage: ErrorForm {
        { error, request, _ in
            let accepts = request.headers[values: .accept].joined(separator: ",")
            return accepts.contains("text/html") ? pages(request).refusal(error) : nil
        }
    }

    /// An operation for people.
    func page(
        _ method: HTTPRequest.Method, _ path: String, _ limit: Route.Limit, cors: CORSPolicy? = nil,
        _ answer: @escaping Handler
    ) -> Route {
        Route(method, path, limit: limit, cors: cors, errors: errorPage, answer)
    }

    /// The files that the pages need.
    var files: [Route] {
        Asset.all(brand).map { file in Route(.get, file.path, limit: .other) { _, _ in file.response } }
            + [Route(.get, "/favicon.ico", limit: .other) { _, _ in brand.favicon() }]
    }
}
