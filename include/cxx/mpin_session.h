/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_CXX_MPIN_SESSION_H
#define MPIN_CXX_MPIN_SESSION_H

/**
 * The session of an app as a C++ class, over mpin.h: a login at a provider, an
 * access token that is renewed as it is used, a profile and a logout. It needs
 * C++11 and no source files. The section "Sessions of apps" of mpin.h describes
 * the functions, whose order of parameters is inputs first, then outputs. Texts
 * are overwritten when they are freed.
 *
 * An MPinSession may be used by several threads. Its sdk may be freed first;
 * its calls then end with INVALID_HANDLE.
 */

#include <functional>

#include "mpin_sdk.h"

class MPinSession {
public:
    typedef util::String String;
    typedef MPinSDK::Status Status;

    enum State {
        SIGNED_OUT = MPIN_SESSION_SIGNED_OUT,
        SIGNING_IN = MPIN_SESSION_SIGNING_IN,
        SIGNED_IN = MPIN_SESSION_SIGNED_IN,
        EXPIRED = MPIN_SESSION_EXPIRED,
        REVOKED = MPIN_SESSION_REVOKED
    };

    /** How a user logs in: in the app, in the system's browser, or by a short
     * code at another device. */
    enum Login {
        PIN = MPIN_LOGIN_PIN,
        BROWSER = MPIN_LOGIN_BROWSER,
        DEVICE_CODE = MPIN_LOGIN_DEVICE_CODE
    };

    class PinRequest {
    public:
        PinRequest() : attemptsLeft(-1) {}
        String provider;
        String userId;
        /** How many more wrong PINs the server accepts; -1 if it does not say.
         */
        int attemptsLeft;
    };

    class DeviceCode {
    public:
        DeviceCode() : expiresIn(0) {}
        String userCode;
        String url;
        /** The URL with the code in it, for a QR code; may be empty. */
        String completeUrl;
        /** How long the code is valid, in seconds. */
        int64_t expiresIn;
    };

    /** What the app does for the session. A function that is empty makes the
     * logins that need it impossible; one that throws counts as a refusal. The
     * functions run in the thread of the call and must not call the same sdk.
     */
    class Callbacks {
    public:
        /** Asks for the PIN; an empty text means that the user has cancelled.
         */
        std::function<String(const PinRequest &)> askPin;
        /** Opens the system's browser, and returns whether it could. */
        std::function<bool(const String &url)> openBrowser;
        std::function<void(const DeviceCode &)> showCode;
        std::function<void(State, const String &provider)> onEvent;
    };

    /** A provider. `name`, `clientId`, and one of `issuer` and `tokenEndpoint`
     * are required; an empty text stands for the default in mpin.h. */
    class Provider {
    public:
        Provider() : login(PIN), endsOn401(false) {}
        String name;
        Login login;
        /** Whether an answer 401 of an API ends the session. */
        bool endsOn401;
        String clientId;
        String clientSecret;
        String issuer;
        String redirectUri;
        String scope;
        /** The origins of the APIs that may get the access token. */
        std::vector<String> origins;
        String authorizationEndpoint;
        String tokenEndpoint;
        String userinfoEndpoint;
        String revocationEndpoint;
        String deviceEndpoint;
        /** The provider's names of claims: "sub" -> "id". */
        util::StringMap claimNames;
    };

    /** What the provider says about the user. */
    class Profile {
    public:
        String sub;
        String name;
        String email;
        /** "true" if the provider has verified the address. */
        String emailVerified;
        String picture;
        String updatedAt;
    };

    explicit MPinSession(const Callbacks &callbacks = Callbacks())
        : m_session(NULL), m_callbacks(callbacks) {}
    ~MPinSession() { mpin_session_free(m_session); }

    /* ---- Life cycle ------------------------------------------------- */

    /** Opens the session that is stored at `path`; "": beside the store of the
     * sdk. sdk: MPinSDK::GetHandle(), or one of mpin_sdk_new(). renews: false
     * for a part of an app that the system may end at any time. */
    Status Open(
        mpin_sdk *sdk, const String &path = "", size_t loginTimeoutMs = 0,
        bool renews = true) {
        if (m_session) return Status(Status::FLOW_ERROR, "already open");
        mpin_session_config config = mpin_session_config();
        config.size = sizeof config;
        config.user = this;
        config.path = OrNull(path);
        config.login_timeout_ms = loginTimeoutMs;
        config.never_renews = !renews;
        if (m_callbacks.askPin) config.ask_pin = AskPin;
        if (m_callbacks.openBrowser) config.open_browser = OpenBrowser;
        if (m_callbacks.showCode) config.show_code = ShowCode;
        if (m_callbacks.onEvent) config.event = Tell;
        const mpin_status status = mpin_session_new(sdk, &m_session, &config);
        return status == MPIN_OK ? Status() : Of(sdk, status);
    }

    Status AddProvider(const Provider &described) {
        String origins, claims;
        for (size_t i = 0; i < described.origins.size(); ++i)
            origins += (i ? " " : "") + described.origins[i];
        for (util::StringMap::const_iterator i = described.claimNames.begin();
             i != described.claimNames.end(); ++i)
            claims += (claims.empty() ? "" : " ") + i->first + "=" + i->second;
        mpin_provider provider = mpin_provider();
        provider.size = sizeof provider;
        provider.name = described.name.c_str();
        provider.login = described.login;
        provider.ends_on_401 = described.endsOn401;
        provider.client_id = described.clientId.c_str();
        provider.client_secret = OrNull(described.clientSecret);
        provider.issuer = OrNull(described.issuer);
        provider.redirect_uri = OrNull(described.redirectUri);
        provider.scope = OrNull(described.scope);
        provider.origins = OrNull(origins);
        provider.authorization_endpoint =
            OrNull(described.authorizationEndpoint);
        provider.token_endpoint = OrNull(described.tokenEndpoint);
        provider.userinfo_endpoint = OrNull(described.userinfoEndpoint);
        provider.revocation_endpoint = OrNull(described.revocationEndpoint);
        provider.device_endpoint = OrNull(described.deviceEndpoint);
        provider.claim_names = OrNull(claims);
        return Of(mpin_session_add_provider(m_session, &provider));
    }

    /** userId: of a registered user for a login by PIN; else a hint for the
     * provider's page. */
    Status LogIn(const String &provider, const String &userId = "") {
        return Of(mpin_session_login(
            m_session, provider.c_str(), OrNull(userId)));
    }

    /** Goes on with the login of another thread, whose browser has come back
     * to the app by this URL. */
    Status Resume(const String &url) {
        return Of(mpin_session_resume(m_session, url.c_str()));
    }

    Status LogOut(bool everywhere = false) {
        return Of(mpin_session_logout(m_session, everywhere));
    }

    /** Ends the calls of other threads with CANCELED. */
    Status Cancel() { return Of(mpin_session_cancel(m_session)); }

    /* ---- What is known ---------------------------------------------- */

    Status GetState(OUT State &state) const {
        int32_t number = SIGNED_OUT;
        const Status status = Of(mpin_session_get_state(m_session, &number));
        if (status == Status::OK) state = static_cast<State>(number);
        return status;
    }

    /** The provider of the last login, also after a logout. */
    Status GetLastProvider(OUT String &provider) const {
        return Read(provider, [this](char *out, size_t *size) {
            return mpin_session_get_last_provider(m_session, out, size);
        });
    }

    Status GetProfile(OUT Profile &profile) const {
        Profile read;
        String *const texts[] = {&read.sub,           &read.name,
                                 &read.email,         &read.emailVerified,
                                 &read.picture,       &read.updatedAt};
        static const char *const names[] = {
            "sub", "name", "email", "email_verified", "picture", "updated_at"};
        for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
            const char *name = names[i];
            const Status status =
                Read(*texts[i], [this, name](char *out, size_t *size) {
                    return mpin_session_get_claim(m_session, out, size, name);
                });
            if (status != Status::OK) return status;
        }
        profile = read;
        return Status();
    }

    /** For a logout at the provider, not for APIs. */
    Status GetIdToken(OUT String &token) const {
        return Read(token, [this](char *out, size_t *size) {
            return mpin_session_get_id_token(m_session, out, size);
        });
    }

    /** The scopes of the access token, separated by spaces. */
    Status GetScope(OUT String &scope) const {
        return Read(scope, [this](char *out, size_t *size) {
            return mpin_session_get_scope(m_session, out, size);
        });
    }

    /** expiry: seconds since 1970; 0 if the provider does not say. */
    Status GetExpiry(OUT int64_t &expiry) const {
        return Of(mpin_session_get_expiry(m_session, &expiry));
    }

    /** Whether the access token is valid for so many more seconds. */
    bool HasValid(int minTtl = 0) const {
        int32_t has = 0;
        return mpin_session_has_valid(m_session, &has, minTtl) == MPIN_OK &&
               has == 1;
    }

    bool CanRenew() const {
        int32_t can = 0;
        return mpin_session_can_renew(m_session, &can) == MPIN_OK && can == 1;
    }

    /* ---- Tokens ----------------------------------------------------- */

    /** The access token, which is renewed first if it does not live for
     * `minTtl` more seconds. mayInteract: whether the user may be asked for
     * the PIN, if the provider has ended the session. */
    Status GetAccessToken(
        OUT String &token, int minTtl = 60, bool mayInteract = false,
        const String &scope = "") {
        return Read(token, [&](char *out, size_t *size) {
            return mpin_session_get_access_token(
                m_session, out, size, OrNull(scope), minTtl, mayInteract);
        });
    }

    Status Renew() { return Of(mpin_session_renew(m_session)); }

    /** Has the provider revoke the tokens. If that fails, the session stays. */
    Status Revoke() { return Of(mpin_session_revoke(m_session)); }

    /** Ends the session here, and tells nobody. */
    Status Clear() { return Of(mpin_session_clear(m_session)); }

    /** The value of the header Authorization. rejected: the value that the API
     * has answered with 401: send the request once more with the new value. */
    Status Authorize(
        const String &url, OUT String &value, const String &rejected = "",
        bool mayInteract = false) {
        return Read(value, [&](char *out, size_t *size) {
            return mpin_session_authorize(
                m_session, out, size, url.c_str(), OrNull(rejected),
                mayInteract);
        });
    }

    /** An access token for a smaller app, which it cannot renew. */
    Status HandOver(
        const String &audience, const String &scope, OUT String &token) {
        return Read(token, [&](char *out, size_t *size) {
            return mpin_session_handover(
                m_session, out, size, OrNull(audience), OrNull(scope));
        });
    }

private:
    MPinSession(const MPinSession &);
    MPinSession &operator=(const MPinSession &);

    static const char *OrNull(const String &text) {
        return text.empty() ? NULL : text.c_str();
    }

    /* Reads a text of any size. It may grow between two calls. */
    template <typename Call>
    Status Read(OUT String &text, const Call &call) const {
        size_t size = 4096;
        mpin_status status;
        do {
            mpin_cxx::Room room(size);
            status = call(room.data(), &size);
            if (status == MPIN_OK) text = room.data();
        } while (status == MPIN_BUFFER_TOO_SMALL);
        return Of(status);
    }

    Status Of(mpin_status status) const {
        if (status == MPIN_OK) return Status();
        mpin_error error;
        error.size = sizeof error;
        const bool isTold =
            mpin_session_get_last_error(m_session, &error) == MPIN_OK &&
            error.status == status;
        return Status(
            static_cast<Status::Code>(status),
            isTold ? error.text : mpin_status_name(status));
    }

    static Status Of(mpin_sdk *sdk, mpin_status status) {
        mpin_error error;
        error.size = sizeof error;
        const bool isTold = mpin_sdk_get_last_error(sdk, &error) == MPIN_OK &&
                            error.status == status;
        return Status(
            static_cast<Status::Code>(status),
            isTold ? error.text : mpin_status_name(status));
    }

    /* ---- The callbacks, which must not throw into the library --------- */

    static const Callbacks &Functions(void *user) {
        return static_cast<MPinSession *>(user)->m_callbacks;
    }

    static mpin_status
    AskPin(void *user, const mpin_pin_request *request, char *out) {
        try {
            PinRequest asked;
            asked.provider = request->provider;
            asked.userId = request->user_id;
            asked.attemptsLeft = request->attempts_left;
            const String pin = Functions(user).askPin(asked);
            if (pin.empty() || pin.size() >= MPIN_PIN_BUFFER_SIZE)
                return MPIN_PIN_INPUT_CANCELED;
            std::memcpy(out, pin.c_str(), pin.size() + 1);
            return MPIN_OK;
        } catch (...) {
            return MPIN_PIN_INPUT_CANCELED;
        }
    }

    static mpin_status OpenBrowser(void *user, const char *url) {
        try {
            return Functions(user).openBrowser(url)
                       ? MPIN_OK
                       : MPIN_INTERACTION_NOT_ALLOWED;
        } catch (...) {
            return MPIN_INTERACTION_NOT_ALLOWED;
        }
    }

    static void ShowCode(void *user, const mpin_device_code *code) {
        try {
            DeviceCode shown;
            shown.userCode = code->user_code;
            shown.url = code->url;
            shown.completeUrl = code->complete_url;
            shown.expiresIn = code->expires_in;
            Functions(user).showCode(shown);
        } catch (...) {
        }
    }

    static void Tell(void *user, int32_t state, const char *provider) {
        try {
            Functions(user).onEvent(static_cast<State>(state), provider);
        } catch (...) {
        }
    }

    mpin_session *m_session;
    Callbacks m_callbacks;
};

#endif
