import Hummingbird

/// What else the old cloud answered at the base URL of D-TA 2 (wire section 10), as far as an old RPS asks for it at its
/// start.
extension TrustAuthorityServer {
    func addCloudRoutes(to router: Router<RequestContext>) {
        router.serve("/time", [.get: { _, _ in .json(["Time": clock().iso]) }])
        router.serve("/apiSettings", [.get: { _, _ in .json(CloudSettings()) }])
    }

    /// There is neither a permit storage nor a management console here, and nothing to license.
    private struct CloudSettings: Encodable {
        let timePermitsStorageURL = ""
        let managementConsoleURL = ""
        let license_info = ""
    }
}
