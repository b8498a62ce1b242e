import HTTPTypes
import Hummingbird
import MPinService
import MPinWire
import NIOCore

/// The wire of MIRACL's MFA clients of 2017 (TRUST wire section 7.2), whose customers are the projects. It has Milagro's
/// paths. A request is of this wire if a header has the id of a project, or if its path begins with `/mfa/ID`.
struct MFAFace: Face {
    let trust: TrustFace
    let milagro: MilagroFace

    /// Whom a client belongs to.
    struct Customer: Sendable {
        let project: Project
        /// The beginning of the URLs that the client gets, without a slash at the end.
        let base: String
    }

    typealias CustomerHandler = @Sendable (Request, RequestContext, Customer) async throws -> Response

    private static let place = "/mfa/"

    /// The operations that these clients share with Milagro's, and one of their own.
    private var operations: [(operation: RPSOperation, answer: CustomerHandler)] {
        [
            (.service, { request, _, customer in try service(request, customer) }),
            (.clientSettings, { _, _, customer in try clientSettings(customer) }),
            (.register, { request, context, customer in try await register(request, id: nil, customer, context) }),
            (
                .registerAgain,
                { request, context, customer in
                    try await register(request, id: request.mpinID(context), customer, context)
                }
            ),
            (.signature, { request, context, _ in try await signature(request, request.mpinID(context)) }),
            (.setupDone, { request, context, _ in try await milagro.setupDone(request, request.mpinID(context)) }),
            (.pass1, { request, _, _ in try await pass1(request) }),
            (.pass2, { request, context, _ in try await pass2(request, context.logger) }),
            (.authenticate, { request, _, customer in try await authenticate(request, customer) }),
            (.codeStatus, { request, _, customer in try await codeStatus(request, customer) }),
            (.access, { request, _, _ in try await trust.access(request) }),
            (.renewal, { request, _, _ in try await trust.renewSecret(request) }),
        ]
    }

    /// The operations below `/mfa/ID`, and ``RPSOperation/renewal`` also without that.
    var publicRoutes: [Route] {
        let (own, prefix) = (Self.place + "{customer}", milagro.config.prefix)
        let verify = trust.answering { try await trust.verify($0, $1) }
        let confirm = trust.answering { try await trust.confirm($0, $1) }
        return operations.map { operation, answer in
            Route(
                operation.method, own + operation.path(prefix: prefix), limit: operation.limit, kind: operation.kind,
                ofPath(answer))
        } + [
            Route(
                .post, own + "/verification", limit: .register,
                ofPath { request, context, _ in try await verify(request, context) }),
            Route(
                .post, own + "/verification/confirmation", limit: .register,
                ofPath { request, context, _ in try await confirm(request, context) }),
            Route(
                .renewal, prefix: prefix, cors: .rps(milagro.config.allowOrigin),
                choosing(.renewal) { _, _ in throw APIError.notFound }),
        ]
    }

    /// Returns an answer that chooses the wire by the headers of each request.
    func choosing(_ operation: RPSOperation, _ other: @escaping Handler) -> Handler {
        guard let own = operations.first(where: { $0.operation == operation }) else { return other }
        let answer = ofHeader(own.answer)
        return { request, context in try await (request.customerID == nil ? other : answer)(request, context) }
    }

    private func ofHeader(_ handler: @escaping CustomerHandler) -> Handler {
        answering { request, context in
            let project = try await project(request.customerID ?? "")
            return try await handler(request, context, Customer(project: project, base: trust.config.baseURL))
        }
    }

    private func ofPath(_ handler: @escaping CustomerHandler) -> Handler {
        answering { request, context in
            let project = try await project(context.parameters.get("customer") ?? "")
            // The handlers of other generations read the project from the header.
            var head = request.head
            head.headerFields[.miraclCID] = project.id
            let named = Request(head: head, body: request.body)
            let base = trust.config.baseURL + Self.place + project.id
            return try await handler(named, context, Customer(project: project, base: base))
        }
    }

    /// Returns the project with this id. Throws 406 if there is none, as clients expect.
    private func project(_ id: String) async throws -> Project {
        guard let project = try await trust.rules.projects.find(id, at: trust.rules.now) else {
            throw APIError(.notAcceptable, "Unknown client id")
        }
        return project
    }

    /// A handler whose errors are spelled for these clients, which read only the status. The text is for people.
    private func answering(_ handler: @escaping Handler) -> Handler {
        { request, context in
            do { return try await handler(request, context) } catch let error as APIError {
                return error.plain
            } catch let error as ServiceError {
                return error.spelledForMFA.plain
            } catch ProjectFault.wrongActivationToken {
                return APIError(.forbidden, "Invalid activation code").plain
            } catch ProjectFault.quickCodeForbidden {
                return APIError(.forbidden, "This device may not register another one").plain
            } catch let fault as ProjectFault {
                return APIError(.badRequest, "\(fault)").plain
            }
        }
    }
}

extension Request {
    /// The customer in the headers of an MFA client, or of a Milagro client that has been given a client id. Nil if
    /// there is none.
    fileprivate var customerID: String? {
        [headers[.miraclCID], headers[.miraclClientID]].compactMap(\.self).first { !$0.isEmpty }
    }
}

extension HTTPField.Name {
    fileprivate static let miraclClientID = constant("X-MIRACL-Client-ID")
}

extension APIError {
    /// The error as text.
    fileprivate var plain: Response {
        var response = Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: .init(byteBuffer: .init(string: message)))
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }
}

extension ServiceError {
    /// The answer of the MFA wire to this error (TRUST wire section 7.2).
    fileprivate var spelledForMFA: APIError {
        switch self {
        case .noShares, .noPendingRegistration: APIError(.notFound, "The registration is unknown or has expired")
        case .wrongRegistrationToken: APIError(.notFound, "Unknown regOTT")
        case .expiredLogin, .noWaitingBrowser, .lateProof: APIError(.preconditionFailed, "Invalid or expired authOTT")
        case .notAPoint(let name): APIError(.badRequest, "\(name) is not a point of the curve")
        default: spelled
        }
    }
}
