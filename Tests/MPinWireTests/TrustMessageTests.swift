import MPinSecrets
import MPinWire
import XCTest

/// Tests the messages of the MIRACL Trust wire against their JSON: what a side makes, and what it reads.
final class TrustMessageTests: XCTestCase {
    func testSessions() throws {
        try assertForm(
            TrustSessionRequest(projectId: "p", userId: "alice", description: "Pay 5", hash: "00ff"),
            #"{"projectId":"p","userId":"alice","description":"Pay 5","hash":"00ff"}"#)
        try assertForm(
            TrustSessionRequest(projectId: "p", userId: nil, description: nil, hash: nil), #"{"projectId":"p"}"#)
        try assertForm(
            TrustSessionResponse(webOTT: "w", accessURL: "https://a", qrURL: "https://q#1"),
            #"{"webOTT":"w","accessURL":"https://a","qrURL":"https://q#1"}"#)
        try assertRead(TrustAccessRequest.self, #"{"webOTT":"w"}"#)
        try assertForm(
            TrustAccessResponse(status: "authenticated", userId: "alice", redirectURL: "https://r"),
            #"{"status":"authenticated","statusCode":0,"userId":"alice","redirectURL":"https://r"}"#)
        try assertForm(
            TrustAccessResponse(status: "signed", userId: "alice", signature: "e30="),
            #"{"status":"signed","statusCode":0,"userId":"alice","signature":"e30="}"#)
        try assertRead(TrustCodeStatusRequest.self, #"{"wid":"1","status":"user","userId":"alice"}"#)
        try assertRead(TrustCodeStatusRequest.self, #"{"wid":"1","status":"signed","signature":"e30="}"#)
        try assertForm(TrustStatusResponse(), #"{"status":"OK","message":""}"#)
        try assertForm(
            details,
            """
            {"description":"Pay 5","prerollId":"alice","projectId":"p","hash":"00ff","projectName":"Shop",
            "projectLogoURL":"","pinLength":4,"verificationMethod":"standardEmail","verificationURL":"",
            "verificationCustomText":"","identityType":"email","identityTypeLabel":"",
            "enableRegistrationCode":true,"limitRegCodeVerified":false}
            """)
    }

    func testVerificationsAndRegistrations() throws {
        try assertRead(
            TrustVerificationRequest.self, #"{"userId":"alice","projectId":"p","mpinId":"7b7d","accessId":"1"}"#)
        try assertForm(
            TrustVerificationResponse(backoff: 1_700_000_000, method: "code"),
            #"{"backoff":1700000000,"method":"code"}"#)
        try assertRead(TrustConfirmationRequest.self, #"{"userId":"alice","code":"123456"}"#)
        try assertForm(
            TrustConfirmationResponse(projectId: "p", accessId: "", actToken: "t", expireTime: 5),
            #"{"projectId":"p","accessId":"","actToken":"t","expireTime":5}"#)
        try assertRead(
            TrustRegistrationRequest.self,
            #"{"userId":"alice","deviceName":"phone","activationToken":"t","publicKey":"00"}"#)
        try assertForm(
            TrustRegistrationResponse(
                mpinId: "7b7d", projectId: "p", dtas: "W10=", secretUrls: ["https://1", "https://2"], pinLength: 6,
                verificationType: "standardEmail", nowTime: "now"),
            """
            {"mpinId":"7b7d","projectId":"p","dtas":"W10=","curve":"BN254CX","secretUrls":["https://1","https://2"],
            "pinLength":6,"verificationType":"standardEmail","nowTime":"now"}
            """)
        let share = SecretHex(SecretBytes(utf8: "a"))
        try assertForm(
            TrustSecretResponse(dvsClientSecret: share, createdAt: 5),
            #"{"dvsClientSecret":"61","createdAt":5,"message":"OK","version":"1"}"#)
        try assertRead(TrustQuickCodeRequest.self, #"{"projectId":"p","jwt":"j"}"#)
        try assertForm(
            TrustQuickCodeResponse(code: "123456", expireTime: 5, ttlSeconds: 300),
            #"{"code":"123456","expireTime":5,"ttlSeconds":300}"#)
    }

    func testLogins() throws {
        try assertRead(
            TrustPass1Request.self, #"{"scope":["jwt"],"mpin_id":"7b7d","publicKey":"00","U":"04"}"#)
        try assertForm(TrustPass1Response(y: "0f"), #"{"y":"0f"}"#)
        try assertRead(TrustPass2Request.self, #"{"mpin_id":"7b7d","V":"04","WID":"1"}"#)
        try assertForm(TrustPass2Response(authOTT: "o"), #"{"authOTT":"o"}"#)
        try assertRead(TrustAuthenticateRequest.self, #"{"authOTT":"o"}"#)
        try assertForm(TrustAuthenticateResponse(jwt: "j"), #"{"status":200,"message":"OK","jwt":"j"}"#)
        try assertForm(
            TrustAuthenticateResponse(renewal: "t"),
            #"{"status":200,"message":"renew","dvsRegister":{"token":"t","curve":"BN254CX"}}"#)
    }

    /// Tests that an error without a context has no member for it, and that the values of a context are texts.
    func testErrors() throws {
        try assertForm(
            TrustErrorResponse(requestID: "1", error: "REQUEST_BACKOFF", info: "wait", context: ["backoff": "5"]),
            #"{"requestID":"1","error":"REQUEST_BACKOFF","info":"wait","context":{"backoff":"5"}}"#)
        try assertForm(
            TrustErrorResponse(requestID: "1", error: "UNAUTHORIZED", info: "", context: [:]),
            #"{"requestID":"1","error":"UNAUTHORIZED","info":""}"#)
        XCTAssertThrowsError(
            try read(TrustErrorResponse.self, #"{"requestID":"1","error":"E","info":"","context":{"backoff":5}}"#))
    }

    func testSignatures() throws {
        let signature = TrustSignature(
            mpinId: "7b7d", u: "04", v: "05", publicKey: "00", hash: "ff", dtas: "W10=", timestamp: nil)
        let text = #"{"mpinId":"7b7d","u":"04","v":"05","publicKey":"00","hash":"ff","dtas":"W10="}"#
        try assertForm(signature, text)
        try assertRead(TrustVerifyRequest.self, #"{"signature":\#(text),"timestamp":5,"type":"verification"}"#)
        try assertForm(TrustVerifyResponse(certificate: "c"), #"{"certificate":"c"}"#)
        try assertRead(
            TrustSigningSessionRequest.self, #"{"projectID":"p","userID":"alice","hash":"ff","description":"Pay 5"}"#)
        try assertForm(
            TrustSigningSessionResponse(id: "1", qrURL: "https://q#1", webOTT: "w", accessURL: "https://a"),
            #"{"id":"1","qrURL":"https://q#1","webOTT":"w","accessURL":"https://a"}"#)
        try assertRead(TrustSigningSessionName.self, #"{"id":"1"}"#)
        try assertRead(TrustSigningSessionUpdate.self, #"{"id":"1","signature":\#(text),"timestamp":5}"#)
        try assertForm(TrustSigningSessionStatus(status: "OK"), #"{"status":"OK"}"#)
        let known = try value(of: TrustSigningSessionDetails(details, isSigned: true, expireTime: 5))
        XCTAssertEqual(
            [known["userID"], known["projectID"], known["status"], known["expireTime"], known["hash"]],
            [.string("alice"), .string("p"), .string("signed"), .int(5), .string("00ff")])
        let active = try value(of: TrustSigningSessionDetails(details, isSigned: false, expireTime: 5))
        XCTAssertEqual(active["status"], .string("active"))
    }

    func testBackEnds() throws {
        try assertRead(
            TrustCustomVerificationRequest.self,
            #"{"projectId":"p","userId":"alice","accessId":"1","expiration":5,"delivery":"no"}"#)
        try assertForm(
            TrustCustomVerificationResponse(verificationURL: "https://v"), #"{"verificationURL":"https://v"}"#)
        try assertRead(TrustRevocationRequest.self, #"{"reason":"lost"}"#)
        try assertForm(TrustProjectConfiguration(id: "p"), #"{"id":"p"}"#)
        try assertForm(
            TrustAuditPage(events: [.object(["event": .string("login")])], cursor: "7"),
            #"{"events":[{"event":"login"}],"cursor":"7"}"#)
        try assertRead(TrustInitiationRequest.self, #"{"userId":"alice","projectId":"p"}"#)
        try assertForm(
            TrustInitiationResponse(mpinId: "7b7d", hashMPinId: "ff", actToken: "t", expireTime: 5),
            #"{"mpinId":"7b7d","hashMPinId":"ff","actToken":"t","expireTime":5}"#)
    }

    private var details: TrustSessionDetails {
        TrustSessionDetails(
            description: "Pay 5", prerollId: "alice", hash: "00ff", projectId: "p", projectName: "Shop", pinLength: 4,
            enableRegistrationCode: true, limitRegCodeVerified: false)
    }
}
