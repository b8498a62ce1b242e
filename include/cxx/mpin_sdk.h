/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_CXX_MPIN_SDK_H
#define MPIN_CXX_MPIN_SDK_H

/**
 * The class of the Milagro SDK core, over mpin.h. A program that was written
 * for that core compiles with this header instead of the core's, and links
 * libmpin. It needs C++11 and no source files.
 *
 * Differences from the Milagro core:
 *
 * - The data in the program's storages is encrypted: NONSECURE contains the
 *   users, SECURE the key. Init() imports the users that a Milagro or MIRACL
 *   core has stored.
 * - Codes from 32 on are new; mpin.h explains them.
 * - If two objects of a program represent the same user, both show its current
 *   state.
 * - Plain http to any host is allowed, because the program has its own HTTP.
 * - SetQueryParams() is never called: a URL contains its query.
 * - MPinSDKBase, the base class of later cores, is another name of MPinSDK.
 */

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../mpin.h"
#include "utils.h"

namespace mpin_cxx {

/* The class is a template, because a template's constants can be defined in a
 * header without a source file. */
template <typename Unused> struct HttpConstants {
    static const char *CONTENT_TYPE_HEADER;
    static const char *ACCEPT_HEADER;
    static const char *JSON_CONTENT_TYPE;
    static const char *TEXT_PLAIN_CONTENT_TYPE;
};
template <typename Unused>
const char *HttpConstants<Unused>::CONTENT_TYPE_HEADER = "Content-Type";
template <typename Unused>
const char *HttpConstants<Unused>::ACCEPT_HEADER = "Accept";
template <typename Unused>
const char *HttpConstants<Unused>::JSON_CONTENT_TYPE =
    "application/json; charset=UTF-8";
template <typename Unused>
const char *HttpConstants<Unused>::TEXT_PLAIN_CONTENT_TYPE = "text/plain";

template <typename Unused> struct ConfigConstants {
    static const char *CONFIG_BACKEND;
    static const char *CONFIG_RPS_PREFIX;
    /* The values of User::GetVerificationType(). */
    static const char *VERIFICATION_TYPE_EMAIL;
    static const char *VERIFICATION_TYPE_CUSTOM;
    static const char *VERIFICATION_TYPE_REG_CODE;
    static const char *VERIFICATION_TYPE_DVS_REG_TOKEN;

protected:
    static const char *DEFAULT_RPS_PREFIX;
};
template <typename Unused>
const char *ConfigConstants<Unused>::CONFIG_BACKEND = "backend";
template <typename Unused>
const char *ConfigConstants<Unused>::CONFIG_RPS_PREFIX = "rps_prefix";
template <typename Unused>
const char *ConfigConstants<Unused>::VERIFICATION_TYPE_EMAIL = "em";
template <typename Unused>
const char *ConfigConstants<Unused>::VERIFICATION_TYPE_CUSTOM = "pv";
template <typename Unused>
const char *ConfigConstants<Unused>::VERIFICATION_TYPE_REG_CODE = "rc";
template <typename Unused>
const char *ConfigConstants<Unused>::VERIFICATION_TYPE_DVS_REG_TOKEN = "dvs";
template <typename Unused>
const char *ConfigConstants<Unused>::DEFAULT_RPS_PREFIX = "rps";

/* A buffer for a text from the library. It is overwritten when it is freed. */
class Room {
public:
    explicit Room(size_t size) : m_text(size, '\0') {}
    char *data() { return &m_text[0]; }

private:
    util::String m_text;
};

/* A structure for the library to fill. It is overwritten when it is freed. */
template <typename Type> struct Answer : Type {
    Answer() : Type() { this->size = sizeof(Type); }
    ~Answer() {
        Type *whole = this;
        volatile char *start = reinterpret_cast<char *>(whole);
        for (size_t i = 0; i < sizeof(Type); ++i) start[i] = 0;
    }
};

} // namespace mpin_cxx

class MPinSDK : public mpin_cxx::ConfigConstants<void> {
public:
    typedef util::String String;
    typedef util::StringMap StringMap;
    typedef std::vector<String> StringVector;
    class User;
    typedef std::shared_ptr<User> UserPtr;

    enum CryptoType { CRYPTO_TEE, CRYPTO_NON_TEE };

    class IHttpRequest : public mpin_cxx::HttpConstants<void> {
    public:
        enum Method { GET, POST, PUT, DELETE, OPTIONS, PATCH };

        virtual ~IHttpRequest() {}
        virtual void SetHeaders(const StringMap &headers) = 0;
        virtual void SetQueryParams(const StringMap &queryParams) = 0;
        virtual void SetContent(const String &data) = 0;
        virtual void SetTimeout(int seconds) = 0;
        virtual bool Execute(Method method, const String &url) = 0;
        virtual const String &GetExecuteErrorMessage() const = 0;
        virtual int GetHttpStatusCode() const = 0;
        virtual const StringMap &GetResponseHeaders() const = 0;
        virtual const String &GetResponseData() const = 0;
    };

    typedef IHttpRequest::Method HttpMethod;

    class IStorage {
    public:
        enum Type { SECURE, NONSECURE };

        virtual ~IStorage() {}
        virtual bool SetData(const String &data) = 0;
        virtual bool GetData(OUT String &data) = 0;
        /** Empties the storage. This function has a default, because the
         * storages of programs for older cores do not have it. */
        virtual bool ClearData() { return SetData(""); }
        virtual const String &GetErrorMessage() const = 0;
    };

    class IContext {
    public:
        virtual ~IContext() {}
        virtual IHttpRequest *CreateHttpRequest() const = 0;
        virtual void ReleaseHttpRequest(IN IHttpRequest *request) const = 0;
        virtual IStorage *GetStorage(IStorage::Type type) const = 0;
        virtual CryptoType GetMPinCryptoType() const = 0;
    };

    class Status {
    public:
        enum Code {
            /* Written by Sources/Packaging/statuses.py. */
            OK = MPIN_OK,
            PIN_INPUT_CANCELED = MPIN_PIN_INPUT_CANCELED,
            CRYPTO_ERROR = MPIN_CRYPTO_ERROR,
            STORAGE_ERROR = MPIN_STORAGE_ERROR,
            NETWORK_ERROR = MPIN_NETWORK_ERROR,
            RESPONSE_PARSE_ERROR = MPIN_RESPONSE_PARSE_ERROR,
            FLOW_ERROR = MPIN_FLOW_ERROR,
            IDENTITY_NOT_AUTHORIZED = MPIN_IDENTITY_NOT_AUTHORIZED,
            IDENTITY_NOT_VERIFIED = MPIN_IDENTITY_NOT_VERIFIED,
            REQUEST_EXPIRED = MPIN_REQUEST_EXPIRED,
            REVOKED = MPIN_REVOKED,
            INCORRECT_PIN = MPIN_INCORRECT_PIN,
            INCORRECT_ACCESS_NUMBER = MPIN_INCORRECT_ACCESS_NUMBER,
            HTTP_SERVER_ERROR = MPIN_HTTP_SERVER_ERROR,
            HTTP_REQUEST_ERROR = MPIN_HTTP_REQUEST_ERROR,
            BAD_USER_AGENT = MPIN_BAD_USER_AGENT,
            CLIENT_SECRET_EXPIRED = MPIN_CLIENT_SECRET_EXPIRED,
            BAD_CLIENT_VERSION = MPIN_BAD_CLIENT_VERSION,
            UNTRUSTED_DOMAIN_ERROR = MPIN_UNTRUSTED_DOMAIN_ERROR,
            REGISTRATION_EXPIRED = MPIN_REGISTRATION_EXPIRED,
            OPERATION_NOT_ALLOWED = MPIN_OPERATION_NOT_ALLOWED,
            VERIFICATION_FAILED = MPIN_VERIFICATION_FAILED,
            INVALID_HANDLE = MPIN_INVALID_HANDLE,
            INVALID_ARGUMENT = MPIN_INVALID_ARGUMENT,
            BUFFER_TOO_SMALL = MPIN_BUFFER_TOO_SMALL,
            CANCELED = MPIN_CANCELED,
            TIMED_OUT = MPIN_TIMED_OUT,
            PIN_INVALID = MPIN_PIN_INVALID,
            UNSUPPORTED_FORMAT = MPIN_UNSUPPORTED_FORMAT,
            TOO_MANY_REQUESTS = MPIN_TOO_MANY_REQUESTS,
            RANDOM_FAILED = MPIN_RANDOM_FAILED,
            REQUEST_BACKOFF = MPIN_REQUEST_BACKOFF,
            ACTIVATION_TOKEN_INVALID = MPIN_ACTIVATION_TOKEN_INVALID,
            PROJECT_MISMATCH = MPIN_PROJECT_MISMATCH,
            UNSUPPORTED_CURVE = MPIN_UNSUPPORTED_CURVE,
            SESSION_INVALID = MPIN_SESSION_INVALID,
            USER_NOT_FOUND = MPIN_USER_NOT_FOUND,
            NO_CREDENTIALS = MPIN_NO_CREDENTIALS,
            NO_REFRESH_TOKEN = MPIN_NO_REFRESH_TOKEN,
            RENEW_FAILED = MPIN_RENEW_FAILED,
            EXCHANGE_FAILED = MPIN_EXCHANGE_FAILED,
            REVOKE_FAILED = MPIN_REVOKE_FAILED,
            LARGE_MIN_TTL = MPIN_LARGE_MIN_TTL,
            LOGIN_REQUIRED = MPIN_LOGIN_REQUIRED,
            INTERACTION_NOT_ALLOWED = MPIN_INTERACTION_NOT_ALLOWED,
            PROVIDER_UNKNOWN = MPIN_PROVIDER_UNKNOWN,
            LOGIN_REFUSED = MPIN_LOGIN_REFUSED,
            TOKEN_INVALID = MPIN_TOKEN_INVALID,
            FORKED = MPIN_FORKED,
            PIN_INPUT_CANCELLED = MPIN_PIN_INPUT_CANCELED
        };

        Status() : m_statusCode(OK) {}
        Status(Code statusCode) : m_statusCode(statusCode) {}
        Status(Code statusCode, const String &error)
            : m_statusCode(statusCode), m_errorMessage(error) {}
        Code GetStatusCode() const { return m_statusCode; }
        String GetStatusCodeString() const {
            return mpin_status_name(m_statusCode);
        }
        const String &GetErrorMessage() const { return m_errorMessage; }
        void SetStatusCode(Code statusCode) { m_statusCode = statusCode; }
        void SetErrorMessage(const String &error) { m_errorMessage = error; }
        bool operator==(Code statusCode) const {
            return m_statusCode == statusCode;
        }
        bool operator!=(Code statusCode) const {
            return m_statusCode != statusCode;
        }

    private:
        Code m_statusCode;
        String m_errorMessage;
    };

    class Expiration {
    public:
        Expiration() : expireTimeSeconds(0), nowTimeSeconds(0) {}
        int expireTimeSeconds;
        int nowTimeSeconds;
    };

    class User {
    public:
        enum State {
            INVALID,
            STARTED_REGISTRATION,
            ACTIVATED,
            REGISTERED,
            BLOCKED
        };

        ~User() { mpin_user_free(m_user); }

        const String &GetId() const { return m_id; }
        /** The backend without scheme and final "/": "example.com:8001". */
        const String &GetBackend() const {
            m_backend = BackendKey(GetUrl());
            return m_backend;
        }
        const String &GetCustomerId() const {
            return Read(m_customerId, mpin_user_get_customer_id);
        }
        const String &GetAppId() const {
            return Read(m_appId, mpin_user_get_app_id);
        }
        /** The bytes of the M-Pin ID, which are JSON text. */
        const String &GetMPinId() const {
            String hex;
            Read(hex, mpin_user_get_mpin_id);
            m_mpinId.clear();
            for (size_t i = 0; i + 1 < hex.size(); i += 2)
                m_mpinId += static_cast<char>(
                    std::stoi(hex.substr(i, 2), NULL, 16));
            return m_mpinId;
        }
        const Expiration &GetRegistrationExpiration() const {
            mpin_expiration expiration;
            expiration.size = sizeof expiration;
            if (mpin_user_get_registration_expiration(m_user, &expiration) ==
                MPIN_OK) {
                m_expiration.expireTimeSeconds =
                    static_cast<int>(expiration.expire_time);
                m_expiration.nowTimeSeconds =
                    static_cast<int>(expiration.now_time);
            }
            return m_expiration;
        }
        bool CanSign() const {
            int32_t can = 0;
            return mpin_user_get_can_sign(m_user, &can) == MPIN_OK && can == 1;
        }
        /** The number of digits of a PIN. 0 if the server does not say; then 4
         * to 6 digits are allowed. */
        int GetPinLength() const {
            int32_t digits = 0;
            if (mpin_user_get_pin_length(m_user, &digits) != MPIN_OK) return 0;
            return digits;
        }
        /** How the server has verified the user id; empty if it did not say. */
        String GetVerificationType() const {
            String type;
            return Read(type, mpin_user_get_verification_type);
        }
        State GetState() const {
            int32_t state = INVALID;
            if (mpin_user_get_state_legacy(m_user, &state) != MPIN_OK)
                return INVALID;
            return static_cast<State>(state);
        }
        String GetStateString() const { return StateToString(GetState()); }
        static String StateToString(State state) {
            switch (state) {
            case STARTED_REGISTRATION: return "STARTED_REGISTRATION";
            case ACTIVATED: return "ACTIVATED";
            case REGISTERED: return "REGISTERED";
            case BLOCKED: return "BLOCKED";
            case INVALID: break;
            }
            return "INVALID";
        }

    private:
        friend class MPinSDK;
        friend class MfaSDK;
        typedef mpin_status (*Getter)(mpin_user *, char *, size_t *);

        User(const String &id, const String &deviceName)
            : m_user(NULL), m_id(id), m_deviceName(deviceName) {}
        explicit User(mpin_user *user) : m_user(user) {
            Read(m_id, mpin_user_get_id);
            GetUrl();
        }
        User(const User &);
        User &operator=(const User &);

        const String &GetUrl() const {
            return Read(m_url, mpin_user_get_backend);
        }

        /* Reads a text of the user. If the user's handle was freed, the text
         * keeps its last value. */
        const String &Read(String &text, Getter get) const {
            size_t size = 0;
            if (get(m_user, NULL, &size) != MPIN_OK) return text;
            std::vector<char> room(size);
            if (get(m_user, room.data(), &size) == MPIN_OK) text = room.data();
            return text;
        }

        /* The library's handle; NULL until a function of the sdk needs the
         * user. */
        mpin_user *m_user;
        String m_id;
        String m_deviceName;
        mutable String m_url;
        mutable String m_backend;
        mutable String m_customerId;
        mutable String m_appId;
        mutable String m_mpinId;
        mutable Expiration m_expiration;
    };

    class OTP {
    public:
        OTP() : expireTime(0), ttlSeconds(0), nowTime(0), status(Status::OK) {}

        String otp;
        long expireTime;
        int ttlSeconds;
        long nowTime;
        Status status;
    };

    /** A code that registers another device. */
    class RegCode : public OTP {};

    /** The PIN, then the further factors. */
    class MultiFactor : public StringVector {
    public:
        MultiFactor() {}
        MultiFactor(const char *pin) : StringVector(1, String(pin)) {}
        MultiFactor(const std::string &pin) : StringVector(1, String(pin)) {}
        bool IsEmpty() const { return empty() || front().empty(); }
    };

    class Signature {
    public:
        String hash;
        /** The signer's M-Pin ID, as in User::GetMPinId(). */
        String mpinId;
        /* The signature consists of `u` and `v`. They and the public key are
         * bytes, not text. */
        String u;
        String v;
        String publicKey;
        /** The names of the D-TAs that made the key, in base64. */
        String dtas;
    };

    class SessionDetails {
    public:
        void Clear() { *this = SessionDetails(); }

        String prerollId;
        String appName;
        String appIconUrl;
    };

    class ServiceDetails {
    public:
        String name;
        String backendUrl;
        String rpsPrefix;
        String logoUrl;
    };

    MPinSDK()
        : m_sdk(NULL), m_context(NULL), m_state(NOT_INITIALIZED),
          m_newCustomer(NULL) {
        if (mpin_sdk_new(&m_sdk) != MPIN_OK) m_sdk = NULL;
    }
    ~MPinSDK() {
        m_users.clear();
        mpin_sdk_free(m_sdk);
    }

    /* ---- Life cycle ------------------------------------------------- */

    Status Init(const StringMap &config, IN IContext *ctx) {
        if (IsInitilized()) return Status();
        if (!ctx || ctx->GetMPinCryptoType() != CRYPTO_NON_TEE)
            return Status(
                Status::FLOW_ERROR, "a context without TEE is needed");
        m_context = ctx;
        Status status = Open(config);
        if (status != Status::OK) Destroy();
        return status;
    }

    Status Init(
        const StringMap &config, IN IContext *ctx,
        const StringMap &customHeaders) {
        AddCustomHeaders(customHeaders);
        return Init(config, ctx);
    }

    void Destroy() {
        m_users.clear();
        m_state = NOT_INITIALIZED;
        m_context = NULL;
        m_oldSecure.Overwrite();
        m_oldSecure.clear();
        Ignore(mpin_sdk_destroy(m_sdk));
        ClearCustomHeaders();
        ClearTrustedDomains();
    }

    void ClearUsers() {
        m_users.clear();
        Ignore(mpin_sdk_clear_users(m_sdk));
    }

    bool IsInitilized() const { return m_state != NOT_INITIALIZED; }
    bool IsBackendSet() const { return m_state == BACKEND_SET; }
    const char *GetVersion() const { return mpin_version(); }
    /** The handle of mpin.h, for MPinSession. It is freed with this object. */
    mpin_sdk *GetHandle() const { return m_sdk; }

    void SetClientId(const String &clientId) {
        Ignore(mpin_sdk_set_client_id(m_sdk, clientId.c_str()));
    }
    void AddCustomHeaders(const StringMap &customHeaders) {
        for (StringMap::const_iterator i = customHeaders.begin();
             i != customHeaders.end(); ++i)
            Ignore(mpin_sdk_add_custom_header(
                m_sdk, i->first.c_str(), i->second.c_str()));
    }
    void ClearCustomHeaders() { Ignore(mpin_sdk_clear_custom_headers(m_sdk)); }
    void AddTrustedDomain(const String &domain) {
        /* The Milagro core also accepted URLs and used their host. */
        const size_t mark = domain.find("://");
        const size_t start = mark == String::npos ? 0 : mark + 3;
        const std::string host =
            domain.substr(start, domain.find_first_of("/?#:", start) - start);
        /* If the text is not a domain, the list must not stay empty, because
         * then every host would be trusted. "invalid" is reserved (RFC
         * 6761). */
        if (mpin_sdk_add_trusted_domain(m_sdk, host.c_str()) != MPIN_OK)
            Ignore(mpin_sdk_add_trusted_domain(m_sdk, "invalid"));
    }
    void ClearTrustedDomains() {
        Ignore(mpin_sdk_clear_trusted_domains(m_sdk));
    }

    /* ---- Backend ---------------------------------------------------- */

    Status TestBackend(
        const String &server,
        const String &rpsPrefix = DEFAULT_RPS_PREFIX) const {
        return Tell(mpin_sdk_test_backend(
            m_sdk, server.c_str(), rpsPrefix.c_str()));
    }

    Status SetBackend(
        const String &server, const String &rpsPrefix = DEFAULT_RPS_PREFIX) {
        Status status = Tell(mpin_sdk_set_backend(
            m_sdk, server.c_str(), rpsPrefix.c_str()));
        if (status == Status::OK) m_state = BACKEND_SET;
        return status;
    }

    String GetClientParam(const String &key) {
        size_t size = 0;
        if (mpin_sdk_get_client_param(m_sdk, NULL, &size, key.c_str()) !=
            MPIN_OK)
            return "";
        std::vector<char> text(size);
        if (mpin_sdk_get_client_param(
                m_sdk, text.data(), &size, key.c_str()) != MPIN_OK)
            return "";
        return text.data();
    }

    Status GetServiceDetails(
        const String &url, OUT ServiceDetails &serviceDetails) {
        mpin_service_details details;
        details.size = sizeof details;
        Status status = Tell(
            mpin_sdk_get_service_details(m_sdk, &details, url.c_str()));
        if (status != Status::OK) return status;
        serviceDetails.name = details.name;
        serviceDetails.backendUrl = details.backend_url;
        serviceDetails.rpsPrefix = details.rps_prefix;
        serviceDetails.logoUrl = details.logo_url;
        return status;
    }

    /* ---- Users ------------------------------------------------------ */

    UserPtr
    MakeNewUser(const String &id, const String &deviceName = "") const {
        return UserPtr(new User(id, deviceName));
    }

    bool IsUserExisting(
        const String &id, const String &customerId = "",
        const String &appId = "") {
        int32_t exists = 0;
        const mpin_status status = mpin_sdk_user_exists(
            m_sdk, &exists, id.c_str(),
            customerId.empty() ? NULL : customerId.c_str(),
            appId.empty() ? NULL : appId.c_str());
        return status == MPIN_OK && exists == 1;
    }

    void DeleteUser(INOUT UserPtr user) {
        if (!user) return;
        Forget(*user);
        Ignore(mpin_sdk_delete_user(m_sdk, user->m_user));
    }

    Status ListUsers(OUT std::vector<UserPtr> &users) const {
        return List(users, [this](mpin_user **handles, size_t *count) {
            return mpin_sdk_list_users(m_sdk, handles, count);
        });
    }

    /** Lists the users of `backend`, which may be with or without a scheme. If
     * `backend` is empty, lists all users. */
    Status
    ListUsers(OUT std::vector<UserPtr> &users, const String &backend) const {
        std::vector<UserPtr> all;
        users.clear();
        const Status status = ListAllUsers(all);
        const String key = BackendKey(backend);
        for (size_t i = 0; i < all.size(); ++i)
            if (key.empty() || all[i]->GetBackend() == key)
                users.push_back(all[i]);
        return status;
    }

    Status ListAllUsers(OUT std::vector<UserPtr> &users) const {
        return List(users, [this](mpin_user **handles, size_t *count) {
            return mpin_sdk_list_all_users(m_sdk, handles, count);
        });
    }

    /** Lists the backends in the form that User::GetBackend() returns. */
    Status ListBackends(OUT std::vector<String> &backends) const {
        std::vector<UserPtr> users;
        std::set<String> found;
        const Status status = ListAllUsers(users);
        for (size_t i = 0; i < users.size(); ++i)
            found.insert(users[i]->GetBackend());
        backends.assign(found.begin(), found.end());
        return status;
    }

    /* ---- Registration ----------------------------------------------- */

    Status StartRegistration(
        INOUT UserPtr user, const String &activateCode = "",
        const String &userData = "") {
        Status status = Bind(user);
        if (status != Status::OK) return status;
        return Tell(mpin_sdk_start_registration(
            m_sdk, user->m_user, OrNull(activateCode), OrNull(userData)));
    }

    Status
    RestartRegistration(INOUT UserPtr user, const String &userData = "") {
        return Tell(mpin_sdk_restart_registration(
            m_sdk, Handle(user), OrNull(userData)));
    }

    Status ConfirmRegistration(
        INOUT UserPtr user, const String &pushMessageIdentifier = "") {
        return Tell(mpin_sdk_confirm_registration(
            m_sdk, Handle(user), OrNull(pushMessageIdentifier)));
    }

    Status FinishRegistration(INOUT UserPtr user, const String &pin) {
        return Tell(
            mpin_sdk_finish_registration(m_sdk, Handle(user), pin.c_str()));
    }

    /* ---- Authentication --------------------------------------------- */

    Status StartAuthentication(
        INOUT UserPtr user, const String &accessCode = "") {
        if (accessCode.empty())
            return Tell(mpin_sdk_start_authentication(m_sdk, Handle(user)));
        return Tell(mpin_sdk_start_authentication_mfa(
            m_sdk, Handle(user), accessCode.c_str()));
    }

    Status CheckAccessNumber(const String &accessNumber) {
        return Tell(mpin_sdk_check_access_number(m_sdk, accessNumber.c_str()));
    }

    Status FinishAuthentication(INOUT UserPtr user, const String &pin) {
        return Tell(mpin_sdk_finish_authentication(
            m_sdk, Handle(user), NULL, NULL, pin.c_str()));
    }

    Status FinishAuthentication(
        INOUT UserPtr user, const String &pin, OUT String &authResultData) {
        Status status = FinishAuthentication(user, pin);
        if (status != Status::OK) return status;
        size_t size = 0;
        if (mpin_sdk_get_auth_data(m_sdk, Handle(user), NULL, &size) !=
            MPIN_OK)
            return status;
        mpin_cxx::Room text(size);
        if (mpin_sdk_get_auth_data(
                m_sdk, Handle(user), text.data(), &size) == MPIN_OK)
            authResultData = text.data();
        return status;
    }

    Status FinishAuthenticationOTP(
        INOUT UserPtr user, const String &pin, OUT OTP &otp) {
        mpin_cxx::Answer<mpin_otp> code;
        Status status = Tell(mpin_sdk_finish_authentication_otp(
            m_sdk, Handle(user), &code, pin.c_str()));
        if (status != Status::OK) return status;
        otp.otp = code.otp;
        otp.expireTime = static_cast<long>(code.expire_time);
        otp.ttlSeconds = code.ttl_seconds;
        otp.nowTime = static_cast<long>(code.now_time);
        otp.status = Status(
            static_cast<Status::Code>(code.status),
            code.status == MPIN_OK           ? ""
            : code.status == MPIN_FLOW_ERROR ? "no one-time password issued"
                                             : "a time is missing");
        return status;
    }

    Status FinishAuthenticationAN(
        INOUT UserPtr user, const String &pin, const String &accessNumber) {
        return Tell(mpin_sdk_finish_authentication_an(
            m_sdk, Handle(user), pin.c_str(), accessNumber.c_str()));
    }

    Status FinishAuthenticationMFA(
        INOUT UserPtr user, const String &pin, OUT String &authzCode) {
        size_t size = 1 << 16;
        mpin_cxx::Room code(size);
        Status status = Tell(mpin_sdk_finish_authentication_mfa(
            m_sdk, Handle(user), code.data(), &size, pin.c_str(), NULL));
        if (status == Status::OK) authzCode = code.data();
        return status;
    }

    Status GetSessionDetails(
        const String &accessCode, OUT SessionDetails &sessionDetails) {
        mpin_session_details details;
        details.size = sizeof details;
        Status status = Tell(mpin_sdk_get_session_details(
            m_sdk, &details, accessCode.c_str()));
        if (status != Status::OK) return status;
        sessionDetails.prerollId = details.preroll_id;
        sessionDetails.appName = details.app_name;
        sessionDetails.appIconUrl = details.app_icon_url;
        return status;
    }

    Status AbortSession(const String &accessCode) {
        return Tell(mpin_sdk_abort_session(m_sdk, accessCode.c_str()));
    }

    bool CanLogout(IN UserPtr user) {
        int32_t can = 0;
        return mpin_sdk_can_logout(m_sdk, Handle(user), &can) == MPIN_OK &&
               can == 1;
    }

    bool Logout(IN UserPtr user) {
        return mpin_sdk_logout(m_sdk, Handle(user)) == MPIN_OK;
    }

private:
    friend class MfaSDK;
    enum State { NOT_INITIALIZED, INITIALIZED, BACKEND_SET };
    typedef std::vector<UserPtr> Users;

    MPinSDK(const MPinSDK &);
    MPinSDK &operator=(const MPinSDK &);

    static void Ignore(mpin_status) {}
    static const char *OrNull(const String &text) {
        return text.empty() ? NULL : text.c_str();
    }
    static mpin_user *Handle(const UserPtr &user) {
        return user ? user->m_user : NULL;
    }
    /* The key by which a user is compared with other users. It is computed each
     * time and not stored, because the customer may become known later. */
    static std::string Key(const User &user) {
        return user.GetId() + "\n" + user.GetUrl() + "\n" +
               user.GetCustomerId() + "\n" + user.GetAppId();
    }
    static bool IsStarted(const User &user) {
        int32_t state = MPIN_USER_INVALID;
        return mpin_user_get_state(user.m_user, &state) == MPIN_OK &&
               state != MPIN_USER_INVALID;
    }
    static String BackendKey(const String &url) {
        String key(url);
        key.ReplaceAll("https://", "").ReplaceAll("http://", "");
        key.TrimRight("/");
        return key;
    }

    /* Converts a status of the library to the class Status of the Milagro core,
     * with the error text. */
    Status Tell(mpin_status status) const {
        if (status == MPIN_OK) return Status();
        /* Programs for the Milagro core have no handles, so this error needs
         * another text. */
        if (status == MPIN_INVALID_HANDLE)
            return Status(
                Status::FLOW_ERROR, "no such user: StartRegistration first");
        const Status::Code code = static_cast<Status::Code>(status);
        mpin_error error;
        error.size = sizeof error;
        if (mpin_sdk_get_last_error(m_sdk, &error) != MPIN_OK ||
            error.status != status)
            return Status(code, mpin_status_name(status));
        if (status != MPIN_NETWORK_ERROR || m_executeError.empty())
            return Status(code, error.text);
        return Status(code, std::string(error.text) + ": " + m_executeError);
    }

    /* ---- Users ------------------------------------------------------ */

    /* Connects the object with the sdk's user of the same id. */
    Status Bind(const UserPtr &user) {
        if (!user) return Status(Status::FLOW_ERROR, "no user");
        int32_t state = 0;
        if (mpin_user_get_state(user->m_user, &state) == MPIN_OK)
            return Status();
        mpin_user_free(user->m_user);
        user->m_user = NULL;
        Status status = Tell(mpin_sdk_make_new_user_mfa(
            m_sdk, &user->m_user, user->m_id.c_str(),
            OrNull(user->m_deviceName), m_newCustomer, m_newCustomer));
        if (status != Status::OK) return status;
        Forget(*user);
        m_users.push_back(user);
        return status;
    }

    void Forget(const User &user) {
        const std::string key = Key(user);
        m_users.erase(
            std::remove_if(
                m_users.begin(), m_users.end(),
                [&key](const UserPtr &known) { return Key(*known) == key; }),
            m_users.end());
    }

    template <typename Call>
    Status List(std::vector<UserPtr> &users, const Call &call) const {
        users.clear();
        size_t count = 0;
        Status status = Tell(call(NULL, &count));
        if (status != Status::OK) return status;
        /* There is room for one at least, so that NULL never asks. */
        std::vector<mpin_user *> handles(count + 1);
        count = handles.size();
        status = Tell(call(handles.data(), &count));
        if (status != Status::OK) return status;
        std::map<std::string, UserPtr> all;
        for (size_t i = 0; i < m_users.size(); ++i)
            if (IsStarted(*m_users[i])) all[Key(*m_users[i])] = m_users[i];
        for (size_t i = 0; i < count; ++i) {
            UserPtr user(new User(handles[i]));
            UserPtr &known = all[Key(*user)];
            if (!known) m_users.push_back(known = user);
            users.push_back(known);
        }
        return status;
    }

    /* ---- The program's HTTP and storages ---------------------------- */

    Status Open(const StringMap &config) {
        mpin_context context = mpin_context();
        context.size = sizeof context;
        context.user = this;
        context.http_execute = HttpExecute;
        context.storage_get = StorageGet;
        context.storage_set = StorageSet;
        mpin_config settings = mpin_config();
        settings.size = sizeof settings;
        settings.context = &context;
        settings.allow_insecure = 1;
        const String prefix = config.Get(CONFIG_RPS_PREFIX);
        settings.rps_prefix = OrNull(prefix);

        String users;
        if (!ReadOldUsers(users))
            return Status(Status::STORAGE_ERROR, "the storage cannot be read");
        Status status = Tell(mpin_sdk_init(m_sdk, &settings));
        if (status != Status::OK) return status;
        m_state = INITIALIZED;
        if (!users.empty()) status = ImportOldUsers(users);
        if (status != Status::OK) return status;
        String backend = config.Get(CONFIG_BACKEND);
        if (backend.empty()) backend = config.Get("RPA_server");
        if (backend.empty()) return status;
        return SetBackend(
            backend, prefix.empty() ? String(DEFAULT_RPS_PREFIX) : prefix);
    }

    static mpin_status HttpExecute(
        void *self, const mpin_http_request *request,
        mpin_http_response *response) {
        MPinSDK &sdk = *static_cast<MPinSDK *>(self);
        sdk.m_executeError.clear();
        IHttpRequest *http = NULL;
        mpin_status status = MPIN_NETWORK_ERROR;
        /* Exceptions are caught here, because they must not pass through the
         * library. */
        try {
            http = sdk.m_context->CreateHttpRequest();
            if (http)
                status =
                    Exchange(*http, *request, response, sdk.m_executeError);
        } catch (...) {
        }
        try {
            if (http) sdk.m_context->ReleaseHttpRequest(http);
        } catch (...) {
        }
        return status;
    }

    static mpin_status Exchange(
        IHttpRequest &http, const mpin_http_request &request,
        mpin_http_response *response, String &error) {
        StringMap headers;
        for (const char *const *i = request.headers; *i; i += 2)
            headers.Put(i[0], i[1]);
        http.SetHeaders(headers);
        const std::string name = request.method;
        const IHttpRequest::Method method = name == "GET" ? IHttpRequest::GET
                                            : name == "PUT"
                                                ? IHttpRequest::PUT
                                                : IHttpRequest::POST;
        if (method != IHttpRequest::GET)
            http.SetContent(String(
                reinterpret_cast<const char *>(request.body),
                request.body_len));
        http.SetTimeout(static_cast<int>((request.timeout_ms + 999) / 1000));
        if (!http.Execute(method, request.url)) {
            error = http.GetExecuteErrorMessage();
            return MPIN_NETWORK_ERROR;
        }
        const StringMap &answer = http.GetResponseHeaders();
        for (StringMap::const_iterator i = answer.begin(); i != answer.end();
             ++i)
            Ignore(mpin_http_response_add_header(
                response, i->first.c_str(), i->second.c_str()));
        const String &body = http.GetResponseData();
        Ignore(mpin_http_response_append_body(
            response, reinterpret_cast<const uint8_t *>(body.data()),
            body.size()));
        return mpin_http_response_set_status(
            response, http.GetHttpStatusCode());
    }

    IStorage *Storage(int32_t kind) const {
        return m_context->GetStorage(
            kind == MPIN_STORAGE_SECURE ? IStorage::SECURE
                                        : IStorage::NONSECURE);
    }

    /* While users of a Milagro or MIRACL core are imported, the SECURE text
     * consists of the new key, a newline and that core's text. If the program
     * ends meanwhile, the next start finds both parts. */
    static mpin_status
    StorageGet(void *self, mpin_storage_data *data, int32_t kind) {
        try {
            String text;
            IStorage *storage = static_cast<MPinSDK *>(self)->Storage(kind);
            if (!storage || !storage->GetData(text)) return MPIN_STORAGE_ERROR;
            if (IsOld(text)) return MPIN_OK;
            if (kind == MPIN_STORAGE_SECURE)
                text = String(text, 0, text.find('\n'));
            return mpin_storage_data_append(
                data, reinterpret_cast<const uint8_t *>(text.data()),
                text.size());
        } catch (...) {
            return MPIN_STORAGE_ERROR;
        }
    }

    static mpin_status StorageSet(
        void *self, int32_t kind, const uint8_t *bytes, size_t bytes_len) {
        try {
            const MPinSDK &sdk = *static_cast<MPinSDK *>(self);
            String text(reinterpret_cast<const char *>(bytes), bytes_len);
            if (kind == MPIN_STORAGE_SECURE && !sdk.m_oldSecure.empty())
                text.append("\n").append(sdk.m_oldSecure);
            IStorage *storage = sdk.Storage(kind);
            return storage && storage->SetData(text) ? MPIN_OK
                                                     : MPIN_STORAGE_ERROR;
        } catch (...) {
            return MPIN_STORAGE_ERROR;
        }
    }

    /* ---- What a Milagro or MIRACL core has stored ------------------- */

    static bool IsOld(const String &text) {
        const size_t first = text.find_first_not_of(" \t\f\v\n\r");
        return first != String::npos && text[first] == '{';
    }

    /* Reads what a Milagro or MIRACL core has stored. `users` is empty if there
     * is nothing. */
    bool ReadOldUsers(String &users) {
        IStorage *open = Storage(MPIN_STORAGE_USERS);
        IStorage *secure = Storage(MPIN_STORAGE_SECURE);
        String text;
        if (!open || !secure || !open->GetData(users) || !secure->GetData(text))
            return false;
        if (!IsOld(users)) {
            users.clear();
            return true;
        }
        m_oldSecure = IsOld(text) ? text : String(text, text.find('\n') + 1);
        return true;
    }

    Status ImportOldUsers(const String &users) {
        size_t imported = 0;
        Status status = Tell(mpin_sdk_import_storage(
            m_sdk, &imported, MPIN_IMPORT_MILAGRO, users.c_str(),
            m_oldSecure.c_str()));
        if (status != Status::OK) return status;
        String text;
        /* If no user could be imported, the texts of the Milagro or MIRACL core
         * stay. */
        if (!Storage(MPIN_STORAGE_USERS)->GetData(text) || IsOld(text))
            return status;
        m_oldSecure.Overwrite();
        m_oldSecure.clear();
        IStorage *secure = Storage(MPIN_STORAGE_SECURE);
        if (!secure->GetData(text)) return Status(Status::STORAGE_ERROR);
        const size_t end = text.find('\n');
        if (end != String::npos && !secure->SetData(String(text, 0, end)))
            return Status(Status::STORAGE_ERROR, secure->GetErrorMessage());
        return status;
    }

    mpin_sdk *m_sdk;
    IContext *m_context;
    State m_state;
    /* The customer of new users: NULL for any, "" for the customer that the
     * server names.
     */
    const char *m_newCustomer;
    mutable Users m_users;
    /* The SECURE text of a Milagro or MIRACL core, until its users have been
     * imported. */
    String m_oldSecure;
    /* The error text of the program's HTTP. */
    String m_executeError;
};

typedef MPinSDK MPinSDKBase;

#endif
