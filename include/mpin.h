/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_H
#define MPIN_H

/**
 * libmpin: the M-Pin client core.
 *
 * A user registers once with a server. At each login, the user then proves a
 * PIN and the token stored on this device in zero knowledge. The names follow
 * the Milagro SDK core: MPinSDK::StartRegistration(user) is
 * mpin_sdk_start_registration(sdk, user).
 *
 * Rules of every function in this header:
 *
 * Arguments: the handle comes first, then outputs, then inputs. A length
 *   follows its array. Strings are UTF-8 and end in NUL.
 *
 * Results: functions that can fail return a status, MPIN_OK (0) or one of the
 *   codes below. On failure no output is written, unless stated.
 *   mpin_status_name() names a status; mpin_sdk_last_error() says more. Error
 *   texts never contain a PIN, a token or any other secret. The compiler warns
 *   if a result is ignored, except for functions such as mpin_sdk_cancel(),
 *   after whose failure there is nothing to do. In addition to the codes that
 *   its comment lists, a function that takes an sdk or a user may return
 *   MPIN_FLOW_ERROR before mpin_sdk_init() and inside a callback;
 *   MPIN_FORKED in a child process (see "Processes");
 *   MPIN_TIMED_OUT if another call on the sdk used up its time; MPIN_CANCELED
 *   if the sdk is freed meanwhile, or if the call is cancelled while it waits
 *   for another process; MPIN_STORAGE_ERROR or MPIN_UNSUPPORTED_FORMAT if
 *   another process has changed the store so that it cannot be read; and
 *   MPIN_RANDOM_FAILED.
 *
 * Structures: each begins with `size_t size`, its size in the header that the
 *   caller was compiled with. Set structures of inputs to zero first, then fill
 *   them. In structures of outputs, set only `size`. Texts in them are UTF-8
 *   and end in NUL. If a text from the server is too long for its member, it is
 *   not cut, but the call ends with MPIN_RESPONSE_PARSE_ERROR.
 *
 * Text outputs: `char *out, size_t *out_len` is the caller's buffer. On entry
 *   *out_len is the size of the buffer in bytes, on return the size of the text
 *   with its NUL. If `out` is NULL, only the size is returned (MPIN_OK). A
 *   buffer that is too small gives MPIN_BUFFER_TOO_SMALL, sets *out_len and
 *   writes nothing else.
 *
 * Handles: mpin_sdk and mpin_user are opaque and never addresses. Each is
 *   released by its _free function; NULL may be freed. A handle that is NULL,
 *   was freed, or is of another kind gives MPIN_INVALID_HANDLE. If an sdk is
 *   freed before its users, their handles become invalid, but must still be
 *   freed.
 *
 * Threads: every function may be called from any thread. Calls on one sdk wait
 *   for each other. The exceptions, which never wait, are mpin_sdk_cancel, the
 *   functions for the last error and the getters of a user. mpin_sdk_free
 *   cancels a running call and waits for it.
 *
 * Processes: a child that fork() makes can use the handles of its parent, as
 *   copies, if no call of any thread was under way at the fork. Otherwise, and
 *   if a callback has called fork(), they are lost to the child: what the call
 *   held stays held there for ever. Then each function that takes one of them
 *   returns MPIN_FORKED, and each _free function returns at once and leaves the
 *   memory as it is. The child may make an sdk of its own; but as POSIX says
 *   of every library, it is safer to call exec soon. Parent and child never
 *   share a connection. A child of vfork() or _Fork() must not call this
 *   library.
 *
 * Callbacks: they run in the thread that called the library. A callback that
 *   calls the same sdk gets MPIN_FLOW_ERROR. A callback must not end with
 *   longjmp or an exception.
 *
 * Time: a call that uses the network ends with MPIN_TIMED_OUT within
 *   config.timeout_ms at the latest, or with MPIN_CANCELED soon after
 *   mpin_sdk_cancel.
 *
 * Network: redirects are not followed. Plain http is allowed only to loopback
 *   addresses, unless config.allow_insecure is set. URLs that the backend sends
 *   may lead to the Internet and to the kind of network (loopback, private,
 *   link-local) in which mpin_sdk_set_backend found the backend. A URL that
 *   leads elsewhere gives MPIN_UNTRUSTED_DOMAIN_ERROR.
 *
 * Secrets: a PIN is read during the call only; the caller must wipe its own
 *   copy. Tokens are encrypted on disk, and wiped in memory after use.
 *
 * Sources: "wire section 6.2" refers to the Milagro wire protocol, version 0.3
 *   (docs/milagro-wire.md in the sources), "TRUST wire section 4.4" to the wire
 *   protocol of the MIRACL platform (docs/trust-wire.md). A function without a
 *   source is this library's own.
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

#define MPIN_VERSION "1.0.0"

/** Incremented whenever programs must be compiled again. */
#define MPIN_ABI_VERSION 1

/** The version of the library, equal to MPIN_VERSION of the header that it was
 * built with. Do not free the text. */
MPIN_API const char *mpin_version(void);

/** The ABI version of the library, to compare with MPIN_ABI_VERSION. */
MPIN_API int32_t mpin_abi_version(void);

/* ---- Status --------------------------------------------------------- */

typedef int32_t mpin_status;

/* The codes 0 to 21 have the numbers of the Milagro SDK core. Wire section 13
 * lists the code for each HTTP status. */
#define MPIN_OK 0
/** The PIN is empty: the user cancelled. */
#define MPIN_PIN_INPUT_CANCELED 1
/** A cryptographic operation refused its input, or the user has no token. */
#define MPIN_CRYPTO_ERROR 2
/** The store could not be read or written, or a record in it is damaged. */
#define MPIN_STORAGE_ERROR 3
/** There was no HTTP answer, or it was a redirect. */
#define MPIN_NETWORK_ERROR 4
/** The answer is not JSON or lacks a member. */
#define MPIN_RESPONSE_PARSE_ERROR 5
/** The call came in the wrong order, the user is in the wrong state, the sdk is
 * not initialised, or no backend is set. */
#define MPIN_FLOW_ERROR 6
/** The server does not accept this identity (HTTP 403). */
#define MPIN_IDENTITY_NOT_AUTHORIZED 7
/** The identity is not confirmed yet, or its registration has ended. */
#define MPIN_IDENTITY_NOT_VERIFIED 8
/** The request came too late (HTTP 408). */
#define MPIN_REQUEST_EXPIRED 9
/** The identity is suspended: it gets no time permit (HTTP 410). At a MIRACL
 * Trust project: the server no longer accepts the identity, and its state is
 * REVOKED. */
#define MPIN_REVOKED 10
/** The PIN is wrong. The user may be BLOCKED now: ask mpin_user_get_state().
 * The token is kept. Once the operator has unblocked the user, logins work
 * again. */
#define MPIN_INCORRECT_PIN 11
/** The check digit of the access number is wrong (nothing was sent), or no
 * browser session has this number (HTTP 412). */
#define MPIN_INCORRECT_ACCESS_NUMBER 12
/** An HTTP status 5xx for which there is no other code. */
#define MPIN_HTTP_SERVER_ERROR 13
/** An HTTP status 4xx for which there is no other code. */
#define MPIN_HTTP_REQUEST_ERROR 14
/** The server refuses this client's User-Agent (HTTP 406). */
#define MPIN_BAD_USER_AGENT 15
/** The master secret was changed, or the server has lost the registration with
 * its database. The user must register again (HTTP 409). */
#define MPIN_CLIENT_SECRET_EXPIRED 16
/** The service does not support this client's version (HTTP 412). */
#define MPIN_BAD_CLIENT_VERSION 17
/** The URL is plain http to a host other than this machine, or neither http nor
 * https; or its host is not in the list of trusted domains, or is in a network
 * where requests may not go (see "Network" above). Nothing was sent. */
#define MPIN_UNTRUSTED_DOMAIN_ERROR 18
/** The server no longer knows the registration or its code (HTTP 404). */
#define MPIN_REGISTRATION_EXPIRED 19
/** The identity was made from a registration code and asks for another one,
 * which is not allowed. */
#define MPIN_OPERATION_NOT_ALLOWED 20
/** The server refused to verify the user id. */
#define MPIN_VERIFICATION_FAILED 21

/** The handle is NULL, was freed, or is of another kind. */
#define MPIN_INVALID_HANDLE 32
/** An argument is NULL or malformed. */
#define MPIN_INVALID_ARGUMENT 33
/** The caller's buffer is too small; the length argument has the right size. */
#define MPIN_BUFFER_TOO_SMALL 34
/** The call was ended by mpin_sdk_cancel(). */
#define MPIN_CANCELED 35
/** The call took longer than its time limit. */
#define MPIN_TIMED_OUT 36
/** The PIN is not 4 to 6 decimal digits. Nothing was sent. */
#define MPIN_PIN_INVALID 37
/** The store was written by a newer version. Nothing was changed. */
#define MPIN_UNSUPPORTED_FORMAT 38
/** The server asks to wait (HTTP 429); mpin_error.retry_after says how long. */
#define MPIN_TOO_MANY_REQUESTS 39
/** The random generator of the system failed. */
#define MPIN_RANDOM_FAILED 40
/** The server sends this user another mail only later; retry_at of
 * mpin_trust_error says when. */
#define MPIN_REQUEST_BACKOFF 41
/** The activation token or QuickCode is wrong, used or expired. */
#define MPIN_ACTIVATION_TOKEN_INVALID 42
/** The answer, the link or the message belongs to another project than the
 * current one. */
#define MPIN_PROJECT_MISMATCH 43
/** The server asks for another curve than BN254CX. */
#define MPIN_UNSUPPORTED_CURVE 44
/** The browser's session is unknown or has ended. */
#define MPIN_SESSION_INVALID 45
/** This device has no user of that id. Nothing was sent. */
#define MPIN_USER_NOT_FOUND 46

/* Of sessions of apps. */
/** Nobody is logged in, or the session was cleared. */
#define MPIN_NO_CREDENTIALS 64
/** The access token has expired, and there is no refresh token. */
#define MPIN_NO_REFRESH_TOKEN 65
/** The provider refuses to renew for a reason that is not the user's, such as
 * an unknown client. The session stays. */
#define MPIN_RENEW_FAILED 66
/** The provider refuses to exchange the access token. */
#define MPIN_EXCHANGE_FAILED 67
/** The provider did not revoke the tokens. The session stays. */
#define MPIN_REVOKE_FAILED 68
/** A renewed access token is not valid for as long as the caller wants. */
#define MPIN_LARGE_MIN_TTL 69
/** The provider has ended the session: the user must log in. */
#define MPIN_LOGIN_REQUIRED 70
/** The login needs a callback that the session does not have, or the callback
 * has failed. */
#define MPIN_INTERACTION_NOT_ALLOWED 71
/** No provider with this name was added. */
#define MPIN_PROVIDER_UNKNOWN 72
/** The provider or the user has refused the login. */
#define MPIN_LOGIN_REFUSED 73
/** The ID token is malformed, or not for this login, client, user or time. */
#define MPIN_TOKEN_INVALID 74

/* Of every function. */
/** The handle was made by a parent process, in which a call was under way when
 * it called fork(): see "Processes" above. */
#define MPIN_FORKED 75

/** The name of a status without its prefix, such as "INCORRECT_PIN"; "UNKNOWN"
 * for any other number. Do not free the text. */
MPIN_API const char *mpin_status_name(mpin_status status);

/* ---- Context: what the program supplies itself ---------------------- */

/* A program may supply the callbacks below. If one is NULL, the built-in
 * function takes its place: libcurl, an encrypted file, no log, the system's
 * clock, the system's random generator. The argument `user` of each callback is
 * the member `user` of the context. The first request loads libcurl.so.4. If
 * libcurl is not installed and http_execute is NULL, requests end with
 * MPIN_NETWORK_ERROR. */

/** A request for http_execute to send. Valid during the callback only. */
typedef struct mpin_http_request {
    size_t size;
    /** "GET", "POST" or "PUT". */
    const char *method;
    /** Absolute URL. Its query may contain a one-time token: do not log it. */
    const char *url;
    /** The names and values of the headers alternately; NULL follows the last
     * value. */
    const char *const *headers;
    /** The body, `body_len` bytes. A GET has no body. */
    const uint8_t *body;
    size_t body_len;
    /** The remaining time in milliseconds; always above 0. */
    uint32_t timeout_ms;
} mpin_http_request;

/** The answer, to be filled by http_execute. Valid during the callback only. */
typedef struct mpin_http_response mpin_http_response;

/** Sets the HTTP status, 100 to 599. An answer without a status counts as
 * MPIN_NETWORK_ERROR.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_http_response_set_status(mpin_http_response *response, int32_t status);

/** Adds a header of the answer, as two texts.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_http_response_add_header(
    mpin_http_response *response, const char *name, const char *value);

/** Appends `bytes_len` bytes to the body.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT;
 *   MPIN_BUFFER_TOO_SMALL beyond 1 MiB: the call then fails with
 *   MPIN_RESPONSE_PARSE_ERROR.
 */
MPIN_API MPIN_CHECK mpin_status mpin_http_response_append_body(
    mpin_http_response *response, const uint8_t *bytes, size_t bytes_len);

/** Tells http_execute whether it should end, because mpin_sdk_cancel() or
 * mpin_sdk_free() was called.
 *
 * Out: canceled: 1 or 0.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_http_response_is_canceled(
    mpin_http_response *response, int32_t *canceled);

/** Tells http_execute whether the request may go to an address. Without this
 * check, a bad backend could make its clients contact addresses that only the
 * clients can reach. Call this function before each connection, with each
 * address that the host name resolves to, but not with the address of a proxy.
 * The last address that was allowed counts as the address of the server.
 *
 * In: address: in the format of inet_ntop(): "192.0.2.1", "2001:db8::1".
 * Out: may_connect: 1 or 0.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_http_response_may_connect(
    mpin_http_response *response, const char *address, int32_t *may_connect);

/** The data that storage_get fills by mpin_storage_data_append(). Valid during
 * the callback only. */
typedef struct mpin_storage_data mpin_storage_data;

/** Appends `bytes_len` bytes to the data.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT;
 *   MPIN_BUFFER_TOO_SMALL beyond 64 MiB.
 */
MPIN_API MPIN_CHECK mpin_status mpin_storage_data_append(
    mpin_storage_data *data, const uint8_t *bytes, size_t bytes_len);

/** The part of the store with users and tokens, encrypted and authenticated. It
 * grows with each user. */
#define MPIN_STORAGE_USERS 0
/** The key of MPIN_STORAGE_USERS: 64 hex digits, written once. Keep it in the
 * keychain of the device. It is not used if mpin_config names a passphrase or a
 * key file, or mpin_context a key. */
#define MPIN_STORAGE_SECURE 1

#define MPIN_LOG_DEBUG 1
#define MPIN_LOG_INFO 2
#define MPIN_LOG_WARNING 3
#define MPIN_LOG_ERROR 4

typedef struct mpin_context {
    size_t size;
    /** A value of the program's own. Every callback gets it as its argument
     * `user`. */
    void *user;
    /** Sends a request and fills the answer. It must not follow redirects, must
     * end within timeout_ms, and should call mpin_http_response_is_canceled()
     * now and then.
     *
     * Before it connects, it should call mpin_http_response_may_connect() with
     * each address that the host name resolves to. If it does not, the library
     * can only check hosts that are written as an address or as localhost: such
     * a host is refused if its kind of network is not that of the backend.
     *
     * Returns: MPIN_OK for an answer with any HTTP status, else
     *   MPIN_NETWORK_ERROR, MPIN_TIMED_OUT or MPIN_CANCELED. Any other value
     *   counts as MPIN_NETWORK_ERROR.
     */
    mpin_status (*http_execute)(
        void *user, const mpin_http_request *request,
        mpin_http_response *response);
    /** Appends what is stored under `kind`, MPIN_STORAGE_*, to `data`. If
     * nothing is stored, it appends nothing, and the store begins empty. If
     * this callback is set, storage_set must be set as well.
     *
     * Returns: MPIN_OK; any other value counts as MPIN_STORAGE_ERROR.
     */
    mpin_status (*storage_get)(
        void *user, mpin_storage_data *data, int32_t kind);
    /** Stores `bytes` under `kind` and replaces what was there, completely or
     * not at all. Only one sdk at a time may use this storage. Damaged records
     * are dropped with the next save.
     *
     * Returns: MPIN_OK; any other value counts as MPIN_STORAGE_ERROR.
     */
    mpin_status (*storage_set)(
        void *user, int32_t kind, const uint8_t *bytes, size_t bytes_len);
    /** Supplies the key of the store, 32 bytes, each time the store is opened.
     *
     * Returns: MPIN_OK; any other value counts as MPIN_STORAGE_ERROR.
     */
    mpin_status (*storage_key)(void *user, uint8_t key[32]);
    /** Receives one line for a log, without secrets; `level` is MPIN_LOG_*. */
    void (*log)(void *user, int32_t level, const char *text);
    /** Writes the time in milliseconds since 1970-01-01 UTC.
     *
     * Returns: MPIN_OK; any other value counts as MPIN_FLOW_ERROR.
     */
    mpin_status (*now)(void *user, int64_t *milliseconds);
    /** Fills `out` with random bytes that are good enough for keys.
     *
     * Returns: MPIN_OK; any other value counts as MPIN_RANDOM_FAILED.
     */
    mpin_status (*random)(void *user, uint8_t *out, size_t out_len);
} mpin_context;

/* ---- Life cycle ----------------------------------------------------- */

/** A client, with its settings, backend, users and store. */
typedef struct mpin_sdk mpin_sdk;

/** An identity: a user id at a backend and, if the server has several, at a
 * customer and an application. */
typedef struct mpin_user mpin_user;

/** The configuration for mpin_sdk_init(). Set the whole structure to zero, then
 * `size`, then the members that you need:
 *
 *     mpin_config config = {0};
 *     config.size = sizeof config;
 */
typedef struct mpin_config {
    /** The size of mpin_config in the header that the caller was compiled with.
     */
    size_t size;
    /** Path of the file for users and tokens; created with mode 0600. Required
     * unless the context has storage callbacks. */
    const char *storage_path;
    /** Path of the file for the store's key, 64 hex digits; created with mode
     * 0600. NULL: storage_path followed by ".key". */
    const char *storage_key_path;
    /** Base URL of the backend to set in mpin_sdk_init(); NULL: none yet. */
    const char *backend;
    /** Prefix of the service's paths under the base URL; NULL: "rps". */
    const char *rps_prefix;
    /** PEM file of the certificate authorities to trust; NULL: the system's. */
    const char *ca_file;
    /** Time limit of one call in milliseconds; 0: 30000. A call may take half a
     * second longer if another process delays the saving of what a server has
     * done. */
    uint32_t timeout_ms;
    /** 1 allows plain http to any host. Use it in tests only. */
    uint32_t allow_insecure;
    /** Passphrase to derive the store's key from (Argon2id), instead of a key
     * file; NULL: none. It is read during mpin_sdk_init() only. A store has one
     * key: naming two of key file, passphrase and mpin_context.storage_key is
     * MPIN_INVALID_ARGUMENT. */
    const char *storage_passphrase;
    /** Proxy, http://host:port, of all requests that leave this machine; NULL:
     * the proxy that the environment names (https_proxy, no_proxy). The proxy
     * resolves host names. So with a proxy, the library can check the kind of
     * network only for hosts that are written as addresses (SECURITY.md, "A bad
     * backend"). */
    const char *proxy;
    /** Public keys that the backend's certificate may have:
     * "sha256//BASE64;sha256//BASE64" of the SubjectPublicKeyInfo; NULL: any
     * key that a trusted authority certifies. */
    const char *pinned_keys;
    /** The client id, as in mpin_sdk_set_client_id(); NULL: none. */
    const char *client_id;
    /** The program's own callbacks, which are copied; NULL: none. */
    const mpin_context *context;
} mpin_config;

/** Makes an sdk that is not initialised.
 *
 * Returns: MPIN_OK, MPIN_INVALID_ARGUMENT.
 * Out: sdk: the new handle, released by mpin_sdk_free().
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_new(mpin_sdk **sdk);

/** Releases an sdk and wipes its memory. Stored data stays. A handle that is
 * NULL, was freed, or is of another kind is ignored. */
MPIN_API void mpin_sdk_free(mpin_sdk *sdk);

/** Opens the store and loads its users. If config.backend is not NULL, then
 * sets this backend, as mpin_sdk_set_backend() does.
 * If the sdk is initialised already, does nothing and returns MPIN_OK.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT,
 *   MPIN_STORAGE_ERROR, MPIN_UNSUPPORTED_FORMAT, and with a backend what
 *   mpin_sdk_set_backend() returns. After a failure the sdk is as before.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_init(mpin_sdk *sdk, const mpin_config *config);

/** Undoes mpin_sdk_init(): removes users, settings, backend, headers and
 * trusted domains from memory. Stored data stays.
 *
 * Returns: MPIN_OK, even if the sdk was not initialised; MPIN_INVALID_HANDLE.
 */
MPIN_API mpin_status mpin_sdk_destroy(mpin_sdk *sdk);

/** Removes the users from memory. They stay in the store, and mpin_sdk_init()
 * loads them again, after mpin_sdk_destroy() or in another sdk.
 *
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_INVALID_HANDLE.
 */
MPIN_API mpin_status mpin_sdk_clear_users(mpin_sdk *sdk);

/** Ends the running call on this sdk, which returns MPIN_CANCELED. It may be
 * called from any thread. If no call is running, nothing happens. Calls that
 * wait for their turn are not ended.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE.
 */
MPIN_API mpin_status mpin_sdk_cancel(mpin_sdk *sdk);

/** A description of the last call on this sdk that failed in this thread, with
 * the HTTP status and the server's error text if there are any. It is empty if
 * no call has failed.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT,
 *   MPIN_BUFFER_TOO_SMALL.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_last_error(mpin_sdk *sdk, char *out, size_t *out_len);

/** The parts of the error that mpin_sdk_last_error() describes. */
typedef struct mpin_error {
    size_t size;
    /** MPIN_OK if no call has failed. */
    mpin_status status;
    /** HTTP status of the answer; 0: there was no answer. */
    int32_t http_status;
    /** How many seconds the server asks to wait (Retry-After); 0: it does not
     * ask. */
    int64_t retry_after;
    /** The text of mpin_sdk_last_error(), cut if it is too long. */
    char text[512];
    /** The server's error text, cut if it is too long; may be empty. */
    char server_error[256];
    /** The server's id of the request (X-Request-Id); may be empty. */
    char request_id[128];
} mpin_error;

/** Reads the parts of the last error.
 *
 * Out: error: the parts of the error of the last call on this sdk that failed
 *   in this thread.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_get_last_error(mpin_sdk *sdk, mpin_error *error);

/** Reads how many attempts are left.
 *
 * Out: attempts_left: after MPIN_INCORRECT_PIN in this thread, how many more
 *   wrong PINs the server accepts before it blocks the user; -1 if the server
 *   does not say, or if the last failed call failed for another reason.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_get_attempts_left(mpin_sdk *sdk, int32_t *attempts_left);

/** Reads the number of damaged records that were found when the store was last
 * read. The other records are usable. Before the next change of the store, the
 * damaged file is kept as `<storage_path>.damaged-N`; after the change the
 * number is 0. If the program has its own storage (storage_set of
 * mpin_context), no such copy is kept.
 *
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_damaged_records(mpin_sdk *sdk, size_t *count);

/** Checks the arithmetic against known answers: a registration, a login with
 * the right PIN and one with a wrong PIN. It needs neither network nor storage.
 *
 * Returns: MPIN_OK, MPIN_CRYPTO_ERROR.
 * Source: the test vector of wire section 16.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_self_test(void);

/* ---- Backend -------------------------------------------------------- */

/** Checks that a backend answers with usable client settings. The current
 * backend stays in use.
 *
 * In: url: base URL; rps_prefix: NULL for the prefix in the configuration.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_NETWORK_ERROR,
 *   MPIN_RESPONSE_PARSE_ERROR, MPIN_UNTRUSTED_DOMAIN_ERROR,
 *   MPIN_HTTP_REQUEST_ERROR, MPIN_HTTP_SERVER_ERROR, MPIN_BAD_USER_AGENT,
 *   MPIN_TOO_MANY_REQUESTS, MPIN_TIMED_OUT, MPIN_CANCELED, MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 * Source: wire section 6.1.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_test_backend(
    mpin_sdk *sdk, const char *url, const char *rps_prefix);

/** Requests the client settings of a backend and uses it from now on. On
 * failure the previous backend stays in use. Parameters and results are those
 * of mpin_sdk_test_backend(). */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_set_backend(
    mpin_sdk *sdk, const char *url, const char *rps_prefix);

/** Reads one member of the backend's client settings as text. A string that
 * begins with "/" is returned as a URL of the backend, one that begins with
 * "ws" as the HTTP URL of the same place, any other string as it is, any other
 * value as JSON. A missing member gives an empty text.
 *
 * In: key: the name of the member, such as "appID" (wire section 6.1).
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (no backend), MPIN_BUFFER_TOO_SMALL,
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_client_param(
    mpin_sdk *sdk, char *out, size_t *out_len, const char *key);

/** Sets the client id, which is sent in the headers X-MIRACL-CID and
 * X-MIRACL-Client-ID of every request. NULL or an empty text removes it.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_set_client_id(mpin_sdk *sdk, const char *client_id);

/** Adds a header to every request. It replaces a header of the same name.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE; MPIN_INVALID_ARGUMENT if the name is
 *   not a token or the value has control characters, and for Host,
 *   Content-Length, Content-Type, Transfer-Encoding, Connection and Expect.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_add_custom_header(
    mpin_sdk *sdk, const char *name, const char *value);

/** Removes the added headers. The client id stays.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE.
 */
MPIN_API mpin_status mpin_sdk_clear_custom_headers(mpin_sdk *sdk);

/** Adds a domain to the list of trusted domains. If the list is not empty,
 * requests must use https, and their host must equal a trusted domain or be a
 * subdomain of one: "miracl.com" allows "api.miracl.com" but not
 * "evilmiracl.com". If the list is empty, every host is allowed.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT (not a host
 *   name).
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_add_trusted_domain(mpin_sdk *sdk, const char *domain);

/** Empties the list of trusted domains, so that every host is allowed.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE.
 */
MPIN_API mpin_status mpin_sdk_clear_trusted_domains(mpin_sdk *sdk);

/** A service that a web page offers to clients. */
typedef struct mpin_service_details {
    size_t size;
    char name[256];
    /** The base URL for mpin_sdk_set_backend(). */
    char backend_url[1024];
    char rps_prefix[64];
    char logo_url[1024];
} mpin_service_details;

/** Asks the website at `url` for the service that it offers (GET url/service).
 *
 * Out: details: the service's texts. The server may leave some of them empty.
 * Returns: as mpin_sdk_test_backend(), and MPIN_BAD_CLIENT_VERSION (HTTP 412).
 * Source: wire section 6.15.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_service_details(
    mpin_sdk *sdk, mpin_service_details *details, const char *url);

/* ---- Users ---------------------------------------------------------- */

#define MPIN_USER_INVALID 0
#define MPIN_USER_STARTED_VERIFICATION 1
#define MPIN_USER_STARTED_REGISTRATION 2
#define MPIN_USER_ACTIVATED 3
#define MPIN_USER_REGISTERED 4
#define MPIN_USER_BLOCKED 5
/** Only users of MIRACL Trust projects: see mpin_trust_authenticate(). */
#define MPIN_USER_REVOKED 6

/** Makes a user of the current backend, in state INVALID, or returns the known
 * user with this id. Nothing is stored or sent. Ids that are canonically
 * equivalent in Unicode (a letter and its accent composed or not) are the same
 * user here; the server receives the id in the form in which the program gave
 * it first.
 *
 * Out: user: a handle, released by mpin_user_free().
 * In: id: an empty id is not refused here, but by the server, as in the
 *   Milagro core; device_name: may be NULL.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (no backend), MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_make_new_user(
    mpin_sdk *sdk, mpin_user **user, const char *id, const char *device_name);

/** Makes a user at a server with several customers. The same id at another
 * customer is another user there.
 *
 * In: customer_id, app_id: names from mpin_session_details or from the server;
 *   NULL for any. If they are empty, the user gets the names that the server
 *   sends at registration. If they are not empty and the server sends other
 *   names, mpin_sdk_start_registration_mfa() returns MPIN_RESPONSE_PARSE_ERROR.
 *   It returns MPIN_FLOW_ERROR if this device already has a user with that id
 *   at the customer that the server names; but a user that
 *   mpin_sdk_clear_users() has removed from memory is replaced.
 * Out, returns: as mpin_sdk_make_new_user().
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_make_new_user_mfa(
    mpin_sdk *sdk, mpin_user **user, const char *id, const char *device_name,
    const char *customer_id, const char *app_id);

/** Finds the user with the id `id` at the current backend. If several customers
 * have such a user, finds the first in the order of customer and application;
 * users in state INVALID come last.
 *
 * Out: user: a handle, released by mpin_user_free(); NULL if there is none.
 * Returns: MPIN_OK (even if there is none), MPIN_FLOW_ERROR,
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_get_user(mpin_sdk *sdk, mpin_user **user, const char *id);

/** Finds the user with the id `id` at one customer and application.
 *
 * In: customer_id, app_id: NULL for any, empty for none.
 * Out, returns: as mpin_sdk_get_user().
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_user_mfa(
    mpin_sdk *sdk, mpin_user **user, const char *id, const char *customer_id,
    const char *app_id);

/** mpin_sdk_list_users() lists the users of the current backend,
 * mpin_sdk_list_all_users() those of all backends. They are sorted by id, then
 * by backend, customer and application. A user whose registration was never
 * started is not included.
 *
 * Out: users: handles, each released by mpin_user_free(); NULL asks for the
 *   number only. count: on entry the number of handles that `users` can hold,
 *   on return the number of users.
 * Returns: MPIN_OK, MPIN_BUFFER_TOO_SMALL (count is set, no handle made),
 *   MPIN_FLOW_ERROR, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_list_users(mpin_sdk *sdk, mpin_user **users, size_t *count);
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_list_all_users(mpin_sdk *sdk, mpin_user **users, size_t *count);

/** Lists the users of the backend with the base URL `backend`. Otherwise as
 * mpin_sdk_list_users(). */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_list_backend_users(
    mpin_sdk *sdk, mpin_user **users, size_t *count, const char *backend);

/** Writes the base URLs of all backends that have users, sorted, each followed
 * by a newline.
 *
 * Returns: MPIN_OK, MPIN_BUFFER_TOO_SMALL, MPIN_FLOW_ERROR,
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_list_backends(mpin_sdk *sdk, char *out, size_t *out_len);

/** Tells whether a user with the id `id` is known at the current backend.
 *
 * Out: exists: 1 or 0. In: customer_id, app_id: NULL for any, empty for none.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR, MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_user_exists(
    mpin_sdk *sdk, int32_t *exists, const char *id, const char *customer_id,
    const char *app_id);

/** Erases a user and its token from memory and from the store. The server is
 * not told. The user's state becomes INVALID.
 *
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_STORAGE_ERROR,
 *   MPIN_INVALID_HANDLE.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_delete_user(mpin_sdk *sdk, mpin_user *user);

/** Erases the users of all backends and their tokens from memory and from the
 * store. Call it when a device gets a new owner; mpin_sdk_clear_users() does
 * not erase the store. A file of damaged records stays. The servers are not
 * told. The users' state becomes INVALID.
 *
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_STORAGE_ERROR
 *   (nothing was erased), MPIN_INVALID_HANDLE.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_delete_users(mpin_sdk *sdk);

/** Releases a handle. The user itself stays. A handle that is NULL, was freed,
 * or is of another kind is ignored. */
MPIN_API void mpin_user_free(mpin_user *user);

/* The getters return MPIN_OK, MPIN_BUFFER_TOO_SMALL, MPIN_INVALID_HANDLE or
 * MPIN_INVALID_ARGUMENT. */

/** The user id. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_id(mpin_user *user, char *out, size_t *out_len);

/** The base URL of the backend. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_backend(mpin_user *user, char *out, size_t *out_len);

/** The M-Pin ID in hex, two digits for each byte; empty before the registration
 * has started (wire section 4). */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_mpin_id(mpin_user *user, char *out, size_t *out_len);

/** Reads the state of a user. Out: state: one of MPIN_USER_*. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_state(mpin_user *user, int32_t *state);

/** Reads the state of a user with the numbers of the Milagro cores, which have
 * no STARTED_VERIFICATION.
 * Out: state: 0 INVALID, 1 STARTED_REGISTRATION, 2 ACTIVATED, 3 REGISTERED, 4
 *   BLOCKED. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_state_legacy(mpin_user *user, int32_t *state);

/** The names of the customer and of the application: before the registration
 * those given to mpin_sdk_make_new_user_mfa(), then those that the server has
 * sent; may be empty. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_customer_id(mpin_user *user, char *out, size_t *out_len);
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_app_id(mpin_user *user, char *out, size_t *out_len);

/** The device name, as given to mpin_sdk_make_new_user(); may be empty. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_device_name(mpin_user *user, char *out, size_t *out_len);

/** Reads the number of digits of the user's PIN.
 * Out: digits: 4 to 6; 0 if the server does not say, so that 4 to 6 are
 * allowed. Of a user without an identity it is that of the PIN to choose. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_pin_length(mpin_user *user, int32_t *digits);

/** Reads the number of digits of the PIN to choose at the end of the
 * registration that is under way. It differs from mpin_user_get_pin_length() if
 * the user still has an identity with a PIN of another length, which the
 * registration will replace (mpin_trust_start_registration()).
 * Out: digits: as in mpin_user_get_pin_length(). */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_registration_pin_length(mpin_user *user, int32_t *digits);

/** How the server has verified the user id, as a code of the server: "em" by
 * mail, "pv" by the application's own verification, "rc" by a registration
 * code, "dvs" by a renewal; empty if it does not say.
 * Source: TRUST wire sections 2.1 and 4.6. */
MPIN_API MPIN_CHECK mpin_status mpin_user_get_verification_type(
    mpin_user *user, char *out, size_t *out_len);

/** Whether the user can sign.
 * Out: can_sign: 1 if the user has a signing key, else 0. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_can_sign(mpin_user *user, int32_t *can_sign);

/** When a registration ends, in seconds since 1970 on the server's clock. Both
 * times are 0 if the server does not send them. */
typedef struct mpin_expiration {
    size_t size;
    int64_t expire_time;
    /** The time of the answer on the server's clock. */
    int64_t now_time;
} mpin_expiration;

/** Reads when the registration that was started ends. */
MPIN_API MPIN_CHECK mpin_status mpin_user_get_registration_expiration(
    mpin_user *user, mpin_expiration *expiration);

/* ---- Import --------------------------------------------------------- */

/** Milagro core: `users` is its NONSECURE JSON, `secure` its SECURE JSON. */
#define MPIN_IMPORT_MILAGRO 1
/** MIRACL MFA core: `users` and `secure` as for the Milagro core, format
 * version 1. */
#define MPIN_IMPORT_MFA 2
/** client-js: `users` is the list under its key `mfa`; `secure` is NULL. */
#define MPIN_IMPORT_CLIENT_JS 3

/** Adds the users that another client has stored. Each user keeps the PIN
 * mapping of its client, so the PIN stays the same. A user that is already
 * known here, or whose record is damaged, is left out. If a user has no
 * customer or application in the record, those names stay empty here.
 *
 * Out: imported: the number of users that were added.
 * In: format: MPIN_IMPORT_*; users, secure: JSON texts. Records without a
 *   backend get the current backend.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised, or no backend),
 *   MPIN_STORAGE_ERROR (the JSON is malformed, or the store cannot be written:
 *   nothing was imported), MPIN_UNSUPPORTED_FORMAT (a newer version),
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 * Source: wire section 13, TRUST wire section 8.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_import_storage(
    mpin_sdk *sdk, size_t *imported, int32_t format, const char *users,
    const char *secure);

/* ---- Verification --------------------------------------------------- */

/** The result of a verification. */
typedef struct mpin_verification {
    size_t size;
    /** Seconds since 1970 on the server's clock; 0 if it does not say. */
    int64_t expire_time;
    /** The browser's session that asked for the verification; may be empty. */
    char access_id[256];
    /** The activate_code for mpin_sdk_start_registration_mfa(). */
    char activation_token[1024];
} mpin_verification;

/** Asks the server to mail a code that verifies the user id.
 * State: INVALID -> STARTED_VERIFICATION.
 *
 * In: client_id: the application's client id; access_code: the browser's
 *   session, may be NULL.
 * Returns also: what mpin_sdk_start_registration() returns, and
 *   MPIN_VERIFICATION_FAILED.
 * Source: TRUST wire sections 4.4 and 7.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_start_verification(
    mpin_sdk *sdk, mpin_user *user, const char *client_id,
    const char *access_code);

/** Sends the code that the mail contains. State: STARTED_VERIFICATION,
 * unchanged.
 *
 * In: code: exactly as in the mail.
 * Returns: as mpin_sdk_start_verification().
 * Source: TRUST wire section 4.5.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_verification(
    mpin_sdk *sdk, mpin_user *user, mpin_verification *verification,
    const char *code);

/* ---- Registration --------------------------------------------------- */

/* The functions of this and the next section also return the following. If they
 * talk to a server: MPIN_NETWORK_ERROR, MPIN_RESPONSE_PARSE_ERROR,
 * MPIN_UNTRUSTED_DOMAIN_ERROR, MPIN_HTTP_REQUEST_ERROR, MPIN_HTTP_SERVER_ERROR,
 * MPIN_BAD_USER_AGENT, MPIN_TOO_MANY_REQUESTS, MPIN_TIMED_OUT, MPIN_CANCELED.
 * Each of these functions may return MPIN_FLOW_ERROR if the user is in another
 * state than the function's comment says, MPIN_STORAGE_ERROR,
 * MPIN_INVALID_HANDLE and MPIN_INVALID_ARGUMENT. A failure does not change the
 * state of the user, unless stated. */

/** Asks a Milagro server for a registration. The server then mails a link to
 * the user.
 * State: INVALID -> STARTED_REGISTRATION, or ACTIVATED if the server needs no
 * confirmation.
 *
 * In: activate_code: a code from the application or from another device, may be
 *   NULL; with a right code no confirmation is needed, a wrong code gives
 *   MPIN_IDENTITY_NOT_AUTHORIZED; user_data: a text for the application, may be
 *   NULL.
 * Returns also: MPIN_IDENTITY_NOT_AUTHORIZED.
 * Source: wire section 6.2.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_start_registration(
    mpin_sdk *sdk, mpin_user *user, const char *activate_code,
    const char *user_data);

/** Asks a MIRACL MFA server for a registration.
 * State: INVALID or STARTED_VERIFICATION -> STARTED_REGISTRATION, or ACTIVATED
 * if the server needs no confirmation.
 *
 * In: access_code: the browser's session, may be NULL; activate_code: a
 *   registration code or activation token, may be NULL; push_id: device
 *   identifier for push messages, may be NULL.
 * Returns also: MPIN_IDENTITY_NOT_AUTHORIZED, MPIN_REGISTRATION_EXPIRED.
 * Source: TRUST wire section 7.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_start_registration_mfa(
    mpin_sdk *sdk, mpin_user *user, const char *access_code,
    const char *activate_code, const char *push_id);

/** Completes the registration token. Some servers send only a part of this
 * token to the client and put the rest into the link that the user opens.
 * State: STARTED_REGISTRATION, unchanged.
 *
 * In: token: the part in the link, 1 to 1024 visible ASCII characters.
 * Returns also: MPIN_FLOW_ERROR if the token is complete.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_set_registration_token(
    mpin_sdk *sdk, mpin_user *user, const char *token);

/** Whether the registration token is complete. Out: is_set: 1 or 0.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_is_registration_token_set(mpin_user *user, int32_t *is_set);

/** Asks the server to mail the link again, for the same registration.
 * State: STARTED_REGISTRATION -> STARTED_REGISTRATION or ACTIVATED.
 *
 * In: user_data: a text for the application, may be NULL.
 * Returns also: MPIN_IDENTITY_NOT_AUTHORIZED, MPIN_REGISTRATION_EXPIRED (MIRACL
 *   MFA).
 * Source: wire section 6.2.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_restart_registration(
    mpin_sdk *sdk, mpin_user *user, const char *user_data);

/** Fetches the two client secret shares and keeps them in memory for
 * mpin_sdk_finish_registration(). Call it once the user has opened the link; it
 * may be called again.
 * State: STARTED_REGISTRATION or ACTIVATED, unchanged.
 *
 * In: push_id: device identifier for push messages, may be NULL.
 * Returns also: MPIN_IDENTITY_NOT_VERIFIED (the link was not opened yet, or the
 *   registration has ended), MPIN_REGISTRATION_EXPIRED (MIRACL MFA),
 *   MPIN_REQUEST_EXPIRED, MPIN_CRYPTO_ERROR.
 * Source: wire sections 6.3 and 9.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_confirm_registration(
    mpin_sdk *sdk, mpin_user *user, const char *push_id);

/** Makes the token from the client secret and the PIN, and stores it. Then, if
 * the server wants to know it, reports that the registration is finished, so
 * that the server no longer gives out the shares. The report takes at most
 * three seconds, and its failure does not change the result.
 * State: STARTED_REGISTRATION or ACTIVATED -> REGISTERED.
 *
 * In: pin: 4 to 6 decimal digits; empty if the user cancelled.
 * Returns also: MPIN_PIN_INPUT_CANCELED, MPIN_PIN_INVALID, MPIN_CRYPTO_ERROR;
 *   MPIN_FLOW_ERROR if the shares were not fetched.
 * Source: wire sections 6.4 and 12.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_registration(
    mpin_sdk *sdk, mpin_user *user, const char *pin);

/** Adds a further factor, such as a second PIN. The next call of this user that
 * takes a PIN uses the factor with the PIN and then forgets it, even if the
 * call fails. May be called several times; the order does not matter. A login
 * needs the same factors as the registration.
 *
 * In: factor: 4 to 6 decimal digits.
 * Returns: MPIN_OK, MPIN_PIN_INVALID, MPIN_FLOW_ERROR (there are eight factors
 *   already), MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 * Source: TRUST wire section 1.6.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_add_factor(mpin_sdk *sdk, mpin_user *user, const char *factor);

/** Replaces the PIN without the server: changes the stored token by the
 * difference of the two PINs. This is possible only directly after a successful
 * login of this user with old_pin, because a wrong old PIN would destroy the
 * token. State: REGISTERED, unchanged.
 *
 * In: old_pin, new_pin: as in mpin_sdk_finish_registration().
 * Returns also: MPIN_PIN_INVALID, MPIN_PIN_INPUT_CANCELED, MPIN_CRYPTO_ERROR,
 *   MPIN_INCORRECT_PIN (the login was with another PIN; nothing was changed),
 *   MPIN_FLOW_ERROR (there was no such login).
 * Source: TRUST wire section 1.6.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_change_pin(
    mpin_sdk *sdk, mpin_user *user, const char *old_pin, const char *new_pin);

/* ---- Authentication ------------------------------------------------- */

/** Fetches today's time permit, if the backend uses time permits.
 * State: REGISTERED or BLOCKED, unchanged. A BLOCKED user may try again,
 * because only the server knows whether the operator has unblocked the user.
 * (The Milagro and MIRACL cores returned MPIN_FLOW_ERROR, because they had
 * erased the token.)
 *
 * Returns also: MPIN_REVOKED, MPIN_CRYPTO_ERROR; MPIN_FLOW_ERROR for a user
 *   without a token, which another client erased when the user was blocked.
 * Source: wire sections 6.5, 9 and 10.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_start_authentication(mpin_sdk *sdk, mpin_user *user);

/** Proves PIN and token to the server.
 * State: REGISTERED or BLOCKED -> BLOCKED if the PIN was wrong and no attempt
 * is left (the result is MPIN_INCORRECT_PIN); REGISTERED after a right PIN, and
 * after a wrong PIN with attempts left. The token stays stored. When a user is
 * BLOCKED, the next login must begin with mpin_sdk_start_authentication().
 *
 * A MIRACL server whose master secret was changed may request a new token in
 * every login and in mpin_sdk_sign(). The call then fetches and stores a token
 * for the same PIN and factors, with a new M-Pin ID or a key pair if the server
 * says so, and logs in with it at once. If the server requests a key pair for
 * logins and the user already has a signing key, the result is
 * MPIN_CLIENT_SECRET_EXPIRED.
 *
 * Out: auth_data: the answer of the application, JSON text; auth_data_len: its
 *   size. Both may be NULL. If the buffer is too small, the result is
 *   MPIN_BUFFER_TOO_SMALL, but the login has succeeded:
 *   mpin_sdk_get_auth_data() reads the answer again.
 * In: pin: as in mpin_sdk_finish_registration().
 * Returns also: MPIN_INCORRECT_PIN, MPIN_PIN_INPUT_CANCELED, MPIN_PIN_INVALID,
 *   MPIN_IDENTITY_NOT_AUTHORIZED, MPIN_REQUEST_EXPIRED,
 *   MPIN_CLIENT_SECRET_EXPIRED, MPIN_CRYPTO_ERROR; MPIN_FLOW_ERROR if the
 *   backend uses time permits and mpin_sdk_start_authentication() was not
 *   called for this user. After a successful login, the next login starts by
 *   itself and may return what mpin_sdk_start_authentication() returns. After
 *   a wrong PIN, the next try uses the same time permit, which is good for
 *   one day: on another day mpin_sdk_start_authentication() must be called,
 *   and also after a block.
 * Source: wire sections 6.6, 6.7 and 8.3; TRUST wire sections 4.11 and 7.1.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_authentication(
    mpin_sdk *sdk, mpin_user *user, char *auth_data, size_t *auth_data_len,
    const char *pin);

/** Reads the application's answer to the last login again.
 *
 * Out: out: the answer to the last login of this user, in the form of auth_data
 *   of mpin_sdk_finish_authentication(); empty before the first login.
 * Returns: MPIN_OK, MPIN_BUFFER_TOO_SMALL, MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_auth_data(
    mpin_sdk *sdk, mpin_user *user, char *out, size_t *out_len);

/** Starts a login for a browser's session, as mpin_sdk_start_authentication()
 * does. First tells the browser's page which user is about to log in, if the
 * backend supports such messages.
 *
 * In: access_code: the access number, or the part of the QR code's URL after
 *   '#'; not empty.
 * Returns: as mpin_sdk_start_authentication().
 * Source: wire section 6.12.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_start_authentication_mfa(
    mpin_sdk *sdk, mpin_user *user, const char *access_code);

/** Checks the check digit of an access number, if the backend's settings say
 * that access numbers have one. Nothing is sent.
 *
 * In: access_number: not empty. Only a number of seven digits is checked; the
 *   server checks any other number.
 * Returns: MPIN_OK, MPIN_INCORRECT_ACCESS_NUMBER, MPIN_FLOW_ERROR (no backend),
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 * Source: wire section 6.9.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_check_access_number(mpin_sdk *sdk, const char *access_number);

/** Logs in a browser that shows an access number or a QR code. States as in
 * mpin_sdk_finish_authentication().
 *
 * In: pin: as in mpin_sdk_finish_registration(); access_number: the access
 *   number, or the part of the QR code's URL after '#'.
 * Returns also: as mpin_sdk_finish_authentication(), and
 *   MPIN_INCORRECT_ACCESS_NUMBER; MPIN_REQUEST_EXPIRED if the browser did not
 *   fetch the login in time.
 * Source: wire sections 6.6 to 6.9.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_authentication_an(
    mpin_sdk *sdk, mpin_user *user, const char *pin,
    const char *access_number);

/** Logs in and gets an authorization code, which the program passes to the
 * application's own server.
 *
 * Out: authz_code, authz_code_len: a text, in the form of auth_data of
 *   mpin_sdk_finish_authentication(); empty if the server issues none.
 * In: pin: as in mpin_sdk_finish_registration(); access_code: a browser's
 *   session, may be NULL.
 * Returns also: as mpin_sdk_finish_authentication_an().
 * Source: TRUST wire section 7.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_authentication_mfa(
    mpin_sdk *sdk, mpin_user *user, char *authz_code, size_t *authz_code_len,
    const char *pin, const char *access_code);

/** A one-time code, which is valid for a short time. */
typedef struct mpin_otp {
    size_t size;
    /** MPIN_OK; MPIN_RESPONSE_PARSE_ERROR if the server left out one of the
     * times below, which is then 0; MPIN_FLOW_ERROR if it issued no code. In
     * all three cases the login has succeeded. */
    mpin_status status;
    /** How long the code is valid, in seconds. */
    int32_t ttl_seconds;
    /** When the code expires, in seconds since 1970 on the server's clock. */
    int64_t expire_time;
    /** The time of the answer, in seconds since 1970 on the server's clock. */
    int64_t now_time;
    /** The code itself; empty if `status` is MPIN_FLOW_ERROR. */
    char otp[64];
} mpin_otp;

/** Starts a login for a one-time password, as mpin_sdk_start_authentication()
 * does.
 * Returns: as mpin_sdk_start_authentication(). */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_start_authentication_otp(mpin_sdk *sdk, mpin_user *user);

/** Logs in and gets a one-time password that the user types elsewhere.
 *
 * In: pin: as in mpin_sdk_finish_registration().
 * Returns also: as mpin_sdk_finish_authentication().
 * Source: wire sections 6.7 and 8.3.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_authentication_otp(
    mpin_sdk *sdk, mpin_user *user, mpin_otp *otp, const char *pin);

/** Starts a login for a registration code, as mpin_sdk_start_authentication()
 * does.
 * Returns: as mpin_sdk_start_authentication(); MPIN_FLOW_ERROR if the server
 *   has no registration codes. (The one-time passwords of an old Milagro server
 *   cannot register a device.) */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_start_authentication_reg_code(mpin_sdk *sdk, mpin_user *user);

/** Logs in and gets a code that registers another device of the same user. The
 * code is the activate_code of mpin_sdk_start_registration() on that device.
 *
 * In: pin: as in mpin_sdk_finish_registration().
 * Returns also: as mpin_sdk_finish_authentication(), and
 *   MPIN_OPERATION_NOT_ALLOWED, MPIN_FLOW_ERROR (no such codes).
 * Source: TRUST wire sections 4.12 and 7.4.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_authentication_reg_code(
    mpin_sdk *sdk, mpin_user *user, mpin_otp *reg_code, const char *pin);

/** Whether the session of the last login can be ended from here.
 * Out: can_logout: 1 or 0.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT. */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_can_logout(mpin_sdk *sdk, mpin_user *user, int32_t *can_logout);

/** Ends the session of the last login. It works only once for each login.
 *
 * Returns also: MPIN_FLOW_ERROR if mpin_sdk_can_logout() gives 0.
 * Source: wire section 8.5.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_logout(mpin_sdk *sdk, mpin_user *user);

/* ---- Sessions of a browser ------------------------------------------ */

/** The browser session that asks for a login. Texts that the server does not
 * send are empty. */
typedef struct mpin_session_details {
    size_t size;
    /** 1 if the session is for registration only. */
    int32_t register_only;
    /** The user id that the page suggests. */
    char preroll_id[256];
    char app_name[256];
    char app_icon_url[1024];
    char customer_id[256];
    char customer_name[256];
    char customer_icon_url[1024];
    char client_id[256];
    char redirect_uri[1024];
    /** Where the screen is that shows the code, as the server saw it: its IP
     * address, and the browser that it says to be. Empty if the server does not
     * know or say it. Then it may be anybody's screen: tell the user that
     * nothing is known about it, and ask once more before the PIN. */
    char screen_address[64];
    char screen_program[128];
    /** The IP address of the server or program that has opened the session in
     * the place of the screen; it is not the screen's. Empty if there is none,
     * or it is not known. */
    char site_address[64];
} mpin_session_details;

/** Asks the backend which browser session shows this code. The session's page
 * learns that a device has read the code. If the backend does not support this
 * request, all details are empty.
 *
 * In: access_code: the access number, or the part of the QR code's URL after
 *   '#'; an empty code is also sent to the server.
 * Returns: as mpin_sdk_test_backend(), and MPIN_INCORRECT_ACCESS_NUMBER.
 * Source: wire section 6.12, TRUST wire section 4.13.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_session_details(
    mpin_sdk *sdk, mpin_session_details *details, const char *access_code);

/** Tells the page that shows this code that the user has declined the login.
 *
 * In, returns, source: as mpin_sdk_get_session_details().
 */
MPIN_API mpin_status
mpin_sdk_abort_session(mpin_sdk *sdk, const char *access_code);

/** Opens a browser's session at the authorization endpoint of an application,
 * for a login on this device.
 *
 * Out: out: the session's code, for the functions that take an access_code.
 * In: authz_url: URL of the authorization endpoint, with its query.
 * Returns: as mpin_sdk_test_backend(), and MPIN_BUFFER_TOO_SMALL. Every call
 *   opens a new session, even one with `out` NULL, so pass a buffer of 256
 *   bytes, which is enough for known servers.
 * Source: TRUST wire section 7.1.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_access_code(
    mpin_sdk *sdk, char *out, size_t *out_len, const char *authz_url);

/* ---- Signing (designated verifier signatures) ----------------------- */

/* Sizes in bytes: of the SHA-256 hash of a document; of each of the two G1
 * points of a signature, 04 || x || y; of a public key, a G2 point. */
#define MPIN_DOCUMENT_HASH_SIZE 32
#define MPIN_SIGNATURE_POINT_SIZE 65
#define MPIN_PUBLIC_KEY_SIZE 128

/** Logs in and gets permission to register a signing key.
 * State: REGISTERED, unchanged.
 *
 * In: pin: the login PIN.
 * Returns also: as mpin_sdk_finish_authentication(); MPIN_FLOW_ERROR if the
 *   user has a key pair for logins. Such a user signs with that key pair and
 *   the login PIN.
 * Source: TRUST wire sections 1.4 and 7.4.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_start_registration_dvs(
    mpin_sdk *sdk, mpin_user *user, const char *pin);

/** Makes and stores the signing token. Afterwards mpin_user_get_can_sign()
 * gives 1. Nothing is sent. State: REGISTERED, unchanged.
 *
 * In: pin: the signing PIN; it may differ from the login PIN.
 * Returns also: MPIN_PIN_INPUT_CANCELED, MPIN_PIN_INVALID, MPIN_CRYPTO_ERROR;
 *   MPIN_FLOW_ERROR without mpin_sdk_start_registration_dvs().
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_registration_dvs(
    mpin_sdk *sdk, mpin_user *user, const char *pin);

/** Computes the SHA-256 hash of a document.
 *
 * Out: hash: 32 bytes. In: document: `document_len` bytes, not NULL.
 * Returns: MPIN_OK, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_hash_document(
    uint8_t hash[MPIN_DOCUMENT_HASH_SIZE], const uint8_t *document,
    size_t document_len);

/** Compares a hash with the hash of a document, in constant time.
 * Out: is_same: 1 if `hash` is the hash of the document, else 0.
 * Returns: MPIN_OK, MPIN_INVALID_ARGUMENT. */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_verify_document(
    int32_t *is_same, const uint8_t *document, size_t document_len,
    const uint8_t hash[MPIN_DOCUMENT_HASH_SIZE]);

/** A signature for a designated verifier: one server, which alone can check it.
 * It contains all values that the verifier needs besides the hash. */
typedef struct mpin_signature {
    size_t size;
    /** The time that was signed, in seconds since 1970. */
    int64_t timestamp;
    /** `u` and `v` are the signature, two G1 points of 65 bytes. */
    uint8_t u[MPIN_SIGNATURE_POINT_SIZE];
    uint8_t v[MPIN_SIGNATURE_POINT_SIZE];
    /** The public key of the signer, a G2 point of 128 bytes. */
    uint8_t public_key[MPIN_PUBLIC_KEY_SIZE];
    /** The M-Pin ID of the signer in hex. */
    char mpin_id[4096];
    /** The names of the D-TAs that made the key, in base64. */
    char dtas[1024];
} mpin_signature;

/** Signs a hash. The server checks the PIN first. If the PIN is wrong and no
 * attempt is left, a signing key that has its own M-Pin ID is deleted and must
 * be registered again; logins are not affected.
 *
 * Out: signature.
 * In: hash: 1 to 256 bytes, usually MPIN_DOCUMENT_HASH_SIZE; pin: the signing
 *   PIN; epoch_time: seconds since 1970, below 2^32; 0: now; authz_token: a
 *   permission from the application's server, may be NULL.
 * Returns also: as mpin_sdk_finish_authentication(); MPIN_FLOW_ERROR if the
 *   user cannot sign.
 * Source: TRUST wire section 1.9.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_sign(
    mpin_sdk *sdk, mpin_user *user, mpin_signature *signature,
    const uint8_t *hash, size_t hash_len, const char *pin,
    int64_t epoch_time, const char *authz_token);

/* ---- MIRACL Trust --------------------------------------------------- */

/* The functions below talk to the service of MIRACL Trust, or to a server with
 * the same wire, such as mpind. The names are those of the Trust SDKs. A
 * service has projects, and the users of a project are known by id, as
 * mpin_user handles.
 *
 * These functions of the sections above work for such users, too:
 * mpin_sdk_get_user(), mpin_sdk_list_users() and mpin_sdk_user_exists() know
 * the users of the current project, mpin_sdk_list_all_users() those of all
 * projects and backends; mpin_sdk_delete_user(), mpin_sdk_change_pin(),
 * mpin_sdk_add_factor(), mpin_sdk_hash_document() and the getters, where
 * mpin_user_get_customer_id() gives the project's id. All others return
 * MPIN_FLOW_ERROR for such users. A user who was registered with a factor
 * cannot log in in a browser.
 *
 * States: a user is REGISTERED, or REVOKED if the server no longer accepts the
 * identity. The token of a REVOKED user is kept: if the server accepts the
 * identity again, the next login succeeds and the user is REGISTERED. A new
 * registration replaces the identity in any state, at once and completely, when
 * it is finished, not before.
 *
 * PINs have the length that the project demands, 4 to 6 digits, and become the
 * same number as in the browser client: their decimal value.
 *
 * The functions that talk to a server also return MPIN_NETWORK_ERROR,
 * MPIN_RESPONSE_PARSE_ERROR, MPIN_UNTRUSTED_DOMAIN_ERROR,
 * MPIN_HTTP_REQUEST_ERROR, MPIN_HTTP_SERVER_ERROR, MPIN_TOO_MANY_REQUESTS,
 * MPIN_TIMED_OUT and MPIN_CANCELED; all of them MPIN_FLOW_ERROR if no project
 * is set or the user is not one of it, MPIN_STORAGE_ERROR, MPIN_INVALID_HANDLE
 * and MPIN_INVALID_ARGUMENT. A failure does not change the state of the user,
 * unless stated.
 */

/** The address of the service of MIRACL Trust. */
#define MPIN_TRUST_URL "https://api.mpin.io"

/** Uses a project from now on, instead of the current backend or project.
 * Nothing is sent. Requests carry the project's id in the header X-MIRACL-CID,
 * and the client id of mpin_sdk_set_client_id() is not sent.
 *
 * In: project_id: 1 to 255 visible ASCII characters; url: base URL of the
 *   service, NULL for MPIN_TRUST_URL; device_name: what the server lists this
 *   device as, NULL for none.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_INVALID_HANDLE;
 *   MPIN_INVALID_ARGUMENT if a text is not as above or the URL is none;
 *   MPIN_UNTRUSTED_DOMAIN_ERROR.
 * Source: TRUST wire section 3.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_set_project(
    mpin_sdk *sdk, const char *project_id, const char *url,
    const char *device_name);

/** What a server of MIRACL Trust said in its last error answer, besides
 * mpin_error. Texts that it did not send are empty, numbers are 0. */
typedef struct mpin_trust_error {
    size_t size;
    /** Seconds since 1970: after MPIN_REQUEST_BACKOFF, when another mail may be
     * requested; after MPIN_INCORRECT_PIN, when the temporary block of the
     * identity ends. */
    int64_t retry_at;
    /** The server's name of the error, such as "REQUEST_BACKOFF", cut if it is
     * too long. */
    char code[64];
    /** After MPIN_VERIFICATION_FAILED of mpin_trust_get_activation_token(): the
     * project that asked for the verification, and its browser session. */
    char project_id[256];
    char access_id[256];
} mpin_trust_error;

/** Reads what the server said in the error of the last call on this sdk that
 * failed in this thread.
 *
 * Out: error.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 * Source: TRUST wire section 3.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_trust_get_last_error(mpin_sdk *sdk, mpin_trust_error *error);

/** The mail contains a link. Pass it to
 * mpin_trust_get_activation_token_by_link(). */
#define MPIN_TRUST_METHOD_LINK 0
/** The mail contains a code of six digits. Pass it to
 * mpin_trust_get_activation_token(). */
#define MPIN_TRUST_METHOD_CODE 1

/** A mail that is on its way. */
typedef struct mpin_trust_verification {
    size_t size;
    /** Seconds since 1970 before which another mail is refused. */
    int64_t backoff;
    /** MPIN_TRUST_METHOD_*. */
    int32_t method;
} mpin_trust_verification;

/** Asks the server to mail a link or a code that verifies the user id. If this
 * device has an identity of the user, its M-Pin ID is sent along.
 *
 * Projects with a verification of their own (custom verification) need no mail:
 * their back end gets a link or an activation token from the service and hands
 * it to the device, which goes on with
 * mpin_trust_get_activation_token_by_link() or
 * mpin_trust_start_registration().
 *
 * Out: verification.
 * In: user_id: not empty; access_id: the browser's session (access_id of
 *   mpin_trust_session) that the user registers for, NULL for none.
 * Returns also: MPIN_VERIFICATION_FAILED; MPIN_REQUEST_BACKOFF, with the time
 *   in mpin_trust_error.retry_at.
 * Source: TRUST wire section 4.4.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_send_verification_email(
    mpin_sdk *sdk, mpin_trust_verification *verification,
    const char *user_id, const char *access_id);

/** The permission to register a device for a verified user id. */
typedef struct mpin_trust_activation {
    size_t size;
    /** When the token expires, in seconds since 1970; 0 if the server does not
     * say. */
    int64_t expire_time;
    char project_id[256];
    char user_id[256];
    /** The browser's session that asked for the verification; may be empty. */
    char access_id[256];
    /** The activation_token of mpin_trust_start_registration(). It is a secret
     * until it is used. */
    char activation_token[1024];
} mpin_trust_activation;

/** Exchanges the code of a mail for an activation token.
 *
 * Out: activation.
 * In: user_id, code: not empty.
 * Returns also: MPIN_VERIFICATION_FAILED (wrong, used or expired; see
 *   mpin_trust_error), MPIN_PROJECT_MISMATCH.
 * Source: TRUST wire section 4.5.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_get_activation_token(
    mpin_sdk *sdk, mpin_trust_activation *activation, const char *user_id,
    const char *code);

/** Exchanges the link of a mail, or one from the project's back end, for an
 * activation token. Of the link only user_id and code in its query are read, in
 * which '+' is a space; nothing is sent to its host.
 *
 * Out: activation.
 * In: link: the whole URL.
 * Returns: as mpin_trust_get_activation_token(), and MPIN_INVALID_ARGUMENT if
 *   user_id or code is missing.
 * Source: TRUST wire sections 2.3 and 4.5.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_get_activation_token_by_link(
    mpin_sdk *sdk, mpin_trust_activation *activation, const char *link);

/** Registers this device with a new key pair, and fetches the client secret,
 * which stays in memory for mpin_trust_finish_registration(). Ask for the PIN
 * now: mpin_user_get_registration_pin_length() tells its length. The token is
 * used up, so after a later failure the user needs another one.
 *
 * An identity that the user already has stays usable until the end of the
 * registration, with its own PIN.
 *
 * Out: user: a handle, released by mpin_user_free(). A new user is in state
 *   INVALID, and is not listed.
 * In: user_id: not empty; activation_token: from mpin_trust_activation or the
 *   project's back end, or a QuickCode, not empty; push_token: where push
 *   messages reach this device, NULL for none.
 * Returns also: MPIN_ACTIVATION_TOKEN_INVALID, MPIN_PROJECT_MISMATCH,
 *   MPIN_UNSUPPORTED_CURVE, MPIN_CRYPTO_ERROR.
 * Source: TRUST wire sections 1.4, 4.6 and 4.7.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_start_registration(
    mpin_sdk *sdk, mpin_user **user, const char *user_id,
    const char *activation_token, const char *push_token);

/** Makes the token from the client secret and the PIN, and stores it in place
 * of what was stored of this user. The client secret is wiped. Nothing is sent.
 * State: any -> REGISTERED.
 *
 * In: pin: mpin_user_get_registration_pin_length() decimal digits; empty if the
 *   user cancelled. After MPIN_PIN_INVALID and MPIN_PIN_INPUT_CANCELED the
 *   registration can still be finished.
 * Returns also: MPIN_PIN_INPUT_CANCELED, MPIN_PIN_INVALID, MPIN_CRYPTO_ERROR;
 *   MPIN_FLOW_ERROR without mpin_trust_start_registration().
 * Source: TRUST wire sections 1.4 and 1.5.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_finish_registration(
    mpin_sdk *sdk, mpin_user *user, const char *pin);

/** Logs in to the application itself: gets a JWT for its own server, which
 * checks it with the project's keys.
 * State: REGISTERED or REVOKED -> REVOKED if the result is MPIN_REVOKED, else
 * REGISTERED once the server has judged the PIN.
 *
 * The server may ask for a new secret in every function below that takes a PIN.
 * The call then registers a new key pair with the same PIN, stores it in place
 * of the old one, and logs in again. The user sees nothing of it, but
 * mpin_user_get_mpin_id() changes.
 *
 * Out: jwt, jwt_len: the JWT, a secret for its short life: wipe it after use.
 *   Both may be NULL. If the buffer is too small, the result is
 *   MPIN_BUFFER_TOO_SMALL, but the login has succeeded: mpin_trust_get_jwt()
 *   reads the JWT again.
 * In: pin: as in mpin_trust_finish_registration().
 * Returns also: MPIN_INCORRECT_PIN (mpin_trust_error.retry_at is not 0 if the
 *   identity is now blocked for a while), MPIN_REVOKED,
 *   MPIN_PIN_INPUT_CANCELED, MPIN_PIN_INVALID, MPIN_CRYPTO_ERROR, and from a
 *   renewal what mpin_trust_start_registration() returns.
 * Source: TRUST wire sections 4.8 to 4.11.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_authenticate(
    mpin_sdk *sdk, mpin_user *user, char *jwt, size_t *jwt_len,
    const char *pin);

/** Reads the JWT of the last mpin_trust_authenticate() of this user again;
 * empty if the last login was for another purpose.
 *
 * Returns: MPIN_OK, MPIN_BUFFER_TOO_SMALL, MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_get_jwt(
    mpin_sdk *sdk, mpin_user *user, char *out, size_t *out_len);

/** A browser's session: a page that waits for a login or a signature. Texts
 * that the server does not send are empty. */
typedef struct mpin_trust_session {
    size_t size;
    /** The session's id: the part of its URL after the last '#'. */
    char access_id[256];
    char project_id[256];
    /** The user id that the page suggests. */
    char user_id[256];
    /** What the login or the signature is for. Show it before asking for the
     * PIN. */
    char description[1024];
    /** What is to be signed, `hash_len` bytes; 0: the session is for a login.
     */
    uint8_t hash[256];
    size_t hash_len;
    char project_name[256];
    char project_logo_url[1024];
    /** The length of a PIN in the project; 0 if the server does not say. */
    int32_t pin_length;
    /** As in mpin_session_details. */
    char screen_address[64];
    char screen_program[128];
    char site_address[64];
} mpin_trust_session;

/** Asks which session a QR code, an app link or a push message belongs to. The
 * session's page learns that a device has read the code.
 *
 * Out: session.
 * In: session_url: the URL in the QR code, the app link, or qrURL of the push
 *   message. The part after the last '#' counts and must not be empty.
 * Returns also: MPIN_SESSION_INVALID.
 * Source: TRUST wire sections 2.2 and 4.13.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_get_session_details(
    mpin_sdk *sdk, mpin_trust_session *session, const char *session_url);

/** Tells the session's page that the user has declined.
 *
 * In: session_url: as in mpin_trust_get_session_details().
 * Returns also: MPIN_SESSION_INVALID.
 * Source: TRUST wire section 4.13.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_trust_abort_session(mpin_sdk *sdk, const char *session_url);

/** Logs the browser in whose page shows a QR code. First tells the page who is
 * about to log in. State as in mpin_trust_authenticate().
 *
 * In: qr_code: the URL in the QR code; pin: as in
 *   mpin_trust_finish_registration().
 * Returns also: as mpin_trust_authenticate(), and MPIN_SESSION_INVALID.
 * Source: TRUST wire sections 2.2 and 4.8 to 4.10.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_authenticate_with_qr_code(
    mpin_sdk *sdk, mpin_user *user, const char *qr_code, const char *pin);

/** Logs the browser in that has opened the application on this device by a link
 * (app link, universal link).
 *
 * In: app_link: the link; pin, returns: as in
 *   mpin_trust_authenticate_with_qr_code().
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_authenticate_with_app_link(
    mpin_sdk *sdk, mpin_user *user, const char *app_link, const char *pin);

/** Logs the browser in that has asked for it by a push message.
 *
 * In: project_id, user_id, qr_url: the members projectID, userID and qrURL of
 *   the message; project_id NULL if the message has none; pin: as in
 *   mpin_trust_finish_registration().
 * Returns also: as mpin_trust_authenticate_with_qr_code(); MPIN_USER_NOT_FOUND,
 *   MPIN_PROJECT_MISMATCH (nothing was sent).
 * Source: TRUST wire section 2.2.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_authenticate_with_push_payload(
    mpin_sdk *sdk, const char *project_id, const char *user_id,
    const char *qr_url, const char *pin);

/** A code that registers another device of the same user. */
typedef struct mpin_trust_quick_code {
    size_t size;
    /** When the code expires, in seconds since 1970. */
    int64_t expire_time;
    /** How long the code is valid, in seconds. */
    int32_t ttl_seconds;
    /** The code, which the user types in on the other device. There it is the
     * activation_token of mpin_trust_start_registration(). */
    char code[64];
} mpin_trust_quick_code;

/** Logs in and gets a QuickCode. State as in mpin_trust_authenticate().
 *
 * Out: quick_code. In: pin: as in mpin_trust_finish_registration().
 * Returns also: as mpin_trust_authenticate(), and MPIN_OPERATION_NOT_ALLOWED if
 *   the identity was itself made from a QuickCode and may make no other.
 * Source: TRUST wire section 4.12.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_generate_quick_code(
    mpin_sdk *sdk, mpin_user *user, mpin_trust_quick_code *quick_code,
    const char *pin);

/** Signs a hash now. The server checks the PIN first, and counts wrong ones.
 * The program sends the hash and the signature to its back end, which has the
 * service verify them. State as in mpin_trust_authenticate().
 *
 * Out: signature.
 * In: hash: 1 to 256 bytes, usually MPIN_DOCUMENT_HASH_SIZE; pin: as in
 *   mpin_trust_finish_registration().
 * Returns also: as mpin_trust_authenticate().
 * Source: TRUST wire sections 1.9 and 5 (6).
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_sign(
    mpin_sdk *sdk, mpin_user *user, mpin_signature *signature,
    const uint8_t *hash, size_t hash_len, const char *pin);

/** Signs what a session's page asks for, and gives the signature to the page.
 * State as in mpin_trust_authenticate().
 *
 * In: session_url: as in mpin_trust_get_session_details(); hash: the hash that
 *   mpin_trust_get_session_details() gave and the user has agreed to, 1 to 256
 *   bytes; pin: as in mpin_trust_finish_registration().
 * Returns also: as mpin_trust_authenticate(), and MPIN_SESSION_INVALID.
 * Source: TRUST wire sections 1.9 and 4.13.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_sign_session(
    mpin_sdk *sdk, mpin_user *user, const char *session_url,
    const uint8_t *hash, size_t hash_len, const char *pin);

/** Writes the users of the current project into a new file, in the form in
 * which client-js stores them (the list under its key `mfa`), so that a browser
 * or another program can use their identities with the same PIN.
 *
 * CAUTION: in this file the tokens lie unsealed. Whoever reads the file needs
 * nothing but the PIN to log in, and can have the server judge a guess of it;
 * whoever also has the server's secrets finds the PIN. The file has mode 0600;
 * delete it as soon as it is read.
 *
 * The other direction is mpin_sdk_import_storage() with MPIN_IMPORT_CLIENT_JS:
 * while a project is set, it adds the users of all projects in the list, which
 * then log in at the project's URL.
 *
 * Out: exported: the number of users in the file.
 * In: path: a file that does not exist.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR, MPIN_STORAGE_ERROR (no file was made),
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 * Source: TRUST wire section 8.
 */
MPIN_API MPIN_CHECK mpin_status mpin_trust_export_users(
    mpin_sdk *sdk, size_t *exported, const char *path);

/* ---- Sessions of apps ----------------------------------------------- */

/* What an app has after a login: an access token for its APIs, which is renewed
 * as it is used, and a profile of the user. A session is stored in a file of
 * its own, encrypted under the key of the users. Several processes may open the
 * same file: one of them renews the tokens, the others wait for its result, and
 * all see a logout at once. Tokens are verified by libcjose.so.0, which is
 * loaded at the first login.
 *
 * The provider is mpind, another provider of OpenID Connect, or an OAuth
 * provider that the app describes. docs/keep-your-users-logged-in.md has
 * examples. A function that takes a session may also return MPIN_STORAGE_ERROR,
 * and MPIN_CANCELED after mpin_session_cancel(). Getters and
 * mpin_session_cancel() never wait for the network. */

/** The states of a session. */
#define MPIN_SESSION_SIGNED_OUT 0
/** A login is under way in this process. */
#define MPIN_SESSION_SIGNING_IN 1
/** Somebody is logged in. If the access token has expired, it can be renewed.
 * A failure of the network does not change this state. */
#define MPIN_SESSION_SIGNED_IN 2
/** The access token has expired, and there is no refresh token. */
#define MPIN_SESSION_EXPIRED 3
/** The provider has ended the session. The profile is still there. */
#define MPIN_SESSION_REVOKED 4

/** The session of an app. */
typedef struct mpin_session mpin_session;

/** A question for a PIN. Valid during the callback only. */
typedef struct mpin_pin_request {
    size_t size;
    const char *provider;
    const char *user_id;
    /** How many more wrong PINs the server accepts; -1 at the first question,
     * and if the server does not say. */
    int32_t attempts_left;
} mpin_pin_request;

/** What a device without a browser shows. Valid during the callback only. */
typedef struct mpin_device_code {
    size_t size;
    /** The code that the user types at `url`. */
    const char *user_code;
    const char *url;
    /** The URL with the code in it, for a QR code; may be empty. */
    const char *complete_url;
    /** How long the code is valid, in seconds. */
    int64_t expires_in;
} mpin_device_code;

/** The size of the buffer that ask_pin fills, in bytes. */
#define MPIN_PIN_BUFFER_SIZE 64

/** The configuration of a session. Set it to zero, then `size`. The callbacks
 * run in the thread of the call; none of them may call the same sdk. While one
 * runs, the session holds no lock that another process waits for. A callback
 * that is NULL makes the logins that need it impossible. */
typedef struct mpin_session_config {
    size_t size;
    /** A value of the program's own, the argument `user` of each callback. */
    void *user;
    /** Path of the file for the session; created with mode 0600. NULL:
     * mpin_config.storage_path followed by ".session". Empty: nothing is
     * stored; the session is in memory, and ends with its handle. Required if
     * the program stores the users itself. */
    const char *path;
    /** How long a login in a browser or by device code may take, in
     * milliseconds; 0: 300000. */
    size_t login_timeout_ms;
    /** Asks for the PIN of a user, and writes it into `pin`, which has
     * MPIN_PIN_BUFFER_SIZE bytes, with a NUL. The library wipes the buffer.
     *
     * Returns: MPIN_OK; any other value means that the user has cancelled.
     */
    mpin_status (*ask_pin)(
        void *user, const mpin_pin_request *request, char *pin);
    /** Opens the system's browser at `url`, and returns without waiting.
     *
     * Returns: MPIN_OK; any other value if no browser could be opened.
     */
    mpin_status (*open_browser)(void *user, const char *url);
    /** Shows a code to type at another device. The time of the login goes on
     * meanwhile, so this may wait for the user, who may have typed the code
     * when it returns. It may call mpin_session_cancel(). */
    void (*show_code)(void *user, const mpin_device_code *code);
    /** Is told of a new state, MPIN_SESSION_*. */
    void (*event)(void *user, int32_t state, const char *provider);
    /** 1: a call that would renew the tokens fails with MPIN_RENEW_FAILED. For
     * a part of an app that the system may end at any time, such as an
     * extension; another process of the app renews. 0: the tokens are renewed.
     */
    int32_t never_renews;
} mpin_session_config;

/** The user logs in with a PIN in the app; the provider is mpind. */
#define MPIN_LOGIN_PIN 0
/** The user logs in in the system's browser (RFC 8252). */
#define MPIN_LOGIN_BROWSER 1
/** The user types a code in the browser of another device (RFC 8628). */
#define MPIN_LOGIN_DEVICE_CODE 2

/** A provider. Set it to zero, then `size`. `name`, `client_id`, and one of
 * `issuer` and `token_endpoint` are required. */
typedef struct mpin_provider {
    size_t size;
    /** The name by which the app knows the provider. */
    const char *name;
    /** MPIN_LOGIN_*. */
    int32_t login;
    /** 1: an answer 401 of an API ends the session; 0: it renews the tokens. */
    int32_t ends_on_401;
    const char *client_id;
    /** NULL for a public client, as apps should be. */
    const char *client_secret;
    /** The issuer of an OpenID provider; the discovery document behind it names
     * the endpoints. NULL: an OAuth provider, whose endpoints follow. */
    const char *issuer;
    /** NULL: http://127.0.0.1/callback. In a login in a browser, the library
     * listens at the host of a loopback URI, and the URI gets a free port
     * unless it names one. With any other URI the app calls
     * mpin_session_resume(). */
    const char *redirect_uri;
    /** NULL: "openid profile email offline_access". */
    const char *scope;
    /** The origins of the APIs that may get the access token, separated by
     * spaces: "https://api.example.com". */
    const char *origins;
    const char *authorization_endpoint;
    const char *token_endpoint;
    const char *userinfo_endpoint;
    const char *revocation_endpoint;
    const char *device_endpoint;
    /** The provider's names of claims, separated by spaces: "sub=id
     * name=login". */
    const char *claim_names;
} mpin_provider;

/** Opens the session that is stored in a file. The sdk must be initialised. If
 * the sdk is freed first, the session's calls end, and its handle becomes
 * invalid, but must still be freed. mpin_sdk_destroy() does not affect it.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT,
 *   MPIN_STORAGE_ERROR. The sdk has the error text.
 * Out: session: the new handle, released by mpin_session_free().
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_new(
    mpin_sdk *sdk, mpin_session **session, const mpin_session_config *config);

/** Ends the calls on a session, waits for them and releases it. What is stored
 * stays. A handle that is NULL, was freed, or is of another kind is ignored. */
MPIN_API void mpin_session_free(mpin_session *session);

/** Ends the calls on this session that are under way with MPIN_CANCELED.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE.
 */
MPIN_API mpin_status mpin_session_cancel(mpin_session *session);

/** Reads the parts of the error of the last call on this session that failed in
 * this thread.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_session_get_last_error(mpin_session *session, mpin_error *error);

/** Adds a provider, which is copied, or replaces the one of the same name.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_add_provider(
    mpin_session *session, const mpin_provider *provider);

/** Logs a user in. The new session replaces the one before. After a failure the
 * one before stays.
 *
 * In: provider: its name; user_id: for MPIN_LOGIN_PIN, a registered user of the
 *   sdk's current backend, which becomes the issuer if the sdk has none; else a
 *   hint for the provider's page, may be NULL.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT,
 *   MPIN_PROVIDER_UNKNOWN, MPIN_INTERACTION_NOT_ALLOWED, MPIN_LOGIN_REFUSED,
 *   MPIN_TOKEN_INVALID, MPIN_CRYPTO_ERROR (no libcjose), MPIN_NETWORK_ERROR,
 *   MPIN_TIMED_OUT and what mpin_sdk_finish_authentication_mfa() returns.
 * Source: RFC 6749 section 4.1, RFC 7636, OpenID Connect Core section 3.1.
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_login(
    mpin_session *session, const char *provider, const char *user_id);

/** Passes the URL on at which the provider's answer has reached the app, while
 * another thread is in mpin_session_login().
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT, MPIN_FLOW_ERROR
 *   (no login is under way).
 */
MPIN_API MPIN_CHECK mpin_status
mpin_session_resume(mpin_session *session, const char *url);

/** Logs the user out: deletes the tokens and has the provider revoke them. If
 * it cannot be reached, the next login, renewal or logout tells it.
 *
 * In: everywhere: 1 also ends the session at the provider that the login has
 *   begun, after a login in a browser by open_browser; a failure of that is
 *   returned, but the user is logged out here.
 * Returns: MPIN_OK, also if nobody is logged in; MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_session_logout(mpin_session *session, int32_t everywhere);

/** Reads the state, MPIN_SESSION_*.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_session_get_state(mpin_session *session, int32_t *state);

/** The name of the provider of the last login, also after a logout; empty if
 * there was none.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT,
 *   MPIN_BUFFER_TOO_SMALL.
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_get_last_provider(
    mpin_session *session, char *out, size_t *out_len);

/** What the provider says about the user. Empty if it does not say it, and if
 * nobody is logged in.
 *
 * In: name: sub, name, email, email_verified ("true"), picture or updated_at.
 *   email_verified is about this email: both are from one document, the ID
 *   token or userinfo. A login whose documents contradict each other fails.
 * Returns: as mpin_session_get_last_provider().
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_get_claim(
    mpin_session *session, char *out, size_t *out_len, const char *name);

/** The access token. If it is valid for long enough, this makes one system
 * call, stat() of the session's file, which tells whether another process has
 * changed it, and none if the session is in memory; else the tokens are renewed
 * first, and stored before they are returned. Many callers at once make one
 * renewal.
 *
 * In: scope: the scopes that are needed, NULL for those of the login;
 *   min_ttl: for how many seconds the token must be valid, usually 60;
 *   may_interact: 1 if the user may be asked for the PIN, when the provider has
 *   ended the session and has logins by PIN.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT,
 *   MPIN_BUFFER_TOO_SMALL, MPIN_NO_CREDENTIALS, MPIN_NO_REFRESH_TOKEN,
 *   MPIN_RENEW_FAILED, MPIN_LARGE_MIN_TTL, MPIN_LOGIN_REQUIRED,
 *   MPIN_TOKEN_INVALID, MPIN_NETWORK_ERROR, MPIN_HTTP_SERVER_ERROR,
 *   MPIN_TOO_MANY_REQUESTS, MPIN_TIMED_OUT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_get_access_token(
    mpin_session *session, char *out, size_t *out_len, const char *scope,
    int32_t min_ttl, int32_t may_interact);

/** The ID token of the last login or renewal; empty if there is none. It is for
 * a logout at the provider, not for APIs.
 *
 * Returns: as mpin_session_get_last_provider().
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_get_id_token(
    mpin_session *session, char *out, size_t *out_len);

/** The scopes of the access token, separated by spaces; empty if nobody is
 * logged in.
 *
 * Returns: as mpin_session_get_last_provider().
 */
MPIN_API MPIN_CHECK mpin_status
mpin_session_get_scope(mpin_session *session, char *out, size_t *out_len);

/** Reads when the access token expires.
 *
 * Out: expiry: seconds since 1970 of this device's clock; 0 if the provider
 *   does not say, or nobody is logged in.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_session_get_expiry(mpin_session *session, int64_t *expiry);

/** Whether the access token is valid for `min_ttl` more seconds: 1 or 0.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_has_valid(
    mpin_session *session, int32_t *has_valid, int32_t min_ttl);

/** Whether there is a refresh token: 1 or 0.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_session_can_renew(mpin_session *session, int32_t *can_renew);

/** Renews the tokens, also if they are valid.
 *
 * Returns: as mpin_session_get_access_token().
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_renew(mpin_session *session);

/** Has the provider revoke the tokens, and ends the session. If the provider
 * cannot be reached or refuses, the session stays.
 *
 * Returns: MPIN_OK, also if nobody is logged in; MPIN_INVALID_HANDLE,
 *   MPIN_REVOKE_FAILED.
 * Source: RFC 7009.
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_revoke(mpin_session *session);

/** Ends the session here, and tells nobody.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE.
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_clear(mpin_session *session);

/** The value of the header Authorization for a request to an API. If the API
 * answers 401, call this once more with the value as `rejected`, and send the
 * request again, once. If another thread has renewed the token already, that
 * one is returned; else it is renewed.
 *
 * In: url: of the request; its origin must be one of the provider's origins;
 *   rejected: the value that the API has answered with 401, or NULL;
 *   may_interact: as in mpin_session_get_access_token().
 * Returns: as mpin_session_get_access_token(); MPIN_UNTRUSTED_DOMAIN_ERROR if
 *   the token is not for that origin.
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_authorize(
    mpin_session *session, char *out, size_t *out_len, const char *url,
    const char *rejected, int32_t may_interact);

/** An access token to pass on to a smaller app: for one service and some of the
 * scopes. It cannot be renewed. Each call makes a new one; after
 * MPIN_BUFFER_TOO_SMALL it is lost.
 *
 * In: audience: the service, NULL for all; scope: NULL for all.
 * Returns: as mpin_session_get_access_token(); MPIN_EXCHANGE_FAILED.
 * Source: RFC 8693.
 */
MPIN_API MPIN_CHECK mpin_status mpin_session_handover(
    mpin_session *session, char *out, size_t *out_len, const char *audience,
    const char *scope);

#ifdef __cplusplus
}
#endif

#endif
