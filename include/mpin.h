/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_H
#define MPIN_H

/**
 * libmpin: the M-Pin client core.
 *
 * A user registers once with a server, then proves a PIN and the token stored
 * on this device in zero knowledge. The names follow the Milagro SDK core:
 * MPinSDK::StartRegistration(user) is mpin_sdk_start_registration(sdk, user).
 *
 * Rules of every function in this header:
 *
 * Arguments: handle first, then outputs, then inputs. A length follows its
 *   array. Strings are UTF-8 and end in NUL.
 *
 * Results: functions that can fail return a status, MPIN_OK (0) or one of the
 *   codes below. On failure no output is written, unless stated.
 *   mpin_status_name() names a status; mpin_sdk_last_error() says more. Error
 *   texts never carry a PIN, a token or any other secret.
 *
 * Text outputs: `char *out, size_t *out_len`, the caller's buffer. On entry
 *   *out_len is the buffer's size in bytes, on return the text's size with its
 *   NUL. A NULL `out` asks for the size only (MPIN_OK). A buffer that is too
 *   small gives MPIN_BUFFER_TOO_SMALL, sets *out_len and writes nothing else.
 *
 * Handles: mpin_sdk and mpin_user are opaque and never addresses. Each is
 *   released by its _free function; NULL may be freed. A stale, foreign or
 *   NULL handle gives MPIN_INVALID_HANDLE. A user handle that outlives its sdk
 *   is invalid, and is still to be freed.
 *
 * Threads: every function may be called from any thread. Calls on one sdk wait
 *   for each other, but for mpin_sdk_cancel and mpin_sdk_last_error, which
 *   never wait. mpin_sdk_free while a call is under way cancels it and waits.
 *
 * Time: a call that uses the network ends within config.timeout_ms with
 *   MPIN_TIMED_OUT at the latest, or with MPIN_CANCELED soon after
 *   mpin_sdk_cancel. It follows no redirects and speaks plain http only to
 *   loopback addresses, unless config.allow_insecure is set.
 *
 * Secrets: a PIN is read during the call only; wiping the caller's copy is the
 *   caller's part. Tokens lie on disk encrypted and in memory that is wiped.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(MPIN_NO_ATTRIBUTES) || !defined(__GNUC__)
#define MPIN_API
#define MPIN_CHECK
#else
#define MPIN_API __attribute__((visibility("default")))
#define MPIN_CHECK __attribute__((warn_unused_result))
#endif

/* ---- Version -------------------------------------------------------- */

#define MPIN_VERSION "0.1.0"

/** Grows by one whenever a program must be compiled anew. */
#define MPIN_ABI_VERSION 1

/** The library's version, equal to MPIN_VERSION of the header it was built
 * with. Never freed. */
MPIN_API const char *mpin_version(void);

/** The library's ABI version, to be compared with MPIN_ABI_VERSION. */
MPIN_API int32_t mpin_abi_version(void);

/* ---- Status --------------------------------------------------------- */

typedef int32_t mpin_status;

/* 0-21 have kept their numbers since the Milagro SDK core. */
#define MPIN_OK 0
/** The PIN is empty: the user gave up. */
#define MPIN_PIN_INPUT_CANCELED 1
/** A primitive refused its input, or the user has no token. */
#define MPIN_CRYPTO_ERROR 2
/** The store could not be read or written, or a record in it is damaged. */
#define MPIN_STORAGE_ERROR 3
/** No HTTP answer, or a redirect. */
#define MPIN_NETWORK_ERROR 4
/** The answer is not JSON or lacks a member. */
#define MPIN_RESPONSE_PARSE_ERROR 5
/** Wrong order, wrong state of the user, not initialised, no backend set. */
#define MPIN_FLOW_ERROR 6
/** The server does not want this identity (HTTP 403). */
#define MPIN_IDENTITY_NOT_AUTHORIZED 7
/** The identity is not confirmed yet, or its registration has ended. */
#define MPIN_IDENTITY_NOT_VERIFIED 8
/** The request came too late (HTTP 408). */
#define MPIN_REQUEST_EXPIRED 9
/** The identity is suspended: it gets no time permit (HTTP 410). */
#define MPIN_REVOKED 10
/** Wrong PIN. The user may be BLOCKED now: ask mpin_user_get_state(). */
#define MPIN_INCORRECT_PIN 11
#define MPIN_INCORRECT_ACCESS_NUMBER 12
/** Any other HTTP 5xx. */
#define MPIN_HTTP_SERVER_ERROR 13
/** Any other HTTP 4xx. */
#define MPIN_HTTP_REQUEST_ERROR 14
/** HTTP 406. */
#define MPIN_BAD_USER_AGENT 15
/** The master secret was changed: register again (HTTP 409). */
#define MPIN_CLIENT_SECRET_EXPIRED 16
#define MPIN_BAD_CLIENT_VERSION 17
/** Plain http to another host, or a URL that is neither http nor https. */
#define MPIN_UNTRUSTED_DOMAIN_ERROR 18
#define MPIN_REGISTRATION_EXPIRED 19
#define MPIN_OPERATION_NOT_ALLOWED 20
#define MPIN_VERIFICATION_FAILED 21

/** NULL, stale or foreign handle. */
#define MPIN_INVALID_HANDLE 32
/** NULL or malformed argument. */
#define MPIN_INVALID_ARGUMENT 33
/** The caller's buffer is too small; its length argument says the size. */
#define MPIN_BUFFER_TOO_SMALL 34
/** mpin_sdk_cancel() ended the call. */
#define MPIN_CANCELED 35
/** The deadline ended the call. */
#define MPIN_TIMED_OUT 36
/** The PIN is not 4 to 6 decimal digits. Nothing was sent. */
#define MPIN_PIN_INVALID 37
/** The store was written by a newer version. Nothing was changed. */
#define MPIN_UNSUPPORTED_FORMAT 38
/** The server asks to wait (HTTP 429). */
#define MPIN_TOO_MANY_REQUESTS 39
/** The random generator of the system failed. */
#define MPIN_RANDOM_FAILED 40

/** The name of a status without its prefix, such as "INCORRECT_PIN";
 * "UNKNOWN" for a number that is no status. Never freed. */
MPIN_API const char *mpin_status_name(mpin_status status);

/* ---- Life cycle ----------------------------------------------------- */

/** One client: settings, backend, users, store. */
typedef struct mpin_sdk mpin_sdk;

/** One identity: a user id at a backend. */
typedef struct mpin_user mpin_user;

/** What mpin_sdk_init() is told. Set all to zero, then `size`, then the rest:
 *
 *     mpin_config config = {0};
 *     config.size = sizeof config;
 */
typedef struct mpin_config {
    /** sizeof(mpin_config) as the caller was compiled. */
    size_t size;
    /** Path of the file that keeps users and tokens; created with mode 0600.
     * Required. */
    const char *storage_path;
    /** Path of the file that holds the store's key, 64 hex digits; created
     * with mode 0600. NULL: storage_path followed by ".key". */
    const char *storage_key_path;
    /** Base URL of the backend to set at once; NULL: none yet. */
    const char *backend;
    /** Prefix of the service under the base URL; NULL: "rps". */
    const char *rps_prefix;
    /** PEM file of the certificate authorities to trust; NULL: the system's. */
    const char *ca_file;
    /** Milliseconds that one call may take; 0: 30000. */
    uint32_t timeout_ms;
    /** 1 allows plain http to any host. For tests. */
    uint32_t allow_insecure;
} mpin_config;

/** Makes an sdk that knows nothing yet.
 *
 * Returns: MPIN_OK, MPIN_INVALID_ARGUMENT.
 * Out: sdk: the new handle, released by mpin_sdk_free().
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_new(mpin_sdk **sdk);

/** Releases an sdk; wipes what it holds. What is stored stays stored. */
MPIN_API void mpin_sdk_free(mpin_sdk *sdk);

/** Opens the store, loads its users, and sets the backend if one is given.
 * On an sdk that is initialised it does nothing and returns MPIN_OK.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT,
 *   MPIN_STORAGE_ERROR, MPIN_UNSUPPORTED_FORMAT, and with a backend what
 *   mpin_sdk_set_backend() returns; after a failure the sdk is as new.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_init(mpin_sdk *sdk, const mpin_config *config);

/** Undoes mpin_sdk_init(): forgets users, settings and backend in memory. */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_destroy(mpin_sdk *sdk);

/** Forgets the users in memory; the store keeps them. */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_clear_users(mpin_sdk *sdk);

/** Ends the call that is under way on this sdk, from any thread: it returns
 * MPIN_CANCELED. Without one nothing happens. */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_cancel(mpin_sdk *sdk);

/** What went wrong in the last call on this sdk that failed in this thread;
 * empty if none has. With the HTTP status and the server's own words, if any.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT,
 *   MPIN_BUFFER_TOO_SMALL.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_last_error(mpin_sdk *sdk, char *out, size_t *out_len);

/** Checks the arithmetic against known answers: a registration, a login with
 * the right PIN and one with a wrong PIN, all without network or storage.
 *
 * Returns: MPIN_OK, MPIN_CRYPTO_ERROR.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_self_test(void);

/* ---- Backend -------------------------------------------------------- */

/** Asks a backend for its client settings and keeps nothing.
 *
 * In: url: base URL; rps_prefix: NULL for the configured one.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_NETWORK_ERROR,
 *   MPIN_RESPONSE_PARSE_ERROR, MPIN_UNTRUSTED_DOMAIN_ERROR,
 *   MPIN_HTTP_REQUEST_ERROR, MPIN_HTTP_SERVER_ERROR, MPIN_BAD_USER_AGENT,
 *   MPIN_TIMED_OUT, MPIN_CANCELED, MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_test_backend(
    mpin_sdk *sdk, const char *url, const char *rps_prefix);

/** Asks a backend for its client settings and uses it from now on. On failure
 * the former backend stays. Parameters and results: mpin_sdk_test_backend(). */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_set_backend(
    mpin_sdk *sdk, const char *url, const char *rps_prefix);

/** One member of the backend's client settings as text: strings as they are,
 * others as JSON, none as an empty text.
 *
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (no backend), MPIN_BUFFER_TOO_SMALL,
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_client_param(
    mpin_sdk *sdk, char *out, size_t *out_len, const char *key);

/* ---- Users ---------------------------------------------------------- */

#define MPIN_USER_INVALID 0
#define MPIN_USER_STARTED_VERIFICATION 1
#define MPIN_USER_STARTED_REGISTRATION 2
#define MPIN_USER_ACTIVATED 3
#define MPIN_USER_REGISTERED 4
#define MPIN_USER_BLOCKED 5

/** Makes a user of the current backend, in state INVALID. Nothing is stored
 * or sent. For an id that is known here, the known user.
 *
 * Out: user: a handle, released by mpin_user_free().
 * In: id: not empty; device_name: may be NULL.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (no backend), MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_make_new_user(
    mpin_sdk *sdk, mpin_user **user, const char *id, const char *device_name);

/** The user of that id at the current backend.
 *
 * Out: user: a handle, released by mpin_user_free(); NULL if there is none.
 * Returns: MPIN_OK (also if there is none), MPIN_FLOW_ERROR,
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_get_user(mpin_sdk *sdk, mpin_user **user, const char *id);

/** The users of the current backend, or of all backends, sorted by id. A user
 * that was made and never started is not among them.
 *
 * Out: users: handles, each released by mpin_user_free(); NULL asks for the
 *   number. count: on entry the room in `users`, on return the number of users.
 * Returns: MPIN_OK, MPIN_BUFFER_TOO_SMALL (count is set, no handle made),
 *   MPIN_FLOW_ERROR, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_list_users(mpin_sdk *sdk, mpin_user **users, size_t *count);
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_list_all_users(mpin_sdk *sdk, mpin_user **users, size_t *count);

/** Erases a user with its token here, in memory and in the store. The server
 * is not told. The user becomes INVALID.
 *
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_STORAGE_ERROR,
 *   MPIN_INVALID_HANDLE.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_delete_user(mpin_sdk *sdk, mpin_user *user);

/** Releases a handle. The user itself stays. */
MPIN_API void mpin_user_free(mpin_user *user);

/* Getters. Returns: MPIN_OK, MPIN_BUFFER_TOO_SMALL, MPIN_INVALID_HANDLE,
 * MPIN_INVALID_ARGUMENT. */

/** The user id. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_id(mpin_user *user, char *out, size_t *out_len);

/** The base URL of the backend. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_backend(mpin_user *user, char *out, size_t *out_len);

/** The M-Pin ID in hex; empty before the registration has started. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_mpin_id(mpin_user *user, char *out, size_t *out_len);

/** One of MPIN_USER_*. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_state(mpin_user *user, int32_t *state);

/* ---- Registration --------------------------------------------------- */

/* The functions of this and the next part also return, where they talk to a
 * server: MPIN_NETWORK_ERROR, MPIN_RESPONSE_PARSE_ERROR,
 * MPIN_UNTRUSTED_DOMAIN_ERROR, MPIN_HTTP_REQUEST_ERROR,
 * MPIN_HTTP_SERVER_ERROR, MPIN_BAD_USER_AGENT, MPIN_TOO_MANY_REQUESTS,
 * MPIN_TIMED_OUT, MPIN_CANCELED; and always MPIN_FLOW_ERROR for another state
 * than the one named, MPIN_STORAGE_ERROR, MPIN_INVALID_HANDLE,
 * MPIN_INVALID_ARGUMENT. A failure leaves the state of the user as it was,
 * unless stated. */

/** Asks the server for a registration; it then mails the user a link.
 * State: INVALID -> STARTED_REGISTRATION, or ACTIVATED if the server asks for
 * no confirmation.
 *
 * In: activate_code, user_data: may be NULL.
 * Returns also: MPIN_IDENTITY_NOT_AUTHORIZED.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_start_registration(
    mpin_sdk *sdk, mpin_user *user, const char *activate_code,
    const char *user_data);

/** Asks for the mail again, for the same registration.
 * State: STARTED_REGISTRATION -> STARTED_REGISTRATION or ACTIVATED.
 *
 * In: user_data: may be NULL.
 * Returns also: MPIN_IDENTITY_NOT_AUTHORIZED.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_restart_registration(
    mpin_sdk *sdk, mpin_user *user, const char *user_data);

/** Fetches the two client secret shares; to be called, again if need be, once
 * the user has opened the link. They are kept in memory for
 * mpin_sdk_finish_registration().
 * State: STARTED_REGISTRATION or ACTIVATED, unchanged.
 *
 * In: push_id: device identifier for push messages, may be NULL.
 * Returns also: MPIN_IDENTITY_NOT_VERIFIED (not yet, or the registration has
 *   ended), MPIN_REQUEST_EXPIRED, MPIN_CRYPTO_ERROR.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_confirm_registration(
    mpin_sdk *sdk, mpin_user *user, const char *push_id);

/** Makes the token from the client secret and the PIN, and stores it. Sends
 * nothing. State: STARTED_REGISTRATION or ACTIVATED -> REGISTERED.
 *
 * In: pin: 4 to 6 decimal digits; an empty one means that the user gave up.
 * Returns also: MPIN_PIN_INPUT_CANCELED, MPIN_PIN_INVALID, MPIN_CRYPTO_ERROR;
 *   MPIN_FLOW_ERROR if the shares are not there.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_registration(
    mpin_sdk *sdk, mpin_user *user, const char *pin);

/* ---- Authentication ------------------------------------------------- */

/** Fetches today's time permit, if the backend uses them.
 * State: REGISTERED, unchanged.
 *
 * Returns also: MPIN_REVOKED, MPIN_CRYPTO_ERROR.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_start_authentication(mpin_sdk *sdk, mpin_user *user);

/** Proves PIN and token to the server. State: REGISTERED; BLOCKED, with the
 * token erased, when the server says that the last attempt is used up (the
 * result is then MPIN_INCORRECT_PIN, too).
 *
 * Out: auth_data: the answer of the application, JSON text; auth_data_len:
 *   its size. Both may be NULL. If the buffer is too small the login has
 *   succeeded all the same: MPIN_BUFFER_TOO_SMALL, and
 *   mpin_sdk_get_auth_data() reads the answer again.
 * In: pin: as in mpin_sdk_finish_registration().
 * Returns also: MPIN_INCORRECT_PIN, MPIN_PIN_INPUT_CANCELED, MPIN_PIN_INVALID,
 *   MPIN_IDENTITY_NOT_AUTHORIZED, MPIN_REQUEST_EXPIRED,
 *   MPIN_CLIENT_SECRET_EXPIRED, MPIN_CRYPTO_ERROR; MPIN_FLOW_ERROR if
 *   mpin_sdk_start_authentication() has not been called for this user.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_authentication(
    mpin_sdk *sdk, mpin_user *user, char *auth_data, size_t *auth_data_len,
    const char *pin);

/** The answer of the application to the last login of this user; empty before
 * one.
 *
 * Returns: MPIN_OK, MPIN_BUFFER_TOO_SMALL, MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_auth_data(
    mpin_sdk *sdk, mpin_user *user, char *out, size_t *out_len);

#ifdef __cplusplus
}
#endif

#endif
