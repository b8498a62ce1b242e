import Foundation
import MPinSecrets
import XCTest

/// Tests files with passphrases, and the keys that are derived from passphrases.
final class PassphraseTests: XCTestCase {
    /// The expected key was computed by argon2-cffi (the reference C code): argon2id, version 19, 3 passes, 64 MiB, 1
    /// lane.
    func testTheKeyIsArgon2id() throws {
        let derivation = try XCTUnwrap(
            Argon2id(passes: 3, kibibytes: 64 << 10, salt: Array("0123456789abcdef".utf8)))
        let key = derivation.key(secret(Array("correct horse battery".utf8)))
        XCTAssertEqual(key?.hex(), "00bac562b407875296682e0b8043688e09be94fcea326e99aa62d0edb44404fc")
    }

    func testAPassphraseFileIsOneLineForItsOwnerOnly() throws {
        let path = NSTemporaryDirectory() + "passphrase-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        func load(_ text: String, mode: Int = 0o600) throws -> String {
            try? FileManager.default.removeItem(atPath: path)
            _ = FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
            return String(decoding: bytes(try SecretFile.loadPassphrase(path)), as: UTF8.self)
        }
        XCTAssertEqual(try load("correct horse\n"), "correct horse")
        XCTAssertEqual(try load("correct horse\r\n"), "correct horse")
        XCTAssertEqual(try load(" correct horse "), " correct horse ")
        XCTAssertEqual(try load(String(repeating: "x", count: 1024) + "\n").count, 1024)
        for bad in ["", "\n", "short\n", "correct horse\nand another\n", String(repeating: "x", count: 1025)] {
            XCTAssertThrowsError(try load(bad)) { error in
                XCTAssertEqual(error as? KeyFileError, .passphrase(path: path), "\(error)")
            }
        }
        XCTAssertThrowsError(try load("correct horse", mode: 0o604))
    }
}
