package import MPinStore
import MPinWire

/// The result of a login. Each HTTP interface of the server turns the verdict into an answer of its wire protocol.
package enum Verdict: Sendable, Equatable {
    case right
    /// The PIN is wrong. `left` tells how many more PINs may be wrong before the block.
    case wrong(left: Int)
    /// Blocked by wrong PINs or by the operator, or the user is suspended. `until` is nil if only the operator can end that.
    case blocked(until: Moment?)
    /// Revoked by the operator, permanently.
    case revoked
    /// The identity's master secret is no longer served, or a restore has lost its registration. The user must register
    /// again.
    case retired
    /// All remaining attempts are in progress. Only when they have ended is it known whether one is left.
    case busy
    /// Nothing is judged, because every right PIN would be judged wrong.
    case unavailable(UnavailableReason)

    package var isWrong: Bool { if case .wrong = self { true } else { false } }

    /// Why nothing can be judged.
    package enum UnavailableReason: Sendable {
        /// A D-TA has lost its share of the master secret.
        case masterSecret
        /// A D-TA's time permits are wrong.
        case permits
    }
}

/// The stored form: a version and the name of the case. `busy` and `unavailable` are never stored, because they give no
/// one-time token.
extension Verdict: Codable {
    private enum CodingKeys: String, CodingKey {
        case version, name = "case", left, until
        // The members of the form before version 1, which contained an HTTP status.
        case status, retryAt, attemptsLeft
    }

    private static let version = 1

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(Self.version, forKey: .version)
        switch self {
        case .right: try members.encode("right", forKey: .name)
        case .wrong(let left):
            try members.encode("wrong", forKey: .name)
            try members.encode(left, forKey: .left)
        case .blocked(let until):
            try members.encode("blocked", forKey: .name)
            try members.encodeIfPresent(until, forKey: .until)
        case .revoked: try members.encode("revoked", forKey: .name)
        case .retired: try members.encode("retired", forKey: .name)
        case .busy, .unavailable:
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "no token stands for that"))
        }
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        guard let version = try members.decodeIfPresent(Int.self, forKey: .version) else {
            self = try Self.earlier(members)
            return
        }
        let name = try members.decode(String.self, forKey: .name)
        switch (version, name) {
        case (1, "right"): self = .right
        case (1, "wrong"): self = .wrong(left: try members.decode(Int.self, forKey: .left))
        case (1, "blocked"): self = .blocked(until: try members.decodeIfPresent(Moment.self, forKey: .until))
        case (1, "revoked"): self = .revoked
        case (1, "retired"): self = .retired
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .name, in: members, debugDescription: "unknown verdict \(version) \(name)")
        }
    }

    /// Reads the form before version 1. It had one status, 410, for blocked and for revoked identities.
    private static func earlier(_ members: KeyedDecodingContainer<CodingKeys>) throws -> Verdict {
        let status = try members.decode(Int.self, forKey: .status)
        switch status {
        case 200: return .right
        case 401: return .wrong(left: try members.decode(Int.self, forKey: .attemptsLeft))
        case 409: return .retired
        case 410: return .blocked(until: nil)
        case 429: return .blocked(until: try members.decode(Moment.self, forKey: .retryAt))
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .status, in: members, debugDescription: "unknown verdict \(status)")
        }
    }
}

extension Verdict: Storable {
    package init(stored bytes: [UInt8]) throws {
        guard var members = try Unpacker(bytes, version: 1) else {
            self = try JSON.decode(from: bytes.span)
            return
        }
        let (name, moment, left) = (try members.count(), try members.optionalMoment(), try members.count())
        switch name {
        case 1: self = .right
        case 2: self = .wrong(left: left)
        case 3: self = .blocked(until: moment)
        case 4: self = .revoked
        case 5: self = .retired
        default: throw StoreError.unusable("a verdict that this version does not know")
        }
    }

    /// The verdict in packed form. Its length is the same for all verdicts, so that it does not reveal the verdict.
    package func stored() throws -> [UInt8] {
        var members = Packer(version: 1, capacity: 32)
        let (name, until, left): (Int, Moment?, Int) =
            switch self {
            case .right: (1, nil, 0)
            case .wrong(let left): (2, nil, left)
            case .blocked(let until): (3, until, 0)
            case .revoked: (4, nil, 0)
            case .retired: (5, nil, 0)
            case .busy, .unavailable: throw StoreError.unusable("no token stands for \(self)")
            }
        members.put(name)
        members.put(until)
        members.put(left)
        return members.bytes
    }
}
