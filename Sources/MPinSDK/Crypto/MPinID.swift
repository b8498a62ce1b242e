import MPinCrypto
import MPinSecrets
import MPinWire

/// Functions for M-Pin IDs (wire section 4). An M-Pin ID is a JSON text, which is sent and stored in hex. Its bytes are
/// hashed exactly as the server made them.
package enum MPinID {
    /// The maximum number of hex digits. `mpin_signature` of the C header has room for no more.
    private static let maxDigits = 4094

    /// Checks an M-Pin ID from the server and returns it in lower case. Its member `userID` must be equal to the
    /// argument; other Unicode forms of the same text count as equal.
    static func check(_ mpinID: String, userID: String) throws(SDKError) -> String {
        guard mpinID.utf8.count <= maxDigits, let bytes = Hex.decode(mpinID),
            let content = try? JSON.decode(JSONValue.self, from: bytes.span),
            case .string(let named) = content["userID"], named == userID
        else { throw SDKError(.responseParseError, "register: the M-Pin ID is not one of this user") }
        return Hex.encode(bytes)
    }

    /// Checks the form of an M-Pin ID of MIRACL Trust, whose content only the server knows (TRUST wire section 2.1), and
    /// returns it in lower case.
    static func checkForm(_ mpinID: String, _ call: Call) throws(SDKError) -> String {
        guard mpinID.utf8.count <= maxDigits, let bytes = Hex.decode(mpinID), !bytes.isEmpty else {
            throw SDKError(.responseParseError, "\(call.name): the M-Pin ID is not hex")
        }
        return Hex.encode(bytes)
    }

    /// How the user id was verified: the member `vt` of the M-Pin ID (TRUST wire section 2.1), such as `em` for a mail.
    /// Nil if the M-Pin ID has no such member.
    static func verificationType(_ mpinID: String) -> String? {
        guard let bytes = Hex.decode(mpinID), let content = try? JSON.decode(JSONValue.self, from: bytes.span),
            case .string(let type) = content["vt"]
        else { return nil }
        return type
    }

    /// The bytes of an M-Pin ID, which are hashed. `mpinID` is their hex.
    static func bytes(_ mpinID: String) throws(SDKError) -> [UInt8] {
        guard let bytes = Hex.decode(mpinID), !bytes.isEmpty else {
            throw SDKError(.storageError, "the M-Pin ID is not hex")
        }
        return bytes
    }

    /// The bytes that are hashed for an identity with a key pair: those of the M-Pin ID, then those of the public key.
    /// `publicKey` is 128 bytes in hex.
    static func bytes(_ mpinID: String, publicKey: String) throws(SDKError) -> [UInt8] {
        guard let key = Hex.decode(publicKey), key.count == MPinSize.g2 else {
            throw SDKError(.storageError, "the public key is not hex")
        }
        return try bytes(mpinID) + key
    }

    /// The point of an identity with a key pair, a G1 point of 65 bytes. `publicKey` is 128 bytes in hex.
    package static func point(_ mpinID: String, publicKey: String) throws(SDKError) -> [UInt8] {
        let id = try bytes(mpinID, publicKey: publicKey)
        var point = [UInt8](repeating: 0, count: MPinSize.g1)
        try cryptoStep("identity") { () throws(MPinError) in
            var octets = point.mutableSpan
            try Identity.point(id: id.span, into: &octets)
        }
        return point
    }
}
