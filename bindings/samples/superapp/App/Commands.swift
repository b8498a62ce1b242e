import Foundation
import MPin

/// What the user types.
@MainActor struct Commands {
    let client: MPinClient
    let issuer: String
    let session: SessionManager
    let apps: MiniApps
    let model: AuthViewModel

    func run() async {
        while let line = await nextLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.first != "quit" else { return }
            do { try await obey(words) } catch { say("\(error)") }
        }
    }

    private func obey(_ words: [String]) async throws {
        switch (words.first, words.dropFirst().first) {
        case ("register", let mail?): try await register(mail)
        case ("login", let mail?):
            await model.login(mail)
            if !model.failure.isEmpty { say(model.failure) }
        case ("open", let name?):
            let code = try await apps.open(name, session)
            if code != 0 { say("\(name) has ended with code \(code)") }
        case ("logout", nil): await model.logout()
        default: say("register MAIL, login MAIL, open orders, open card, logout, quit")
        }
    }

    private func register(_ mail: String) async throws {
        try await client.setBackend(issuer)
        let user = try await client.makeUser(mail)
        try await client.startRegistration(user)
        say("open the link in the mail")
        while try await !isConfirmed(user) { try await Task.sleep(for: .seconds(1)) }
        say("choose a PIN:")
        try await client.finishRegistration(user, pin: PIN(await nextLine() ?? ""))
        say("registered")
    }

    private func isConfirmed(_ user: User) async throws(MPinError) -> Bool {
        do throws(MPinError) {
            try await client.confirmRegistration(user)
            return true
        } catch {
            guard error.code == .identityNotVerified else { throw error }
            return false
        }
    }
}

/// The next line that the user types; nil at the end. Only the thread that reads waits.
func nextLine() async -> String? {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: readLine()) }
    }
}

/// Writes a line at once, also if standard output is a pipe.
func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }
