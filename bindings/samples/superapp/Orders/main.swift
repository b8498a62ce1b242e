// A smaller app that shows the user's orders. The super-app has started it.
import Foundation
import SuperappHanded

private struct Answer: Decodable { let orders: [String] }

guard let handed = Handed.read() else {
    print("Only the super-app can start this.")
    exit(2)
}
do {
    let answer = try await handed.get("/orders", as: Answer.self)
    print("orders of \(handed.profile.email): \(answer.orders.joined(separator: ", "))")
} catch {
    print("no orders: \(error.localizedDescription)")
    exit(1)
}
