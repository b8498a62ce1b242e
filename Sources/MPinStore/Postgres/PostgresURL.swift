/// Where a PostgreSQL database is: a URL in the form of libpq, `postgres://USER@HOST,HOST:PORT/DATABASE?OPTION=VALUE`.
///
/// Two options are ours: `pool` is the largest number of connections (1 to 500, default 8), and `prepared=off` keeps no
/// statements at the server, which a pooler between us and the server may demand. All others are libpq's, for example
/// `sslrootcert` and `passfile`.
package struct PostgresURL: Sendable, Equatable {
    /// The URL for libpq.
    package let text: String
    let poolSize: Int
    let preparesStatements: Bool

    /// Reads what follows `postgres:`. Throws ``StoreError/unusable(_:)`` if it is not such a URL or has a password:
    /// other users of the machine can read the arguments of a process. No error repeats what may be a part of a password.
    init(afterScheme rest: Substring) throws {
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let place = parts.first, place.hasPrefix("//") else {
            throw StoreError.unusable("postgres: not postgres://USER@HOST/DATABASE")
        }
        let authority = place.dropFirst(2).prefix { $0 != "/" }
        let at = authority.lastIndex(of: "@")
        var options = try Self.options(parts.count > 1 ? parts[1] : "")
        // With "/" or "?" in a password, its rest and "@" follow what looks like a host and a port.
        let hasPassword =
            at.map { authority[..<$0].contains(":") } ?? (authority.contains(":") && rest.contains("@"))
            || options["password"] != nil || options["sslpassword"] != nil
        guard !hasPassword else {
            throw StoreError.unusable(
                "postgres: a URL may not contain a password: give passfile=FILE (write %40 for @ in an option)")
        }
        poolSize = try Self.poolSize(options.removeValue(forKey: "pool"))
        preparesStatements = try Self.isOn(options.removeValue(forKey: "prepared"))
        let hosts = authority[(at.map { authority.index(after: $0) } ?? authority.startIndex)...]
        guard hosts.split(separator: ",").allSatisfy(Self.hasNoPortOrANumber) else {
            throw StoreError.unusable("postgres: a port is not a number")
        }
        options.merge(Self.defaults(hosts: hosts, options)) { given, _ in given }
        let query = options.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        text = "postgresql:\(place)?" + query.joined(separator: "&")
    }

    private static func options(_ query: Substring) throws -> [String: String] {
        var options: [String: String] = [:]
        for option in query.split(separator: "&") {
            let pair = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, options.updateValue(String(pair[1]), forKey: String(pair[0])) == nil else {
                throw StoreError.unusable("postgres: each option needs one value: NAME=VALUE&NAME=VALUE")
            }
        }
        return options
    }

    private static func poolSize(_ text: String?) throws -> Int {
        guard let text else { return 8 }
        guard let size = Int(text), (1...500).contains(size) else {
            throw StoreError.unusable("postgres: pool=\(text): not a number from 1 to 500")
        }
        return size
    }

    private static func isOn(_ text: String?) throws -> Bool {
        guard let text else { return true }
        guard ["on", "off"].contains(text) else {
            throw StoreError.unusable("postgres: prepared=\(text): not on or off")
        }
        return text == "on"
    }

    /// The values of options that the URL does not give. A connection that leaves this machine uses TLS and checks the
    /// server's certificate and name. Of several hosts, the one that takes writes is used. A host that has gone away is
    /// noticed after three seconds.
    private static func defaults(hosts: Substring, _ options: [String: String]) -> [String: String] {
        var defaults = [
            "application_name": "mpind", "connect_timeout": "2", "tcp_user_timeout": "3000",
            "target_session_attrs": "read-write",
        ]
        let hosts = (options["host"].map { $0[...] } ?? hosts).split(separator: ",")
        if !hosts.allSatisfy(isThisMachine) { defaults["sslmode"] = "verify-full" }
        return defaults
    }

    private static func hasNoPortOrANumber(_ host: Substring) -> Bool {
        let afterAddress = host.hasPrefix("[") ? host.drop { $0 != "]" } : host
        return afterAddress.drop { $0 != ":" }.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }

    private static func isThisMachine(_ host: Substring) -> Bool {
        host.hasPrefix("/") || host.hasPrefix("%2F") || host.hasPrefix("[::1]") || host == "::1"
            || ["localhost", "127.0.0.1"].contains(host.prefix { $0 != ":" })
    }
}
