import Foundation
import MPin
import SuperappHanded

/// The smaller apps. Each is a process of its own, and gets a token that is good for its service only.
struct MiniApps {
    struct MiniApp {
        let program: String
        /// For whom its token is, where that service is, and what the token may do.
        let audience: String
        let service: String
        let scope: String
    }

    let folder: URL
    let apps: [String: MiniApp]

    /// Starts a smaller app and waits for its end.
    func open(_ name: String, _ session: SessionManager) async throws -> Int32 {
        guard let app = apps[name] else {
            say("the apps are \(apps.keys.sorted().joined(separator: " and "))")
            return 0
        }
        let code = try await run(app, session)
        // Its service has refused the token, which may have ended early.
        return code == Handed.needsToken ? try await run(app, session) : code
    }

    private func run(_ app: MiniApp, _ session: SessionManager) async throws -> Int32 {
        let made = try await session.handover(audience: app.audience, scope: app.scope)
        let input = Pipe()
        // A pipe has room for all of it, so nobody waits if the app does not read.
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(Handed(made, service: app.service)))
        try input.fileHandleForWriting.close()
        let process = Process()
        process.executableURL = folder.appending(path: app.program)
        process.environment = [:]
        process.standardInput = input
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
    }
}
