import MPinHTTP

/// The addresses that the server sends requests to at URLs which others than its operator can set: holders of an admin
/// token with the scope `clients:write` or `projects` name places that hear of logouts and of new users.
///
/// Without this rule, such a person could have the server send requests into its own network, for example to the
/// address 169.254.169.254, at which clouds serve the credentials of a machine.
package struct OutboundTargets: Sendable, Equatable {
    /// The networks that may be reached though they are not a part of the public Internet.
    package var internalNetworks: [IPNetwork] = []

    package init() {}

    package func admits(_ address: IPAddress) -> Bool {
        AddressClass(host: address.description) == .global || internalNetworks.contains { $0.contains(address) }
    }
}

/// A URL leads to an address that the operator has not allowed.
struct InternalTarget: Error, CustomStringConvertible {
    let host: String

    var description: String { "\(host) is no address of the public Internet (--internal-target allows others)" }
}
