/// Why a client cannot be registered as the operator wants it, in one line that names the member.
package struct ClientFault: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ member: String, _ text: String) { description = "\(member): \(text)" }
}
