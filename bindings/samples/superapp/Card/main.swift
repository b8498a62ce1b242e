// A smaller app that shows the user's business card. The super-app has started it. Its token is for the provider, which
// tells only what the token's scopes allow.
import Foundation
import SuperappHanded

private struct Answer: Decodable {
    let sub: String
    let name: String?
    let email: String?
}

guard let handed = Handed.read() else {
    print("Only the super-app can start this.")
    exit(2)
}
do {
    let answer = try await handed.get("/oidc/userinfo", as: Answer.self)
    print("card of \(answer.sub == handed.profile.sub ? handed.profile.email : "somebody else")")
    print("the provider tells this app \(answer.email == nil ? "no mail address" : "the mail address")")
} catch {
    print("no card: \(error.localizedDescription)")
    exit(1)
}
