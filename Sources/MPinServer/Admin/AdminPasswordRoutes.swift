import HTTPTypes
import Hummingbird

/// The check of one-time passwords, for a program into which a user has typed one.
extension AdminRoute {
    static let passwords = [
        AdminRoute(.post, "/otp/verify", "otp verify", .otp, takes: .body(["user", "otp"])) { request in
            let body = try request.body(PasswordQuestion.self)
            guard (1...request.limits.service.userIDBytes).contains(body.user.utf8.count) else {
                throw APIError(.badRequest, "user: no user id")
            }
            let isRight = try await request.resources.service.redeemPassword(body.otp, user: body.user)
            request.resources.audit.record(.passwordChecked(user: body.user, isRight: isRight))
            // One answer for all reasons. It is not 401, which would mean that the token of the request is wrong.
            guard isRight else { throw APIError(.forbidden, "The one-time password is not valid") }
            return .json(["user": body.user])
        }
    ]
}

private struct PasswordQuestion: Decodable {
    let user: String
    let otp: String
}
