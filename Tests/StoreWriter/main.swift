import Foundation
import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire

// Saves in a loop, for tests that kill this program or run several of it at the same time: StoreWriter STORE NAME
// ROUNDS. Each round stores its number with the user NAME, adds one to the number of the user "shared", and then prints
// its own number on a line.
let arguments = CommandLine.arguments
guard arguments.count == 4, let rounds = Int(arguments[3]) else { exit(2) }
let (path, name) = (arguments[1], arguments[2])
let store = UserStore(storage: FileStorage(path: path), key: try KeyFile.loadOrCreate(path + ".key"))

func save(_ user: String, _ number: (Int) -> Int) throws(SDKError) {
    var fresh = UserRecord(userID: user, backend: "http://test")
    fresh.state = UserState.startedRegistration.name
    fresh.mpinID = "7b7d"
    fresh.regOTT = "0"
    _ = try store.update(fresh.key) { record throws(SDKError) in
        var changed = record ?? fresh
        changed.regOTT = SecretText(String(number(Int(changed.regOTT?.plainText ?? "") ?? 0)))
        record = changed
    }
}

for round in 1...rounds {
    try save(name) { _ in round }
    try save("shared") { $0 + 1 }
    try FileHandle.standardOutput.write(contentsOf: Data("\(round)\n".utf8))
}
