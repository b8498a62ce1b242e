import MPinCrypto
import MPinSecrets
import MPinWire

/// M-Pin IDs (wire section 4): the hex of a JSON text whose exact bytes are what is hashed.
enum MPinID {
    /// Hex digits of the longest one that is taken: what `mpin_signature` of the C header has room for.
    private static let maxDigits = 4094

    /// The ID that the server has made, in lower case. Its `userID` must be the one that was asked for, in
    /// whatever Unicode form.
    static func check(_ mpinID: String, userID: String) throws(SDKError) -> String {
        guard mpinID.utf8.count <= maxDigits, let bytes = Hex.decode(mpinID),
            let content = try? JSON.decode(JSONValue.self, from: bytes.span),
            case .string(let named) = content["userID"], named == userID
        else { throw SDKError(.responseParseError, "register: the M-Pin ID is not one of this user") }
        return Hex.encode(bytes)
    }

    /// What the ID itself says (TRUST wire section 2.1); nil where it does not.
    static func verificationType(_ mpinID: String) -> String? {
        guard let bytes = Hex.decode(mpinID), let content = try? JSON.decode(JSONValue.self, from: bytes.span),
            case .string(let type) = content["vt"]
        else { return nil }
        return type
    }

    /// The bytes to be hashed.
    static func bytes(_ mpinID: String) throws(SDKError) -> [UInt8] {
        guard let bytes = Hex.decode(mpinID), !bytes.isEmpty else {
            throw SDKError(.storageError, "the M-Pin ID is not hex")
        }
        return bytes
    }

    /// The bytes to be hashed for an identity with a key pair. `publicKey` is 128 bytes in hex.
    static func bytes(_ mpinID: String, publicKey: String) throws(SDKError) -> [UInt8] {
        guard let key = Hex.decode(publicKey), key.count == MPinSize.g2 else {
            throw SDKError(.storageError, "the public key is not hex")
        }
        return try bytes(mpinID) + key
    }
}
