import AsyncHTTPClient
import Hummingbird
import Logging
import MPinOpenID
import MPinService
import MPinStore
import MPinWire
import NIOCore

/// Users of MFA clients of 2017 whom the project's back end verifies, and not a mail (TRUST wire section 6.1): it hears of
/// each who wants to register, and confirms whom it knows.
extension TrustFace {
    /// The seconds that a back end has for its answer. The client of the user waits for it.
    private static let answerSeconds = 5
    /// The name of a device that has none: the vendor's SDK takes no empty one.
    private static let namelessDevice = "device"

    /// Tells the back end at `url` that a user wants to register. It may confirm the registration before it answers, or
    /// later. An answer of 400 to 499 refuses the user.
    func announce(
        _ question: AuthenticationService.Question, to url: String, _ project: Project, _ logger: Logger
    ) async throws -> AuthenticationService.Approval {
        let token = try await newUserToken(question, project, logger)
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: try JSON.bytes(TrustNewUser(new_user_token: token))))
        let status: UInt
        do {
            status = try await ForwardingClient().status(
                of: request, within: config.targets, seconds: Self.answerSeconds)
        } catch {
            logger.warning(
                "the back end of a project cannot be reached",
                metadata: ["project": "\(project.id)", "error": "\(error)"])
            throw APIError(.internalServerError, "The project's back end cannot be reached")
        }
        switch status {
        case 200..<300: return .init(isConfirmed: false)
        case 400..<500: throw APIError(.forbidden, "The project's back end refused the registration")
        default: throw APIError(.internalServerError, "The project's back end failed")
        }
    }

    /// What the back end gets. It is no login: it has no subject and no scope.
    private func newUserToken(
        _ question: AuthenticationService.Question, _ project: Project, _ logger: Logger
    ) async throws -> String {
        let user = question.registration
        let event: JWT.Claims = [
            "userID": .string(user.userID), "deviceName": .string(user.deviceName ?? Self.namelessDevice),
            "hashMPinID": .string(user.id.key), "activateKey": .string(question.activationKey),
            "expireTime": .int(Int(question.expires.seconds)),
        ]
        let claims: JWT.Claims = ["events": .object(["newUser": .object(event)])]
        return try await sign(claims, for: project.id, at: rules.now, logger)
    }

    /// POST /activate/user: the back end confirms a registration by its activation key, which nobody else has.
    func activateUser(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustActivationRequest.self, limits)
        do {
            let (user, project) = try await rules.activate(hash: body.hashMPinId, activationKey: body.activateKey)
            config.audit.record(.userVerified(user, project: project.id))
        } catch let fault as ProjectFault {
            try rates.admit(.token, address: context.remoteAddress)
            throw fault
        }
        return .json(TrustStatusResponse(message: "Activated"))
    }
}
