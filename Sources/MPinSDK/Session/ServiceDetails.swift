import MPinWire

extension Session {
    /// The service of the page at `url` (wire section 6.15).
    func serviceDetails(_ url: String, _ caller: Caller) throws(SDKError) -> ServiceDetails {
        let base = Backend.base(url)
        guard !base.isEmpty else { throw SDKError(.invalidArgument, "no URL") }
        let answer = try caller.anywhere.get(.service, "\(base)/service")
        let response: ServiceResponse = try caller.decode(.service, answer)
        guard response.type == "online" else {
            throw SDKError(.responseParseError, "\(ServerCall.service.name): of another type than online")
        }
        return ServiceDetails(
            name: response.name, backendURL: response.url, rpsPrefix: response.rps_prefix, logoURL: response.logo_url)
    }
}
