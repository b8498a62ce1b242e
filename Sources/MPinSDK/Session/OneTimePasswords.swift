import MPinSecrets
import MPinWire

extension Session {
    func finishAuthenticationOTP(_ user: User, pin: SecretBytes, _ caller: Caller) throws(SDKError) -> OTP {
        try logIn(user, pin: pin, .otp, caller).otp
    }

    /// A code that registers another device. Some servers give none to an identity that was made from such a code.
    func finishAuthenticationRegCode(_ user: User, pin: SecretBytes, _ caller: Caller) throws(SDKError) -> OTP {
        do throws(SDKError) {
            return try logIn(user, pin: pin, .registrationCode, caller).otp
        } catch {
            guard error.server.code == "LIMITED_QUICKCODE_GENERATION" else { throw error }
            throw error.with(.operationNotAllowed)
        }
    }
}
