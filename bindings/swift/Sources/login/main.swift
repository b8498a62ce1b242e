// Registers a user or logs a user in: login register|login BACKEND STORE USER. The PIN is read from standard input.
import Glibc
import MPin

func readPIN() -> PIN { PIN(readLine(strippingNewline: true) ?? "") }

func isConfirmed(_ user: User, by client: MPinClient) async throws -> Bool {
    do throws(MPinError) {
        try await client.confirmRegistration(user)
        return true
    } catch {
        guard error.code == .identityNotVerified else { throw error }
        return false
    }
}

func register(_ user: User, with client: MPinClient) async throws {
    try await client.startRegistration(user)
    print("waiting for the link in the mail to be opened")
    while try await !isConfirmed(user, by: client) { try await Task.sleep(for: .seconds(1)) }
    try await client.finishRegistration(user, pin: readPIN())
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 4, ["register", "login"].contains(words[0]) else {
    print("usage: login register|login BACKEND STORE USER")
    exit(2)
}
do {
    let client = try await MPinClient(Configuration(storagePath: words[2], backend: words[1]))
    let user = try await client.makeUser(words[3])
    if words[0] == "register" {
        try await register(user, with: client)
    } else {
        _ = try await client.logIn(user, pin: readPIN())
    }
    print("OK")
} catch let error as MPinError {
    print(error.code == .incorrectPIN ? "INCORRECT_PIN" : error.description)
    exit(error.code == .incorrectPIN ? 3 : 1)
}
