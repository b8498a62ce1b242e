import MPinSecrets
import MPinWire
import XCTest

/// Tests the messages of the older generations of the MIRACL Trust wire against their JSON (TRUST wire section 7).
final class OlderMessageTests: XCTestCase {
    func testSettingsOfGeneration1() throws {
        try assertForm(
            MFASettingsResponse(
                base: "https://s/rps", authority: "https://s/dta", setDeviceName: true, seedValue: "00ff"),
            """
            {"certivoxURL":"https://s/dta","dta2URL":"https://s/dta","signatureURL":"https://s/rps/signature",
            "registerURL":"https://s/rps/user","timePermitsURL":"","usePermits":false,
            "setupDoneURL":"https://s/rps/setupDone","mobileAuthenticateURL":"https://s/rps/authenticate",
            "timePermitsStorageURL":"","mpinAuthServerURL":"https://s/rps",
            "authenticateURL":"https://s/rps/authenticate","setDeviceName":true,"accessNumberUseCheckSum":false,
            "accessNumberFormat":"qr","appID":"OIDC","requestOTP":false,"accessnumber":"https://s/rps/access",
            "getAccessNumber":"https://s/rps/getAccessNumber","seedValue":"00ff","accessNumberDigits":0,"cSum":0,
            "useWebSocket":false,"codeStatusURL":"https://s/rps/codeStatus"}
            """)
    }

    func testLoginsOfGeneration1() throws {
        try assertForm(
            MFAUserResponse(
                mpinId: "7b7d", regOTT: "0f", expireTime: 7, nowTime: 5, customerId: "c", active: false),
            """
            {"mpinId":"7b7d","regOTT":"0f","expireTime":7,"nowTime":5,"customerId":"c","appId":"","active":false}
            """)
        try assertForm(
            MFASessionDetails(
                prerollId: "alice", appName: "Shop", appLogoURL: "https://l", customerId: "c", customerName: "Ltd"),
            """
            {"prerollId":"alice","appName":"Shop","appLogoURL":"https://l","customerId":"c","customerName":"Ltd",
            "customerLogoURL":""}
            """)
        try assertForm(MFAPass2Response(authOTT: "o", OTP: nil), #"{"authOTT":"o","pass":2}"#)
        try assertForm(MFAPass2Response(authOTT: "o", OTP: "012345"), #"{"authOTT":"o","pass":2,"OTP":"012345"}"#)
        try assertForm(
            MFAAuthenticateResponse(status: 200, message: "OK", code: "a"),
            #"{"status":200,"message":"OK","code":"a"}"#)
        try assertRead(
            MFAAuthenticateResponse.self,
            """
            {"status":200,"message":"OK","code":"","expireTime":7,"ttlSeconds":2,"nowTime":5,
            "dvsRegister":{"token":"t","curve":"BN254CX"}}
            """)
    }

    func testGeneration3() throws {
        try assertForm(
            TrustSettingsResponse(base: "https://s", seedValue: "00ff"),
            """
            {"registerURL":"https://s/rps/v2/user","signatureURL":"https://s/rps/v2/signature",
            "mpinAuthServerURL":"https://s/rps/v2","pass1URL":"https://s/rps/v2/pass1",
            "pass2URL":"https://s/rps/v2/pass2","authenticateURL":"https://s/rps/v2/authenticate",
            "dvsRegURL":"https://s/rps/v2/dvsregister","verificationURL":"https://s/verification",
            "codeStatusURL":"https://s/rps/v2/codeStatus","seedValue":"00ff"}
            """)
        try assertRead(TrustUserRequest.self, #"{"userId":"alice","deviceName":"phone","activateCode":"123456"}"#)
        try assertForm(
            TrustUserResponse(
                mpinId: "7b7d", regOTT: "0f", projectId: "p", expireTime: 7, nowTime: 5, pinLength: 4,
                verificationType: "fullCustom"),
            """
            {"mpinId":"7b7d","regOTT":"0f","projectId":"p","active":true,"appId":"","customerId":"p",
            "expireTime":7,"nowTime":5,"pinLength":4,"verificationType":"fullCustom"}
            """)
        try assertRead(
            TrustRenewalRequest.self, #"{"publicKey":"00","deviceName":"phone","dvsRegisterToken":"t"}"#)
    }

    /// Tests that the share of an identity without a key pair has a member of its own.
    func testShares() throws {
        let share = SecretHex(SecretBytes(utf8: "a"))
        try assertForm(
            TrustShareResponse(share: share, hasKeyPair: true, cs2url: "https://2", dtas: "W10=", mpinId: "7b7d"),
            """
            {"dvsClientSecretShare":"61","cs2url":"https://2","curve":"BN254CX","dtas":"W10=","mpinId":"7b7d"}
            """)
        try assertForm(
            TrustShareResponse(share: share, hasKeyPair: false, cs2url: "https://2", dtas: "W10="),
            #"{"clientSecretShare":"61","cs2url":"https://2","curve":"BN254CX","dtas":"W10="}"#)
    }
}
