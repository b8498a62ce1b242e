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

/// Calls `update` again if it could not get the store's lock within 10 s. On a busy machine, seven other processes can
/// get the lock first. The failed call has changed nothing.
func untilLocked(_ update: () throws(SDKError) -> Void) throws(SDKError) {
    while true {
        do { return try update() } catch {
            guard error.text.contains("cannot lock") else { throw error }
        }
    }
}

func save(_ user: String, _ number: (Int) -> Int) throws(SDKError) {
    var fresh = UserRecord(userID: user, backend: "http://test")
    fresh.state = UserState.startedRegistration.name
    fresh.mpinID = "7b7d"
    fresh.regOTT = "0"
    try untilLocked { () throws(SDKError) in
        _ = try store.update(fresh.key) { record throws(SDKError) in
            var changed = record ?? fresh
            changed.regOTT = SecretText(String(number(Int(changed.regOTT?.plainText ?? "") ?? 0)))
            record = changed
        }
    }
}

for round in 1...rounds {
    try save(name) { _ in round }
    try save("shared") { $0 + 1 }
    try FileHandle.standardOutput.write(contentsOf: Data("\(round)\n".utf8))
}
