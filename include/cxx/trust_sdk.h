/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_CXX_TRUST_SDK_H
#define MPIN_CXX_TRUST_SDK_H

/**
 * The client of MIRACL Trust projects as a C++ class, over mpin.h, with the
 * names of the Trust SDKs. It needs C++11 and no source files. The section
 * "MIRACL Trust" of mpin.h describes the functions, whose order of parameters
 * is inputs first, then outputs. Texts are overwritten when they are freed.
 *
 * A TrustSDK may be used by several threads, as an mpin_sdk may. Its users may
 * outlive it; their calls then end with FLOW_ERROR.
 */

#include <functional>

#include "mpin_sdk.h"

class TrustSDK {
public:
    typedef util::String String;
    typedef MPinSDK::Status Status;
    class User;
    typedef std::shared_ptr<User> UserPtr;

    /** A user of a project on this device. */
    class User {
    public:
        enum State {
            INVALID = MPIN_USER_INVALID,
            REGISTERED = MPIN_USER_REGISTERED,
            REVOKED = MPIN_USER_REVOKED
        };

        ~User() { mpin_user_free(m_user); }

        String GetUserId() const { return Read(mpin_user_get_id); }
        String GetProjectId() const { return Read(mpin_user_get_customer_id); }
        /** The M-Pin ID in hex. */
        String GetMPinId() const { return Read(mpin_user_get_mpin_id); }
        int GetPinLength() const { return Digits(mpin_user_get_pin_length); }
        /** The length of the PIN to choose at the end of a registration. */
        int GetRegistrationPinLength() const {
            return Digits(mpin_user_get_registration_pin_length);
        }
        State GetState() const {
            int32_t state = INVALID;
            if (mpin_user_get_state(m_user, &state) != MPIN_OK) return INVALID;
            return static_cast<State>(state);
        }
        bool IsRevoked() const { return GetState() == REVOKED; }

    private:
        friend class TrustSDK;
        typedef mpin_status (*Getter)(mpin_user *, char *, size_t *);

        explicit User(mpin_user *user) : m_user(user) {}
        User(const User &);
        User &operator=(const User &);

        int Digits(mpin_status (*get)(mpin_user *, int32_t *)) const {
            int32_t digits = 0;
            return get(m_user, &digits) == MPIN_OK ? digits : 0;
        }

        /* A text of the user; empty if the handle is not valid any more. */
        String Read(Getter get) const {
            size_t size = 0;
            if (get(m_user, NULL, &size) != MPIN_OK) return "";
            mpin_cxx::Room room(size);
            if (get(m_user, room.data(), &size) != MPIN_OK) return "";
            return room.data();
        }

        mpin_user *m_user;
    };

    /** What a server said in an error answer: see mpin_trust_error. */
    class ErrorDetails {
    public:
        ErrorDetails() : retryAt(0) {}
        int64_t retryAt;
        String code;
        String projectId;
        String accessId;
    };

    class VerificationResponse {
    public:
        enum Method {
            LINK = MPIN_TRUST_METHOD_LINK,
            CODE = MPIN_TRUST_METHOD_CODE
        };
        VerificationResponse() : backoff(0), method(LINK) {}
        /** Seconds since 1970 before which another mail is refused. */
        int64_t backoff;
        Method method;
    };

    class ActivationTokenResponse {
    public:
        ActivationTokenResponse() : expireTime(0) {}
        String projectId;
        String userId;
        String accessId;
        String activationToken;
        /** Seconds since 1970; 0 if the server does not say. */
        int64_t expireTime;
    };

    class CrossDeviceSession {
    public:
        CrossDeviceSession() : pinLength(0) {}
        String sessionId;
        String projectId;
        String userId;
        /** What the login or the signature is for. */
        String sessionDescription;
        /** The bytes to be signed; empty if the session is for a login. */
        String hash;
        String projectName;
        String projectLogoUrl;
        int pinLength;
        /** Where the screen is that shows the code. If the address is empty,
         * ask the user once more before the PIN. */
        String screenAddress;
        String screenProgram;
        String siteAddress;
    };

    class QuickCode {
    public:
        QuickCode() : expireTime(0), ttlSeconds(0) {}
        String code;
        int64_t expireTime;
        int ttlSeconds;
    };

    class Signature {
    public:
        Signature() : timestamp(0) {}
        /* The bytes of what was signed, of the two points of the signature and
         * of the public key. */
        String hash;
        String u;
        String v;
        String publicKey;
        /** The M-Pin ID in hex. */
        String mpinId;
        String dtas;
        int64_t timestamp;
    };

    /** Gives the PIN, which has so many digits; empty: the user cancels. */
    typedef std::function<String(int digits)> PinProvider;

    TrustSDK() : m_sdk(NULL) {
        if (mpin_sdk_new(&m_sdk) != MPIN_OK) m_sdk = NULL;
    }
    ~TrustSDK() { mpin_sdk_free(m_sdk); }

    /* ---- Life cycle ------------------------------------------------- */

    /** Opens the store at this path. */
    Status Init(const String &storagePath) {
        mpin_config config = mpin_config();
        config.size = sizeof config;
        config.storage_path = storagePath.c_str();
        return Init(config);
    }
    Status Init(const mpin_config &config) {
        return Tell(mpin_sdk_init(m_sdk, &config));
    }
    void Destroy() { Ignore(mpin_sdk_destroy(m_sdk)); }
    /** The handle of mpin.h, for MPinSession. It is freed with this object. */
    mpin_sdk *GetHandle() const { return m_sdk; }
    /** Ends the call of another thread. */
    void Cancel() { Ignore(mpin_sdk_cancel(m_sdk)); }

    /** Uses a project from now on. url: "" is the service of MIRACL. */
    Status SetProject(
        const String &projectId, const String &url = "",
        const String &deviceName = "") {
        return Tell(mpin_trust_set_project(
            m_sdk, projectId.c_str(), OrNull(url), OrNull(deviceName)));
    }

    /** What the server said in the error of the last call in this thread that
     * has failed. */
    ErrorDetails GetErrorDetails() const {
        ErrorDetails details;
        mpin_cxx::Answer<mpin_trust_error> error;
        if (mpin_trust_get_last_error(m_sdk, &error) != MPIN_OK)
            return details;
        details.retryAt = error.retry_at;
        details.code = error.code;
        details.projectId = error.project_id;
        details.accessId = error.access_id;
        return details;
    }

    /* ---- Users ------------------------------------------------------ */

    /** The users of the project. */
    Status GetUsers(OUT std::vector<UserPtr> &users) const {
        users.clear();
        size_t count = 0;
        mpin_status status = mpin_sdk_list_users(m_sdk, NULL, &count);
        std::vector<mpin_user *> handles;
        do {
            /* There is room for one at least, so that NULL never asks. */
            handles.assign(count + 1, NULL);
            count = handles.size();
            if (status == MPIN_OK || status == MPIN_BUFFER_TOO_SMALL)
                status = mpin_sdk_list_users(m_sdk, handles.data(), &count);
        } while (status == MPIN_BUFFER_TOO_SMALL);
        for (size_t i = 0; status == MPIN_OK && i < count; ++i)
            users.push_back(UserPtr(new User(handles[i])));
        return Tell(status);
    }

    /** user: empty if this device has no such user of the project. */
    Status GetUser(const String &userId, OUT UserPtr &user) const {
        mpin_user *handle = NULL;
        Status status =
            Tell(mpin_sdk_get_user(m_sdk, &handle, userId.c_str()));
        if (status == Status::OK)
            user = handle ? UserPtr(new User(handle)) : UserPtr();
        return status;
    }

    Status DeleteUser(const UserPtr &user) {
        return Tell(mpin_sdk_delete_user(m_sdk, Handle(user)));
    }

    Status ChangePin(
        const UserPtr &user, const String &oldPin, const String &newPin) {
        return Tell(mpin_sdk_change_pin(
            m_sdk, Handle(user), oldPin.c_str(), newPin.c_str()));
    }

    /** Writes the users to a new file, in which their tokens lie unsealed: see
     * mpin_trust_export_users(). */
    Status ExportUsers(const String &path, OUT size_t &exported) {
        return Tell(mpin_trust_export_users(m_sdk, &exported, path.c_str()));
    }

    /** Adds the users that client-js has stored under its key `mfa`. */
    Status ImportUsers(const String &users, OUT size_t &imported) {
        return Tell(mpin_sdk_import_storage(
            m_sdk, &imported, MPIN_IMPORT_CLIENT_JS, users.c_str(), NULL));
    }

    /* ---- Registration ----------------------------------------------- */

    Status SendVerificationEmail(
        const String &userId, OUT VerificationResponse &response,
        const String &accessId = "") {
        mpin_cxx::Answer<mpin_trust_verification> answer;
        Status status = Tell(mpin_trust_send_verification_email(
            m_sdk, &answer, userId.c_str(), OrNull(accessId)));
        if (status != Status::OK) return status;
        response.backoff = answer.backoff;
        response.method =
            static_cast<VerificationResponse::Method>(answer.method);
        return status;
    }

    Status GetActivationToken(
        const String &userId, const String &code,
        OUT ActivationTokenResponse &response) {
        mpin_cxx::Answer<mpin_trust_activation> answer;
        return Read(
            mpin_trust_get_activation_token(
                m_sdk, &answer, userId.c_str(), code.c_str()),
            answer, response);
    }

    /** link: of the mail, or from the project's back end. */
    Status GetActivationToken(
        const String &link, OUT ActivationTokenResponse &response) {
        mpin_cxx::Answer<mpin_trust_activation> answer;
        return Read(
            mpin_trust_get_activation_token_by_link(
                m_sdk, &answer, link.c_str()),
            answer, response);
    }

    /** Registers in one call. activationToken: also a QuickCode. After
     * PIN_INVALID and PIN_INPUT_CANCELED FinishRegistration() ends the
     * registration of `user`. */
    Status Register(
        const String &userId, const String &activationToken,
        const PinProvider &pin, OUT UserPtr &user,
        const String &pushToken = "") {
        UserPtr started;
        Status status =
            StartRegistration(userId, activationToken, started, pushToken);
        if (status != Status::OK) return status;
        user = started;
        if (!pin)
            return Status(Status::PIN_INPUT_CANCELED, "nobody gives the PIN");
        return FinishRegistration(started, pin(started->GetRegistrationPinLength()));
    }

    Status StartRegistration(
        const String &userId, const String &activationToken, OUT UserPtr &user,
        const String &pushToken = "") {
        mpin_user *handle = NULL;
        Status status = Tell(mpin_trust_start_registration(
            m_sdk, &handle, userId.c_str(), activationToken.c_str(),
            OrNull(pushToken)));
        if (status == Status::OK) user = UserPtr(new User(handle));
        return status;
    }

    Status FinishRegistration(const UserPtr &user, const String &pin) {
        return Tell(mpin_trust_finish_registration(
            m_sdk, Handle(user), pin.c_str()));
    }

    /* ---- Logins ----------------------------------------------------- */

    /** jwt: for the application's own server. */
    Status
    Authenticate(const UserPtr &user, const String &pin, OUT String &jwt) {
        size_t size = 8192;
        mpin_cxx::Room room(size);
        mpin_status status = mpin_trust_authenticate(
            m_sdk, Handle(user), room.data(), &size, pin.c_str());
        if (status == MPIN_BUFFER_TOO_SMALL) {
            /* The login has succeeded. */
            mpin_cxx::Room larger(size);
            status =
                mpin_trust_get_jwt(m_sdk, Handle(user), larger.data(), &size);
            if (status == MPIN_OK) jwt = larger.data();
            return Tell(status);
        }
        if (status == MPIN_OK) jwt = room.data();
        return Tell(status);
    }

    Status AuthenticateWithQRCode(
        const UserPtr &user, const String &qrCode, const String &pin) {
        return Tell(mpin_trust_authenticate_with_qr_code(
            m_sdk, Handle(user), qrCode.c_str(), pin.c_str()));
    }

    Status AuthenticateWithAppLink(
        const UserPtr &user, const String &appLink, const String &pin) {
        return Tell(mpin_trust_authenticate_with_app_link(
            m_sdk, Handle(user), appLink.c_str(), pin.c_str()));
    }

    /** payload: the message, with userID, qrURL and perhaps projectID. */
    Status AuthenticateWithNotificationPayload(
        const util::StringMap &payload, const String &pin) {
        return Tell(mpin_trust_authenticate_with_push_payload(
            m_sdk, Member(payload, "projectID"), Member(payload, "userID"),
            Member(payload, "qrURL"), pin.c_str()));
    }

    Status GenerateQuickCode(
        const UserPtr &user, const String &pin, OUT QuickCode &quickCode) {
        mpin_cxx::Answer<mpin_trust_quick_code> answer;
        Status status = Tell(mpin_trust_generate_quick_code(
            m_sdk, Handle(user), &answer, pin.c_str()));
        if (status != Status::OK) return status;
        quickCode.code = answer.code;
        quickCode.expireTime = answer.expire_time;
        quickCode.ttlSeconds = answer.ttl_seconds;
        return status;
    }

    /* ---- Sessions of a browser, and signatures ---------------------- */

    Status GetCrossDeviceSession(
        const String &sessionUrl, OUT CrossDeviceSession &session) {
        mpin_cxx::Answer<mpin_trust_session> answer;
        Status status = Tell(mpin_trust_get_session_details(
            m_sdk, &answer, sessionUrl.c_str()));
        if (status != Status::OK) return status;
        session.sessionId = answer.access_id;
        session.projectId = answer.project_id;
        session.userId = answer.user_id;
        session.sessionDescription = answer.description;
        session.hash = Bytes(
            answer.hash, std::min(answer.hash_len, sizeof answer.hash));
        session.projectName = answer.project_name;
        session.projectLogoUrl = answer.project_logo_url;
        session.pinLength = answer.pin_length;
        session.screenAddress = answer.screen_address;
        session.screenProgram = answer.screen_program;
        session.siteAddress = answer.site_address;
        return status;
    }

    Status AbortCrossDeviceSession(const String &sessionUrl) {
        return Tell(mpin_trust_abort_session(m_sdk, sessionUrl.c_str()));
    }

    /** hash: 1 to 256 bytes. */
    Status Sign(
        const UserPtr &user, const String &hash, const String &pin,
        OUT Signature &signature) {
        mpin_cxx::Answer<mpin_signature> answer;
        Status status = Tell(mpin_trust_sign(
            m_sdk, Handle(user), &answer, Octets(hash), hash.size(),
            pin.c_str()));
        if (status != Status::OK) return status;
        signature.hash = hash;
        signature.u = Bytes(answer.u, sizeof answer.u);
        signature.v = Bytes(answer.v, sizeof answer.v);
        signature.publicKey =
            Bytes(answer.public_key, sizeof answer.public_key);
        signature.mpinId = answer.mpin_id;
        signature.dtas = answer.dtas;
        signature.timestamp = answer.timestamp;
        return status;
    }

    /** hash: that of GetCrossDeviceSession(), to which the user has agreed. */
    Status SignCrossDeviceSession(
        const UserPtr &user, const String &sessionUrl, const String &hash,
        const String &pin) {
        return Tell(mpin_trust_sign_session(
            m_sdk, Handle(user), sessionUrl.c_str(), Octets(hash), hash.size(),
            pin.c_str()));
    }

private:
    TrustSDK(const TrustSDK &);
    TrustSDK &operator=(const TrustSDK &);

    static void Ignore(mpin_status) {}
    static const char *OrNull(const String &text) {
        return text.empty() ? NULL : text.c_str();
    }
    static mpin_user *Handle(const UserPtr &user) {
        return user ? user->m_user : NULL;
    }
    static const char *
    Member(const util::StringMap &payload, const char *name) {
        util::StringMap::const_iterator found = payload.find(name);
        return found == payload.end() ? NULL : found->second.c_str();
    }
    static const uint8_t *Octets(const String &bytes) {
        return reinterpret_cast<const uint8_t *>(bytes.data());
    }
    static String Bytes(const uint8_t *bytes, size_t size) {
        return String(reinterpret_cast<const char *>(bytes), size);
    }

    Status Tell(mpin_status status) const {
        if (status == MPIN_OK) return Status();
        if (status == MPIN_INVALID_HANDLE)
            return Status(Status::FLOW_ERROR, "no such user");
        mpin_error error;
        error.size = sizeof error;
        const bool isTold = mpin_sdk_get_last_error(m_sdk, &error) == MPIN_OK &&
                            error.status == status;
        return Status(
            static_cast<Status::Code>(status),
            isTold ? error.text : mpin_status_name(status));
    }

    Status Read(
        mpin_status status, const mpin_trust_activation &answer,
        ActivationTokenResponse &response) const {
        if (status != MPIN_OK) return Tell(status);
        response.projectId = answer.project_id;
        response.userId = answer.user_id;
        response.accessId = answer.access_id;
        response.activationToken = answer.activation_token;
        response.expireTime = answer.expire_time;
        return Status();
    }

    mpin_sdk *m_sdk;
};

#endif
