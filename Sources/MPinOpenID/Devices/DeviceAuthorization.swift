package import MPinWire

/// Logins of devices without a browser, such as televisions and command line programs (RFC 8628). The device shows a
/// short code, and a person types it in a browser and logs in there, by the same steps as for other clients.
extension OpenIDProvider {
    /// Answers a device authorization request (RFC 8628 section 3.1). Throws ``TokenFault``, or the store's error.
    package func authorizeDevice(_ parameters: RequestParameters, header: String?) async throws -> DeviceAnswer {
        try await serving(parameters, header: header) { client in
            guard client.grants.contains(.deviceCode) else {
                throw TokenFault(.unauthorizedClient, "the client may not use device codes")
            }
            let scopes: [String]
            do throws(AuthorizationFault) { scopes = try AuthorizationRequest.scopes(parameters, client) } catch {
                throw TokenFault(.invalidScope, error.description)
            }
            let (device, code) = try await devices.begin(client, scopes: scopes, at: now)
            return DeviceAnswer(deviceCode: device.text, userCode: code, page: base + Path.device)
        }
    }

    /// Answers a device that asks with its code whether it was allowed (RFC 8628 section 3.4).
    func redeemDevice(_ parameters: RequestParameters, for client: Client) async throws -> TokenAnswer {
        guard let text = parameters["device_code"] else {
            throw TokenFault(.invalidRequest, "device_code is missing")
        }
        guard let code = OpaqueToken(text) else { throw TokenFault.invalidGrant }
        let new = try NewGrant(for: client, at: now)
        switch try await devices.poll(code, of: client, for: new.id, at: now) {
        case .pending: throw TokenFault(.authorizationPending, "the user has not decided yet")
        case .early: throw TokenFault(.slowDown, "the user has not decided yet: wait 5 seconds longer between requests")
        case .denied: throw TokenFault(.accessDenied, "the user has declined")
        case .expired: throw TokenFault(.expiredToken, "the device_code has expired")
        case .unknown: throw TokenFault.invalidGrant
        case .replayed(let grantID): throw try await replay(of: grantID, .deviceCode, by: client)
        case .granted(let authorization): return try await issue(authorization, new, .deviceCode, to: client)
        }
    }

    /// Returns what the device that shows `code` asks for, as an authorization request, and the device's client. The
    /// login ends at a page of the provider. Nil if there is no such code, or it has expired, or was used.
    package func read(_ code: UserCode) async throws -> (request: AuthorizationRequest, client: Client)? {
        guard let device = try await devices.request(code, at: now), let client = try await client(device.clientID),
            !client.isDisabled, client.grants.contains(.deviceCode)
        else { return nil }
        let end = try RedirectURI(base + Path.deviceEnd)
        let address = ReturnAddress(clientID: client.id, redirectURI: end, state: nil)
        return (AuthorizationRequest(of: device, to: address), client)
    }

    /// Allows a device what it has asked for. Returns the parameters for the provider's last page.
    func allow(
        _ device: DeviceCodes.Request, _ request: AuthorizationRequest, _ login: UserLogin
    ) async throws -> [(String, String)] {
        // The device is not in the browser's session: it stays logged in when the browser is logged out.
        let authorization = Authorization(
            clientID: device.clientID, login: login, sessionID: nil, scopes: device.scopes, claims: request.claims,
            nonce: nil)
        guard try await devices.allow(device, authorization, at: now) else {
            let fault = AuthorizationFault(.accessDenied, "the code has expired, or somebody else has used it")
            return request.address.answer(fault, issuer: issuer)
        }
        return request.address.answer([], issuer: issuer)
    }

    /// Tells the device that the person has declined. It does nothing if the request is not a device's.
    package func decline(_ request: AuthorizationRequest) async throws {
        if let device = request.device { try await devices.deny(device, at: now) }
    }
}

/// The answer to a device authorization request (RFC 8628 section 3.2).
package struct DeviceAnswer: Sendable {
    /// 43 characters. The device keeps it secret, and polls with it.
    package let deviceCode: String
    package let userCode: UserCode
    /// The URL of the page where a person types the user code.
    let page: String

    package var json: JSONValue {
        let complete = page + "?" + RequestParameters.query([("user_code", userCode.text)])
        return .object([
            "device_code": .string(deviceCode), "user_code": .string(userCode.text),
            "verification_uri": .string(page), "verification_uri_complete": .string(complete),
            "expires_in": .int(DeviceCodes.seconds), "interval": .int(DeviceCodes.interval),
        ])
    }
}
