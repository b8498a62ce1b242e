package import MPinOpenID
import MPinService
import MPinStore

/// A client as operators see it: its members, and of its secrets only the times.
package struct ClientEntry: Sendable, Encodable {
    /// The times of a secret that is valid now.
    package struct Secret: Sendable, Encodable {
        package let created: String
        package let expires: String?
    }

    package let client: Client
    package let secrets: [Secret]
    /// Where the client is written, as `FILE:LINE`, if it comes from a file and cannot be changed by a command. Nil if
    /// it is in the database.
    package let place: String?

    init(_ client: Client, place: String?, at now: Moment) {
        self.client = client
        self.place = place
        secrets = client.secrets.filter { $0.expires.map { $0 > now } ?? true }.map {
            Secret(created: $0.created.iso, expires: $0.expires?.iso)
        }
    }

    /// One line `name: text` for each member that is set. A list has a line for each text.
    package var lines: [String] {
        let members = ClientMember.all.flatMap { member in member.texts(client).map { "\(member.name): \($0)" } }
        let times = secrets.map { "secret: of \($0.created)" + ($0.expires.map { ", until \($0)" } ?? "") }
        return ["id: \(client.id)"] + members + times + (place.map { ["read-only: \($0)"] } ?? [])
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Name.self)
        try members.encode(client.id, forKey: Name("id"))
        for member in ClientMember.all {
            let (texts, name) = (member.texts(client), Name(member.name))
            switch member.kind {
            case .list: try members.encode(texts, forKey: name)
            case .flag: try members.encode(texts.first == "true", forKey: name)
            case .number: try members.encodeIfPresent(texts.first.flatMap { Int($0) }, forKey: name)
            case .text: try members.encodeIfPresent(texts.first, forKey: name)
            }
        }
        try members.encode(client.created.iso, forKey: Name("created"))
        try members.encode(secrets, forKey: Name("secrets"))
        try members.encodeIfPresent(place, forKey: Name("read-only"))
    }
}
