/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_CXX_MFA_SDK_H
#define MPIN_CXX_MFA_SDK_H

/**
 * The class of the MIRACL MFA core, over mpin.h. A program that was written for
 * that core compiles with this header instead of the core's, and links
 * libmpin. What mpin_sdk.h says of MPinSDK applies here, too, with one
 * difference: a new object with a known id is another user until the server
 * names its customer, because several customers may have users with the same
 * id.
 *
 * Functions that take factors also accept a single text, which is then the PIN.
 */

#include "mpin_sdk_base.h"

class MfaSDK : public MPinSDKBase {
public:
    using MPinSDKBase::ServiceDetails;

    class SessionDetails {
    public:
        SessionDetails() : registerOnly(false) {}
        void Clear() { *this = SessionDetails(); }

        String prerollId;
        String appName;
        String appIconUrl;
        String customerId;
        String customerName;
        String customerIconUrl;
        bool registerOnly;
        String clientId;
        String redirectURI;
        /** Where the screen is that shows the code. If the address is empty,
         * ask the user once more before the PIN. */
        String screenAddress;
        String screenProgram;
        String siteAddress;
    };

    class VerificationResult {
    public:
        VerificationResult() : expireTime(0) {}

        String activationToken;
        String accessId;
        /** Seconds since 1970; 0 if the server does not say. */
        long expireTime;
    };

    MfaSDK() { m_newCustomer = ""; }

    /** Sets the client id that the server receives. Works before and after
     * Init(). */
    void SetCID(const String &cid) { SetClientId(cid); }

    /* ---- Sessions of a browser -------------------------------------- */

    Status GetSessionDetails(
        const String &accessCode, OUT SessionDetails &sessionDetails) {
        mpin_session_details details;
        details.size = sizeof details;
        sessionDetails.Clear();
        Status status = Tell(mpin_sdk_get_session_details(
            m_sdk, &details, accessCode.c_str()));
        if (status != Status::OK) return status;
        sessionDetails.prerollId = details.preroll_id;
        sessionDetails.appName = details.app_name;
        sessionDetails.appIconUrl = details.app_icon_url;
        sessionDetails.customerId = details.customer_id;
        sessionDetails.customerName = details.customer_name;
        sessionDetails.customerIconUrl = details.customer_icon_url;
        sessionDetails.registerOnly = details.register_only == 1;
        sessionDetails.clientId = details.client_id;
        sessionDetails.redirectURI = details.redirect_uri;
        sessionDetails.screenAddress = details.screen_address;
        sessionDetails.screenProgram = details.screen_program;
        sessionDetails.siteAddress = details.site_address;
        return status;
    }

    Status GetAccessCode(const String &authzUrl, OUT String &accessCode) {
        size_t size = 1 << 12;
        mpin_cxx::Room code(size);
        Status status = Tell(mpin_sdk_get_access_code(
            m_sdk, code.data(), &size, authzUrl.c_str()));
        if (status == Status::OK) accessCode = code.data();
        return status;
    }

    /* ---- Verification ----------------------------------------------- */

    Status StartVerification(
        INOUT UserPtr user, const String &clientId,
        const String &accessCode) {
        Status status = Bind(user);
        if (status != Status::OK) return status;
        return Tell(mpin_sdk_start_verification(
            m_sdk, user->m_user, clientId.c_str(), OrNull(accessCode)));
    }

    Status FinishVerification(
        INOUT UserPtr user, const String &code,
        OUT VerificationResult &verificationResult) {
        mpin_cxx::Answer<mpin_verification> result;
        Status status = Tell(mpin_sdk_finish_verification(
            m_sdk, Handle(user), &result, code.c_str()));
        if (status != Status::OK) return status;
        verificationResult.activationToken = result.activation_token;
        verificationResult.accessId = result.access_id;
        verificationResult.expireTime = static_cast<long>(result.expire_time);
        return status;
    }

    Status FinishVerification(
        INOUT UserPtr user, const String &code, OUT String &activationToken) {
        VerificationResult result;
        Status status = FinishVerification(user, code, result);
        if (status == Status::OK) activationToken = result.activationToken;
        return status;
    }

    /* ---- Registration ----------------------------------------------- */

    Status StartRegistration(
        INOUT UserPtr user, const String &accessCode, const String &pushToken,
        const String &regCode = "") {
        Status status = Bind(user);
        if (status != Status::OK) return status;
        return Tell(mpin_sdk_start_registration_mfa(
            m_sdk, user->m_user, OrNull(accessCode), OrNull(regCode),
            OrNull(pushToken)));
    }

    Status RestartRegistration(INOUT UserPtr user) {
        return MPinSDKBase::RestartRegistration(user);
    }

    Status SetRegistrationToken(INOUT UserPtr user, const String &regToken) {
        return Tell(mpin_sdk_set_registration_token(
            m_sdk, Handle(user), regToken.c_str()));
    }

    bool IsRegistrationTokenSet(INOUT UserPtr user) const {
        int32_t isSet = 0;
        return mpin_user_is_registration_token_set(Handle(user), &isSet) ==
                   MPIN_OK &&
               isSet == 1;
    }

    Status ConfirmRegistration(INOUT UserPtr user) {
        return MPinSDKBase::ConfirmRegistration(user);
    }

    Status FinishRegistration(INOUT UserPtr user, const MultiFactor &factors) {
        return WithFactors(user, factors, [&](const char *pin) {
            return mpin_sdk_finish_registration(m_sdk, Handle(user), pin);
        });
    }

    /* ---- Authentication --------------------------------------------- */

    Status StartAuthentication(INOUT UserPtr user, const String &accessCode) {
        return MPinSDKBase::StartAuthentication(user, accessCode);
    }

    Status FinishAuthentication(
        INOUT UserPtr user, const MultiFactor &factors,
        const String &accessCode) {
        return WithFactors(user, factors, [&](const char *pin) {
            if (accessCode.empty())
                return mpin_sdk_finish_authentication(
                    m_sdk, Handle(user), NULL, NULL, pin);
            return mpin_sdk_finish_authentication_an(
                m_sdk, Handle(user), pin, accessCode.c_str());
        });
    }

    /** Logs in and gets an authorization code for the program's own server. */
    Status FinishAuthentication(
        INOUT UserPtr user, const MultiFactor &factors,
        const String &accessCode, OUT String &authzCode) {
        size_t size = 1 << 16;
        mpin_cxx::Room code(size);
        Status status = WithFactors(user, factors, [&](const char *pin) {
            return mpin_sdk_finish_authentication_mfa(
                m_sdk, Handle(user), code.data(), &size, pin,
                OrNull(accessCode));
        });
        if (status == Status::OK) authzCode = code.data();
        return status;
    }

    Status StartAuthenticationOTP(INOUT UserPtr user) {
        return Tell(mpin_sdk_start_authentication_otp(m_sdk, Handle(user)));
    }

    Status FinishAuthenticationOTP(
        INOUT UserPtr user, const MultiFactor &factors, OUT OTP &otp) {
        Status status = AddFactors(user, factors);
        if (status != Status::OK) return status;
        return MPinSDKBase::FinishAuthenticationOTP(user, Pin(factors), otp);
    }

    Status StartAuthenticationRegCode(INOUT UserPtr user) {
        return Tell(
            mpin_sdk_start_authentication_reg_code(m_sdk, Handle(user)));
    }

    Status FinishAuthenticationRegCode(
        INOUT UserPtr user, const MultiFactor &factors, OUT RegCode &regCode) {
        mpin_cxx::Answer<mpin_otp> code;
        Status status = WithFactors(user, factors, [&](const char *pin) {
            return mpin_sdk_finish_authentication_reg_code(
                m_sdk, Handle(user), &code, pin);
        });
        if (status != Status::OK) return status;
        regCode.otp = code.otp;
        regCode.expireTime = static_cast<long>(code.expire_time);
        regCode.ttlSeconds = code.ttl_seconds;
        regCode.nowTime = static_cast<long>(code.now_time);
        regCode.status = Status(static_cast<Status::Code>(code.status));
        return status;
    }

    /** Lists the users of all backends. */
    Status ListUsers(OUT std::vector<UserPtr> &users) const {
        return ListAllUsers(users);
    }

    /* ---- Signing ---------------------------------------------------- */

    Status StartRegistrationDVS(
        INOUT UserPtr user, const MultiFactor &authFactors) {
        return WithFactors(user, authFactors, [&](const char *pin) {
            return mpin_sdk_start_registration_dvs(m_sdk, Handle(user), pin);
        });
    }

    Status
    FinishRegistrationDVS(INOUT UserPtr user, const MultiFactor &factors) {
        return WithFactors(user, factors, [&](const char *pin) {
            return mpin_sdk_finish_registration_dvs(m_sdk, Handle(user), pin);
        });
    }

    /** The SHA-256 hash of the document, 32 bytes; "" after an error. */
    String HashDocument(const String &document) const {
        uint8_t hash[MPIN_DOCUMENT_HASH_SIZE];
        if (mpin_sdk_hash_document(
                hash, reinterpret_cast<const uint8_t *>(document.data()),
                document.size()) != MPIN_OK)
            return "";
        return Bytes(hash, sizeof hash);
    }

    /** Signs a hash. `epochTime` is in seconds since 1970; 0 means now. */
    Status Sign(
        IN UserPtr user, const String &documentHash,
        const MultiFactor &factors, int epochTime, OUT Signature &result) {
        mpin_signature signature;
        signature.size = sizeof signature;
        Status status = WithFactors(user, factors, [&](const char *pin) {
            return mpin_sdk_sign(
                m_sdk, Handle(user), &signature,
                reinterpret_cast<const uint8_t *>(documentHash.data()),
                documentHash.size(), pin, epochTime, NULL);
        });
        if (status != Status::OK) return status;
        result.hash = documentHash;
        result.mpinId = util::HexDecode(signature.mpin_id);
        result.u = Bytes(signature.u, sizeof signature.u);
        result.v = Bytes(signature.v, sizeof signature.v);
        result.publicKey =
            Bytes(signature.public_key, sizeof signature.public_key);
        result.dtas = signature.dtas;
        return status;
    }

private:
    static String Bytes(const uint8_t *bytes, size_t size) {
        return String(reinterpret_cast<const char *>(bytes), size);
    }

    /* Whether the library accepts the factor. All factors are checked before
     * the first one is added. Otherwise, if a factor is refused, the factors
     * before it would stay and be used in the next call. */
    static bool IsFactor(const String &factor) {
        return factor.size() >= 4 && factor.size() <= 6 &&
               factor.find_first_not_of("0123456789") == String::npos;
    }

    /* The PIN, which is the first factor; empty if the user cancelled. */
    static String Pin(const MultiFactor &factors) {
        return factors.IsEmpty() ? String() : factors[0];
    }

    Status AddFactors(const UserPtr &user, const MultiFactor &factors) {
        if (factors.IsEmpty()) return Status();
        for (size_t i = 1; i < factors.size(); ++i)
            if (!IsFactor(factors[i]))
                return Status(
                    Status::PIN_INVALID, "a factor is not 4 to 6 digits");
        for (size_t i = 1; i < factors.size(); ++i) {
            Status status = Tell(mpin_sdk_add_factor(
                m_sdk, Handle(user), factors[i].c_str()));
            if (status != Status::OK) return status;
        }
        return Status();
    }

    template <typename Call>
    Status WithFactors(
        const UserPtr &user, const MultiFactor &factors, const Call &call) {
        Status status = AddFactors(user, factors);
        if (status != Status::OK) return status;
        return Tell(call(Pin(factors).c_str()));
    }
};

#endif
