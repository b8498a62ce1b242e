import Foundation
import FoundationNetworking

extension Handed {
    /// What the service answers to a GET with the token. If it refuses the token, this ends the program.
    public func get<Answer: Decodable>(_ path: String, as type: Answer.Type) async throws -> Answer {
        guard let url = URL(string: service + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.setValue("Bearer \(accessToken)", forHTTPHeaderField: "Authorization")
        let (body, response) = try await URLSession.shared.data(for: request)
        switch (response as? HTTPURLResponse)?.statusCode {
        case 200: return try JSONDecoder().decode(type, from: body)
        case 401: exit(Self.needsToken)
        default: throw URLError(.badServerResponse)
        }
    }
}
