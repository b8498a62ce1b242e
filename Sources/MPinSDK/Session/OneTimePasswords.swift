import MPinSecrets
import MPinWire

extension Session {
    func finishAuthenticationOTP(_ user: User, pin: SecretBytes, _ caller: Caller) throws(SDKError) -> OTP {
        try logIn(user, pin: pin, .otp, caller).otp
    }

    /// Digits of a Milagro server that knows no such codes would register nothing.
    func checkRegistrationCodes(_ user: User) throws(SDKError) {
        let givesCodes = try currentBackend().givesRegistrationCodes
        guard user.record.isMFA || givesCodes else {
            throw SDKError(.flowError, "the server gives no codes that register another device")
        }
    }

    /// A code that registers another device. Some servers give none to an identity that was made from such a code.
    func finishAuthenticationRegCode(_ user: User, pin: SecretBytes, _ caller: Caller) throws(SDKError) -> OTP {
        try checkRegistrationCodes(user)
        do throws(SDKError) {
            return try logIn(user, pin: pin, .registrationCode, caller).otp
        } catch {
            guard error.server.code == "LIMITED_QUICKCODE_GENERATION" else { throw error }
            throw error.with(.operationNotAllowed)
        }
    }
}
