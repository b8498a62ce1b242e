// How a client makes and reads the messages of the MIRACL Trust wire. The answers of other servers may lack members, or
// have members of another type, that a client does not need; they are read leniently.

extension TrustCodeStatusRequest {
    package init(wid: String, status: String, userID: String? = nil, signature: String? = nil) {
        self.init(wid: wid, status: status, userId: userID, signature: signature)
    }
}

extension TrustVerificationRequest {
    package init(userID: String, projectID: String, mpinID: String?, accessID: String?, deviceName: String?) {
        self.init(
            userId: userID, projectId: projectID, mpinId: mpinID, accessId: accessID, deviceName: deviceName, scope: [])
    }
}

extension TrustConfirmationRequest {
    package init(userID: String, code: String) { self.init(userId: userID, code: code) }
}

extension TrustRegistrationRequest {
    package init(
        userID: String, deviceName: String?, activationToken: String, publicKey: String, pushToken: String?
    ) {
        self.init(
            userId: userID, deviceName: deviceName, activationToken: activationToken, publicKey: publicKey,
            pushToken: pushToken)
    }
}

extension TrustPass1Request {
    package init(scope: String, mpinID: String, publicKey: String?, dtas: String?, u: String) {
        self.init(scope: [scope], mpin_id: mpinID, publicKey: publicKey, U: u, dtas: dtas, UT: "")
    }
}

extension TrustPass2Request {
    package init(mpinID: String, v: String, accessID: String?) { self.init(mpin_id: mpinID, V: v, WID: accessID) }
}

extension TrustAuthenticateRequest {
    package init(token: String) { self.init(authOTT: token, wam: "dvs") }
}

extension TrustQuickCodeRequest {
    package init(projectID: String, jwt: SecretText, deviceName: String?) {
        self.init(projectId: projectID, jwt: jwt, deviceName: deviceName)
    }
}

// MARK: Answers

extension TrustConfirmationResponse {
    private enum Members: String, CodingKey { case projectId, accessId, actToken, expireTime }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Members.self)
        self.init(
            projectId: members.text(.projectId), accessId: members.text(.accessId),
            actToken: try members.decode(String.self, forKey: .actToken),
            expireTime: (try? members.decode(Int64.self, forKey: .expireTime)) ?? 0)
    }
}

extension TrustVerificationResponse {
    private enum Members: String, CodingKey { case backoff, method }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Members.self)
        self.init(
            backoff: (try? members.decode(Int64.self, forKey: .backoff)) ?? 0,
            method: try members.decode(String.self, forKey: .method))
    }
}

extension TrustRegistrationResponse {
    private enum Members: String, CodingKey {
        case mpinId, projectId, dtas, curve, secretUrls, pinLength, verificationType, nowTime
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Members.self)
        self.init(
            mpinId: try members.decode(String.self, forKey: .mpinId),
            projectId: try members.decode(String.self, forKey: .projectId),
            dtas: try members.decode(String.self, forKey: .dtas),
            secretUrls: try members.decode([String].self, forKey: .secretUrls),
            pinLength: try members.decode(Int.self, forKey: .pinLength),
            verificationType: members.text(.verificationType), nowTime: members.text(.nowTime))
        curve = members.text(.curve)
    }
}

extension TrustSecretResponse {
    private enum Members: String, CodingKey { case dvsClientSecret, createdAt }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Members.self)
        self.init(
            dvsClientSecret: try members.decode(SecretHex.self, forKey: .dvsClientSecret),
            createdAt: (try? members.decode(Int64.self, forKey: .createdAt)) ?? 0)
    }
}

extension TrustAuthenticateResponse {
    private enum Members: String, CodingKey { case status, message, jwt, dvsRegister }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Members.self)
        self.init(jwt: nil)
        status = (try? members.decode(Int.self, forKey: .status)) ?? 200
        message = members.text(.message)
        jwt = try members.decodeIfPresent(SecretText.self, forKey: .jwt)
        dvsRegister = try members.decodeIfPresent(TrustRenewal.self, forKey: .dvsRegister)
    }
}

extension TrustQuickCodeResponse {
    private enum Members: String, CodingKey { case code, expireTime, ttlSeconds }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Members.self)
        self.init(
            code: try members.decode(String.self, forKey: .code),
            expireTime: (try? members.decode(Int64.self, forKey: .expireTime)) ?? 0,
            ttlSeconds: (try? members.decode(Int.self, forKey: .ttlSeconds)) ?? 0)
    }
}

extension TrustSessionDetails {
    private enum Members: String, CodingKey {
        case description, prerollId, hash, projectId, projectName, projectLogoURL, pinLength, enableRegistrationCode
        case limitRegCodeVerified, browserAddress, browserProgram, siteAddress
    }

    /// Reads the members that a present client needs.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Members.self)
        self.init(
            description: members.text(.description), prerollId: members.text(.prerollId), hash: members.text(.hash),
            projectId: members.text(.projectId), projectName: members.text(.projectName),
            pinLength: (try? members.decode(Int.self, forKey: .pinLength)) ?? 0,
            enableRegistrationCode: (try? members.decode(Bool.self, forKey: .enableRegistrationCode)) ?? false,
            limitRegCodeVerified: (try? members.decode(Bool.self, forKey: .limitRegCodeVerified)) ?? false)
        projectLogoURL = members.text(.projectLogoURL)
        browserAddress = try? members.decodeIfPresent(String.self, forKey: .browserAddress)
        browserProgram = try? members.decodeIfPresent(String.self, forKey: .browserProgram)
        siteAddress = try? members.decodeIfPresent(String.self, forKey: .siteAddress)
    }
}

extension KeyedDecodingContainer {
    /// The member as text; empty if it is missing or no text.
    fileprivate func text(_ key: Key) -> String { (try? decode(String.self, forKey: key)) ?? "" }
}
