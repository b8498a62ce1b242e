import Hummingbird

/// A wire that programs speak with the service. It reads requests and spells answers, and decides nothing else: whether a
/// PIN is right and what that leads to is the service's.
protocol Face: Sendable {
    /// For everybody.
    func addPublicRoutes(to router: Router<RequestContext>)

    /// For the parts of this system, on a listener of their own.
    func addPrivateRoutes(to router: Router<RequestContext>)

    /// Which pages of other sites may call the public routes.
    var cors: [CORSPolicy] { get }
}
