/// The reason why a client cannot be registered or changed, in one line that begins with the name of the member.
package struct ClientFault: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ member: String, _ text: String) { description = "\(member): \(text)" }
}
