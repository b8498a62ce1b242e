import Foundation
import MPinSDK
import MPinSecrets
import XCTest

/// Tests the store with processes that save at the same time, or that are killed while they save: 40 kills, or 1,000
/// with FULL=1 in the environment.
final class StoreProcessTests: FolderTestCase {
    private let kills = ProcessInfo.processInfo.environment["FULL"] == "1" ? 1000 : 40

    private func startWriter(_ name: String, rounds: Int) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        // This program was built together with the tests.
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("StoreWriter")
        process.arguments = [path, name, "\(rounds)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    private func numbers() throws -> [String: Int] {
        let store = UserStore(storage: FileStorage(path: path), key: try KeyFile.load(path + ".key"))
        let content = try store.load()
        XCTAssertEqual(content.damaged, 0)
        return Dictionary(
            uniqueKeysWithValues: content.records.map { ($0.userID, Int($0.regOTT?.plainText ?? "") ?? -1) })
    }

    func testKillAtAnyMomentLosesNothingThatWasAcknowledged() throws {
        var random = SystemRandomNumberGenerator()
        _ = try KeyFile.loadOrCreate(path + ".key")
        var last = 0
        for round in 0..<kills {
            let (process, output) = try startWriter("writer", rounds: 1_000_000)
            var text = ""
            let wanted = Int.random(in: 1...20, using: &random)
            while text.split(separator: "\n").count < wanted {
                let data = output.availableData
                guard !data.isEmpty else { return XCTFail("the writer ended by itself") }
                text += String(decoding: data, as: UTF8.self)
            }
            usleep(UInt32.random(in: 0...3000, using: &random))
            kill(process.processIdentifier, SIGKILL)
            text += String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            let acknowledged = text.split(separator: "\n").count
            let stored = try numbers()
            let writer = try XCTUnwrap(stored["writer"])
            XCTAssertTrue(
                (acknowledged...acknowledged + 1).contains(writer), "round \(round): \(writer), \(acknowledged)")
            let shared = try XCTUnwrap(stored["shared"])
            XCTAssertTrue((last + acknowledged...last + acknowledged + 1).contains(shared), "round \(round)")
            last = shared
        }
    }

    func testProcessesDoNotLoseEachOthersUsers() throws {
        _ = try KeyFile.loadOrCreate(path + ".key")
        let writers = try (0..<8).map { try startWriter("user-\($0)", rounds: 50) }
        for writer in writers {
            _ = writer.output.readDataToEndOfFile()
            writer.process.waitUntilExit()
            XCTAssertEqual(writer.process.terminationStatus, 0)
        }
        var expected = ["shared": 400]
        for number in 0..<8 { expected["user-\(number)"] = 50 }
        XCTAssertEqual(try numbers(), expected)
    }
}
