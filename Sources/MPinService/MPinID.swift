import Foundation
import MPinSecrets
package import MPinStore

/// An M-Pin ID: the bytes of its JSON text, which are hashed exactly as they came (wire section 4).
package struct MPinID: Sendable, Equatable {
    /// Lower-case hex of ``bytes``: the name of the ID on the wire.
    package let hex: String
    package let bytes: [UInt8]
    /// SHA-256 of ``bytes``, 32 bytes. Its name on the wire is `hash_mpin_id`.
    package let hash: [UInt8]

    /// The hash from which the D-TAs make the client secret, 32 bytes: for a client with a key pair it also covers the public
    /// key, 128 bytes (TRUST wire section 1.4). Nil for one without.
    package func secretHash(publicKey: [UInt8]?) -> [UInt8] { publicKey.map { SHA256.hash(bytes + $0) } ?? hash }

    /// The key of the ID's items in a store: hex of ``hash``.
    package var key: String { Hex.encode(hash) }

    /// The user id in the ID's JSON text, in NFC; nil if there is none. It proves nothing, because anybody can invent
    /// an ID.
    package var userID: String? {
        content.map { UserID.normal($0.userID) }
    }

    /// The id of the project in the ID's JSON text; nil if the ID is of no project. It proves nothing, either.
    package var projectID: String? { content?.cID }

    /// How the user was verified, as the ID's JSON text says; nil if it does not say. It proves something only for an
    /// ID that this server has registered.
    package var verification: VerificationType? { content?.vt.flatMap(VerificationType.init(rawValue:)) }

    /// Whether the ID's JSON text says that the identity only signs. It proves something only for an ID that this server
    /// has registered.
    package var isForSignatures: Bool { content?.scope == [Scope.signing.rawValue] }

    /// The id of the project whose back end has verified the user. Nil if the server itself has. It proves something only
    /// for an ID that this server has registered, because all of those end as this server has written them.
    package var verifyingProject: String? {
        bytes.suffix(Self.byBackEnd.count).elementsEqual(Self.byBackEnd) ? content?.cID : nil
    }

    /// Whether the ID tells where its user comes from. IDs that were made by the login or the QuickCode of another one,
    /// and those of version 1, did not, before users of projects had a name space of their own.
    var tellsOrigin: Bool {
        guard let content, content.cID != nil else { return true }
        return content.by != nil || verification == .mail || verification == .custom
    }

    /// How IDs end whose user a back end has verified. The member before it is `vt` or `by`.
    private static let byBackEnd = Array(#":"pv"}"#.utf8)

    private var content: Content? {
        Content(issued: bytes) ?? (try? JSONDecoder().decode(Content.self, from: Data(bytes)))
    }

    /// The members of the ID's JSON text that are of use here. All forms of IDs have a salt.
    fileprivate struct Content: Decodable {
        let userID: String
        let salt: String
        let cID: String?
        let vt: String?
        let scope: [String]?
        /// How the user of the first of the user's identities was verified, from which this one comes.
        let by: String?
    }

    /// Reads hex in either case. Nil for an odd number of digits, other characters or an empty text.
    package init?(hex: String) {
        guard let bytes = Hex.decode(hex), !bytes.isEmpty else { return nil }
        self.init(bytes: bytes)
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        hex = Hex.encode(bytes)
        hash = SHA256.hash(bytes)
    }

    /// Makes a new ID for `userID`, with a random salt of 16 bytes that makes it unique.
    ///
    /// The text is UTF-8, with `\u` escapes only where JSON needs them: old clients compare `userID` byte by byte with
    /// the id that they asked for.
    package static func issue(userID: String, mobile: Int, at now: Moment) throws -> MPinID {
        let salt = Hex.encode(try randomBytes(16))
        let quoted = try quoted(userID)
        let text = #"{"mobile": \#(mobile), "issued": "\#(now.issued)", "userID": \#(quoted), "salt": "\#(salt)"}"#
        return MPinID(bytes: Array(text.utf8))
    }

    /// Makes a new ID of version 5 for a user of a project (TRUST wire section 2.1). `verification` tells how the user was
    /// verified. `isByBackEnd`: whether the user of the identity from which a further one comes was verified by the
    /// project's back end; it has no effect on an ID whose `verification` says so itself.
    package static func issue(
        userID: String, project: String, verification: VerificationType = .mail, isByBackEnd: Bool = false,
        scope: Scope = .login, at now: Moment
    ) throws -> MPinID {
        let salt = Data(try randomBytes(16)).base64EncodedString()
        var members = [
            #""iat":\#(now.seconds)"#, #""userID":\#(try quoted(userID))"#, #""cID":\#(try quoted(project))"#,
            #""salt":"\#(salt)""#, #""v":5"#, #""scope":["\#(scope.rawValue)"]"#, #""dta":[]"#,
            #""vt":"\#(verification.rawValue)""#,
        ]
        switch verification {
        case .mail, .custom: break
        case .quickCode, .renewal: members.append(origin(isByBackEnd: isByBackEnd))
        }
        return MPinID(bytes: Array("{\(members.joined(separator: ","))}".utf8))
    }

    /// What an identity of a project is for.
    package enum Scope: String, Sendable {
        case login = "auth"
        /// Signatures only, with a PIN of their own, as the first clients kept them.
        case signing = "dvs"
    }

    /// The last member of an ID that does not tell by its other members where its user comes from.
    private static func origin(isByBackEnd: Bool) -> String {
        #""by":"\#((isByBackEnd ? VerificationType.custom : .mail).rawValue)""#
    }

    /// Makes a new ID of version 1 for a user of a project (TRUST wire section 2.1).
    package static func issue(
        userID: String, project: String, mobile: Int, isByBackEnd: Bool = false, at now: Moment
    ) throws -> MPinID {
        let members = [
            #""issuedAt":\#(now.seconds)"#, #""userID":\#(try quoted(userID))"#, #""cID":\#(try quoted(project))"#,
            #""mobile":\#(mobile)"#, #""salt":"\#(Hex.encode(try randomBytes(16)))""#, #""v":1"#,
            origin(isByBackEnd: isByBackEnd),
        ]
        return MPinID(bytes: Array("{\(members.joined(separator: ","))}".utf8))
    }

    private static func quoted(_ text: String) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(text), as: UTF8.self)
    }
}

extension MPinID.Content {
    /// Reads the text of an ID of version 5 as this server writes it. Each login reads its ID a few times, and the JSON
    /// parser would take longer than anything else that a login does with its ID. Nil for any other text, which may be
    /// JSON with the same members in another form.
    fileprivate init?(issued bytes: [UInt8]) {
        var rest = bytes[...]
        guard rest.skip(#"{"iat":"#), rest.first != UInt8(ascii: "0") else { return nil }
        rest = rest.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard rest.skip(#","userID":""#), let userID = rest.text(), rest.skip(#"","cID":""#), let project = rest.text(),
            rest.skip(#"","salt":""#), let salt = rest.text(),
            rest.skip(#"","v":5,"scope":["auth"],"dta":[],"vt":""#), let type = rest.text()
        else { return nil }
        let by = rest.skip(#"","by":""#) ? rest.text() : nil
        guard rest.skip(#""}"#), rest.isEmpty else { return nil }
        self.init(userID: userID, salt: salt, cID: project, vt: type, scope: [MPinID.Scope.login.rawValue], by: by)
    }
}

extension ArraySlice<UInt8> {
    /// Removes the text from the beginning. False if the bytes do not begin with it.
    fileprivate mutating func skip(_ text: StaticString) -> Bool {
        let isThere = text.withUTF8Buffer { starts(with: $0) }
        if isThere { removeFirst(text.utf8CodeUnitCount) }
        return isThere
    }

    /// Removes the text up to the next quotation mark, and returns it. Nil if it has an escape or is no text in JSON.
    fileprivate mutating func text() -> String? {
        let text = prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 >= 0x20 }
        self = self[text.endIndex...]
        return String(validating: text, as: UTF8.self)
    }
}

/// How the user of an M-Pin ID was verified (TRUST wire section 2.1).
package enum VerificationType: String, Codable, Sendable {
    /// By a mail of this server.
    case mail = "em"
    /// By the project's own back end.
    case custom = "pv"
    /// By a QuickCode, which another device of the user has made.
    case quickCode = "rc"
    /// By a login of an older identity of the same device.
    case renewal = "dvs"
}

/// In JSON an ID is written in hex.
extension MPinID: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = MPinID(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an M-Pin ID")
        }
        self = id
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}

extension UserKey {
    /// The user of a registered identity, of whose record this is the user id. `mpinID` is in hex.
    package init(_ userID: String, ofIdentity mpinID: String) {
        let named = UserKey(text: userID)
        guard named.project == nil, mpinID.utf8.suffix(Self.byBackEnd.count).elementsEqual(Self.byBackEnd) else {
            self = named
            return
        }
        self.init(userID, of: MPinID(hex: mpinID)?.verifyingProject)
    }

    /// The end of ``MPinID/hex`` for an ID whose user a back end has verified. Only such an ID is decoded: each login asks.
    private static let byBackEnd = Array("3a227076227d".utf8)
}
