import Foundation
import MPinSecrets
import MPinService
import MPinStore

/// Compares what D-TAs have given with what RPSs have registered. Whoever has the key of an RPS can get shares of client
/// secrets, also of a point or a permit that is disguised as an identity: only the D-TAs' logs show it, and only by what no
/// RPS has registered.
package struct AuditComparison: Sendable {
    /// A share that no RPS has asked for.
    package struct Finding: Sendable, Equatable, Encodable {
        /// The log of the D-TA, as it was given.
        package let server: String
        /// The number of the line in that log.
        package let number: Int
        package let time: String
        /// What the D-TA has multiplied, in hex.
        package let hash: String
        package let keyID: String
    }

    /// The number of shares of client secrets that D-TAs have given.
    package private(set) var shares = 0
    /// The number of times that RPSs have handed out shares.
    package private(set) var registrations = 0
    package private(set) var findings: [Finding] = []

    /// For how many seconds before and after a registration a D-TA may give a share for it. Signed requests are good for
    /// five minutes, and the clocks of two machines may differ.
    private static let seconds: Int64 = 900

    /// A line of a log, with those members that matter here.
    private struct Line: Decodable {
        let n: Int
        let time: String?
        let event: String?
        let of: String?
        let identity: String?
        /// What was multiplied. Earlier versions have written none.
        let hash: String?
        let key_id: String?

        var moment: Moment? { time.flatMap { Moment(String($0.prefix(19)) + "Z") } }
    }

    /// The moment at which an RPS has handed out shares, and the hash that its line has.
    private struct Registration {
        let moment: Moment
        let hash: String?
    }

    /// A hash, or an identity, and a master secret.
    private struct Name: Hashable {
        let text: String
        let keyID: String
    }

    /// The registrations by their hashes, and by their identities.
    private var byHash: [Name: [Registration]] = [:]
    private var byIdentity: [Name: [Registration]] = [:]

    /// Reads the logs of all RPSs and D-TAs; one log may be of several parts.
    package init(_ places: [(server: String, place: AuditPlace)]) throws {
        let logs = try places.map { server, place in
            (server: server, lines: try AuditFiles.find(place, older: []).1.files.flatMap(\.lines))
        }
        for line in logs.lazy.flatMap({ $0.lines }).compactMap(Self.line) where line.event == "registered" { add(line) }
        for (server, lines) in logs {
            for line in lines.lazy.compactMap(Self.line) where line.event == "share" && line.of == "client-secret" {
                shares += 1
                guard !isOfRegistration(line) else { continue }
                findings.append(
                    Finding(
                        server: server, number: line.n, time: line.time ?? "",
                        hash: line.hash ?? line.identity ?? "", keyID: line.key_id ?? ""))
            }
        }
    }

    private static func line(_ text: Data) -> Line? { try? JSONDecoder().decode(Line.self, from: text) }

    private mutating func add(_ line: Line) {
        guard let keyID = line.key_id, let identity = line.identity, let moment = line.moment else { return }
        registrations += 1
        let registration = Registration(moment: moment, hash: line.hash)
        byIdentity[Name(text: identity, keyID: keyID), default: []].append(registration)
        if let hash = line.hash { byHash[Name(text: hash, keyID: keyID), default: []].append(registration) }
    }

    /// Whether an RPS has registered what was multiplied, at about that time. The identity, which a request only claims, counts
    /// where one of the two lines has no hash.
    private func isOfRegistration(_ line: Line) -> Bool {
        guard let keyID = line.key_id, let moment = line.moment else { return false }
        func isNear(_ other: Registration) -> Bool { abs(other.moment.seconds - moment.seconds) <= Self.seconds }
        if let hash = line.hash, byHash[Name(text: hash, keyID: keyID)]?.contains(where: isNear) ?? false {
            return true
        }
        let claimed = line.identity.flatMap { byIdentity[Name(text: $0, keyID: keyID)] } ?? []
        return claimed.contains { isNear($0) && (line.hash == nil || $0.hash == nil) }
    }
}
