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
 *   texts never carry a PIN, a token or any other secret. A compiler warns
 *   where a result is ignored, but for functions after whose failure there is
 *   nothing to do, such as mpin_sdk_cancel(). Beside what stands at
 *   a function, one that takes an sdk or a user may return MPIN_FLOW_ERROR
 *   before mpin_sdk_init() and within a callback, MPIN_TIMED_OUT when another
 *   call on the sdk took all its time, MPIN_CANCELED when the sdk is freed
 *   meanwhile or the call is cancelled while it waits for another process,
 *   MPIN_STORAGE_ERROR or MPIN_UNSUPPORTED_FORMAT when another process has
 *   changed the store and it cannot be read, and MPIN_RANDOM_FAILED.
 *
 * Structures begin with `size_t size`, the size as the caller was compiled:
 *   structures of inputs are set to zero first, then filled; of structures of
 *   outputs only `size` need be set. Texts in them are UTF-8 and end in NUL;
 *   one of the server's that is too long for its member is not cut, but ends
 *   the call with MPIN_RESPONSE_PARSE_ERROR.
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
 *   for each other, but for mpin_sdk_cancel, the two of the last error and the
 *   getters of a user, which never wait. mpin_sdk_free while a call is under
 *   way cancels it and waits.
 *
 * Callbacks run in the thread that called the library. One that calls the
 *   same sdk again gets MPIN_FLOW_ERROR. None may leave by longjmp or an
 *   exception.
 *
 * Time: a call that uses the network ends within config.timeout_ms with
 *   MPIN_TIMED_OUT at the latest, or with MPIN_CANCELED soon after
 *   mpin_sdk_cancel. It follows no redirects and speaks plain http only to
 *   loopback addresses, unless config.allow_insecure is set. URLs that the
 *   backend names may lead to the Internet and to the kind of network
 *   (loopback, private, link-local) that the backend was found in by
 *   mpin_sdk_set_backend, else MPIN_UNTRUSTED_DOMAIN_ERROR.
 *
 * Secrets: a PIN is read during the call only; wiping the caller's copy is the
 *   caller's part. Tokens lie on disk encrypted and in memory that is wiped.
 *
 * Sources: "wire section 6.2" is of the Milagro wire protocol, version 0.3
 *   (docs/milagro-wire.md in the sources); "TRUST wire section 4.4" of that of
 *   the MIRACL platform (docs/trust-wire.md). Where none stands the function is
 *   this library's own.
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

/** Grows by one whenever a program must be compiled anew. */
#define MPIN_ABI_VERSION 1

/** The library's version, equal to MPIN_VERSION of the header it was built
 * with. Never freed. */
MPIN_API const char *mpin_version(void);

/** The library's ABI version, to be compared with MPIN_ABI_VERSION. */
MPIN_API int32_t mpin_abi_version(void);

/* ---- Status --------------------------------------------------------- */

typedef int32_t mpin_status;

/* 0-21 have kept their numbers since the Milagro SDK core. What HTTP statuses
 * become: wire section 13. */
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
/** Wrong PIN. The user may be BLOCKED now: ask mpin_user_get_state(). The token
 * is kept: once the operator has unblocked the user, the next login works. */
#define MPIN_INCORRECT_PIN 11
/** Wrong check digit (nothing was sent), or no such session (HTTP 412). */
#define MPIN_INCORRECT_ACCESS_NUMBER 12
/** Any other HTTP 5xx. */
#define MPIN_HTTP_SERVER_ERROR 13
/** Any other HTTP 4xx. */
#define MPIN_HTTP_REQUEST_ERROR 14
/** HTTP 406. */
#define MPIN_BAD_USER_AGENT 15
/** The master secret was changed, or the server has lost the registration with
 * its database: register again (HTTP 409). */
#define MPIN_CLIENT_SECRET_EXPIRED 16
/** The service does not serve this client's version (HTTP 412). */
#define MPIN_BAD_CLIENT_VERSION 17
/** Plain http to another host, a URL that is neither http nor https, or a host
 * that is not in the list of trusted domains. Nothing was sent. */
#define MPIN_UNTRUSTED_DOMAIN_ERROR 18
/** The registration or its code is no longer known (HTTP 404). */
#define MPIN_REGISTRATION_EXPIRED 19
/** An identity that was made from a registration code asks for one. */
#define MPIN_OPERATION_NOT_ALLOWED 20
/** The server refused to verify the user id. */
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
/** The server asks to wait (HTTP 429); mpin_error.retry_after says how long. */
#define MPIN_TOO_MANY_REQUESTS 39
/** The random generator of the system failed. */
#define MPIN_RANDOM_FAILED 40

/** The name of a status without its prefix, such as "INCORRECT_PIN";
 * "UNKNOWN" for a number that is no status. Never freed. */
MPIN_API const char *mpin_status_name(mpin_status status);

/* ---- Context: what the program supplies itself ---------------------- */

/* Every callback may be NULL: the built-in takes its place. `user` is the
 * context's. The built-ins are libcurl, an encrypted file, silence, the clock
 * and the random generator of the system. The first request loads
 * libcurl.so.4; where it is not installed, requests without http_execute end
 * in MPIN_NETWORK_ERROR. */

/** A request that http_execute is to send. Lives during the callback. */
typedef struct mpin_http_request {
    size_t size;
    /** "GET", "POST" or "PUT". */
    const char *method;
    /** Absolute URL. Its query may hold a one-time token: not for logs. */
    const char *url;
    /** Names and values in turn, ended by NULL. */
    const char *const *headers;
    /** `body_len` bytes; without any for GET. */
    const uint8_t *body;
    size_t body_len;
    /** Milliseconds that are left; always above 0. */
    uint32_t timeout_ms;
} mpin_http_request;

/** The answer that http_execute fills. Lives during the callback. */
typedef struct mpin_http_response mpin_http_response;

/** Sets the HTTP status, 100 to 599. Without one there was no answer:
 * MPIN_NETWORK_ERROR.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_http_response_set_status(mpin_http_response *response, int32_t status);

/** Adds a header line of the answer, name and value as texts.
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

/** Whether the call is to end, by mpin_sdk_cancel() or mpin_sdk_free().
 *
 * Out: canceled: 1 or 0.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_http_response_is_canceled(
    mpin_http_response *response, int32_t *canceled);

/** Whether the request may go to an address: a backend must not aim its clients
 * at what only they can reach. To be asked before each connection, with what
 * the name of the host resolves to, but not with the address of a proxy. The
 * last address that was allowed is taken for the server's.
 *
 * In: address: as inet_ntop() writes it: "192.0.2.1", "2001:db8::1".
 * Out: may_connect: 1 or 0.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_http_response_may_connect(
    mpin_http_response *response, const char *address, int32_t *may_connect);

/** Where storage_get puts what is stored. Lives during the callback. */
typedef struct mpin_storage_data mpin_storage_data;

/** Appends `bytes_len` bytes to what is stored.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT;
 *   MPIN_BUFFER_TOO_SMALL beyond 64 MiB.
 */
MPIN_API MPIN_CHECK mpin_status mpin_storage_data_append(
    mpin_storage_data *data, const uint8_t *bytes, size_t bytes_len);

/** Users and tokens, encrypted and authenticated; the larger part. */
#define MPIN_STORAGE_USERS 0
/** The key of the former: 64 hex digits, written once. For the keychain of the
 * device. Not used if mpin_config names a passphrase or a key file, or
 * mpin_context a key. */
#define MPIN_STORAGE_SECURE 1

#define MPIN_LOG_DEBUG 1
#define MPIN_LOG_INFO 2
#define MPIN_LOG_WARNING 3
#define MPIN_LOG_ERROR 4

typedef struct mpin_context {
    size_t size;
    /** Handed to every callback. */
    void *user;
    /** Sends a request and fills the answer. Follows no redirects and keeps to
     * timeout_ms; looks now and then whether the call is canceled.
     *
     * Before it connects it asks mpin_http_response_may_connect(), with each
     * address that the name of the host resolves to. Of a callback that does
     * not, only hosts that are addresses, or localhost, are refused where they
     * are of another kind than the backend.
     *
     * Returns: MPIN_OK for an answer of any HTTP status; else
     *   MPIN_NETWORK_ERROR, MPIN_TIMED_OUT or MPIN_CANCELED; anything else
     *   counts as MPIN_NETWORK_ERROR. */
    mpin_status (*http_execute)(
        void *user, const mpin_http_request *request,
        mpin_http_response *response);
    /** Appends what is stored under `kind`, MPIN_STORAGE_*, to `data`; nothing
     * if nothing is stored: then the next save begins anew. Only together
     * with storage_set.
     *
     * Returns: MPIN_OK; anything else counts as MPIN_STORAGE_ERROR. */
    mpin_status (*storage_get)(
        void *user, mpin_storage_data *data, int32_t kind);
    /** Stores `bytes` under `kind` in the place of what was there, whole or
     * not at all. What is stored so is for one sdk at a time; damaged records
     * are left out of what is stored next.
     *
     * Returns: MPIN_OK; anything else counts as MPIN_STORAGE_ERROR. */
    mpin_status (*storage_set)(
        void *user, int32_t kind, const uint8_t *bytes, size_t bytes_len);
    /** Supplies the key of the store, 32 bytes, whenever it is opened.
     *
     * Returns: MPIN_OK; anything else counts as MPIN_STORAGE_ERROR. */
    mpin_status (*storage_key)(void *user, uint8_t key[32]);
    /** Takes one line of text; `level` is MPIN_LOG_*. It holds no secret. */
    void (*log)(void *user, int32_t level, const char *text);
    /** The time in milliseconds since 1970-01-01 UTC.
     *
     * Returns: MPIN_OK; anything else counts as MPIN_FLOW_ERROR. */
    mpin_status (*now)(void *user, int64_t *milliseconds);
    /** Fills `out` with random bytes fit for keys.
     *
     * Returns: MPIN_OK; anything else counts as MPIN_RANDOM_FAILED. */
    mpin_status (*random)(void *user, uint8_t *out, size_t out_len);
} mpin_context;

/* ---- Life cycle ----------------------------------------------------- */

/** One client: settings, backend, users, store. */
typedef struct mpin_sdk mpin_sdk;

/** One identity: a user id at a backend, of one customer and application where
 * the server has several. */
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
     * Required unless the context has storage callbacks. */
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
    /** Milliseconds that one call may take; 0: 30000. Half a second more where
     * another process keeps it from storing what a server has done. */
    uint32_t timeout_ms;
    /** 1 allows plain http to any host. For tests. */
    uint32_t allow_insecure;
    /** Passphrase that the store's key is made from (Argon2id), instead of a
     * key file; NULL: none. Read during mpin_sdk_init() only. A store has one
     * key: naming two of key file, passphrase and mpin_context.storage_key is
     * MPIN_INVALID_ARGUMENT. */
    const char *storage_passphrase;
    /** Proxy of all requests that leave this machine: http://host:port; NULL:
     * that of the environment (https_proxy, no_proxy). It looks names up, so
     * behind it only hosts that are written as addresses are checked for
     * loopback and private ones (SECURITY.md, "A bad backend"). */
    const char *proxy;
    /** Public keys that the backend's certificate may have:
     * "sha256//BASE64;sha256//BASE64" of the SubjectPublicKeyInfo; NULL: any
     * that a trusted authority vouches for. */
    const char *pinned_keys;
    /** As mpin_sdk_set_client_id(); NULL: none. */
    const char *client_id;
    /** The program's own callbacks; copied; NULL: none. */
    const mpin_context *context;
} mpin_config;

/** Makes an sdk that knows nothing yet.
 *
 * Returns: MPIN_OK, MPIN_INVALID_ARGUMENT.
 * Out: sdk: the new handle, released by mpin_sdk_free().
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_new(mpin_sdk **sdk);

/** Releases an sdk; wipes what it holds. What is stored stays stored. NULL, a
 * stale and a foreign handle do nothing. */
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

/** Undoes mpin_sdk_init(): forgets users, settings, backend, headers and
 * trusted domains in memory. What is stored stays stored.
 *
 * Returns: MPIN_OK, also where there was no mpin_sdk_init();
 *   MPIN_INVALID_HANDLE.
 */
MPIN_API mpin_status mpin_sdk_destroy(mpin_sdk *sdk);

/** Forgets the users in memory; the store keeps them. mpin_sdk_init() loads
 * them again, after mpin_sdk_destroy() or in another sdk.
 *
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_INVALID_HANDLE.
 */
MPIN_API mpin_status mpin_sdk_clear_users(mpin_sdk *sdk);

/** Ends the call that is under way on this sdk, from any thread: it returns
 * MPIN_CANCELED. Without one nothing happens. Calls that wait for their turn
 * go on.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE.
 */
MPIN_API mpin_status mpin_sdk_cancel(mpin_sdk *sdk);

/** What went wrong in the last call on this sdk that failed in this thread;
 * empty if none has. With the HTTP status and the server's own words, if any.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT,
 *   MPIN_BUFFER_TOO_SMALL.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_last_error(mpin_sdk *sdk, char *out, size_t *out_len);

/** What mpin_sdk_last_error() says, in parts. */
typedef struct mpin_error {
    size_t size;
    /** MPIN_OK if no call has failed. */
    mpin_status status;
    /** HTTP status of the answer; 0: there was none. */
    int32_t http_status;
    /** Seconds that the server asks to wait (Retry-After); 0: none. */
    int64_t retry_after;
    /** As mpin_sdk_last_error(), cut to fit. */
    char text[512];
    /** The server's own words, cut to fit; may be empty. */
    char server_error[256];
    /** The server's name of the request (X-Request-Id); may be empty. */
    char request_id[128];
} mpin_error;

/** Out: error: about the last call on this sdk that failed in this thread.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_get_last_error(mpin_sdk *sdk, mpin_error *error);

/** Out: attempts_left: after MPIN_INCORRECT_PIN in this thread, how many more
 *   wrong PINs the server takes before it blocks the user; -1 if it does not
 *   tell, or if the last call that failed has failed for another reason.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_get_attempts_left(mpin_sdk *sdk, int32_t *attempts_left);

/** The number of damaged records that were found when the store was last read.
 * They were set aside in a file beside it; the others are usable.
 *
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_damaged_records(mpin_sdk *sdk, size_t *count);

/** Checks the arithmetic against known answers: a registration, a login with
 * the right PIN and one with a wrong PIN, all without network or storage.
 *
 * Returns: MPIN_OK, MPIN_CRYPTO_ERROR.
 * Source: the test vector of wire section 16.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_self_test(void);

/* ---- Backend -------------------------------------------------------- */

/** Asks a backend for its client settings and keeps nothing.
 *
 * In: url: base URL; rps_prefix: NULL for the configured one.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_NETWORK_ERROR,
 *   MPIN_RESPONSE_PARSE_ERROR, MPIN_UNTRUSTED_DOMAIN_ERROR,
 *   MPIN_HTTP_REQUEST_ERROR, MPIN_HTTP_SERVER_ERROR, MPIN_BAD_USER_AGENT,
 *   MPIN_TOO_MANY_REQUESTS, MPIN_TIMED_OUT, MPIN_CANCELED,
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 * Source: wire section 6.1.
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
 * In: key: the name of the member, such as "appID" (wire section 6.1).
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (no backend), MPIN_BUFFER_TOO_SMALL,
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_client_param(
    mpin_sdk *sdk, char *out, size_t *out_len, const char *key);

/** Names the client to the server, in the header X-MIRACL-CID (and
 * X-MIRACL-Client-ID) of every request; NULL or empty: no header.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_set_client_id(mpin_sdk *sdk, const char *client_id);

/** Adds a header to every request. One of the same name is replaced.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE; MPIN_INVALID_ARGUMENT for a name that
 *   is no token, a value with control characters, and for Host,
 *   Content-Length, Content-Type, Transfer-Encoding, Connection and Expect.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_add_custom_header(
    mpin_sdk *sdk, const char *name, const char *value);

/** Forgets the added headers; the client id stays.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE.
 */
MPIN_API mpin_status mpin_sdk_clear_custom_headers(mpin_sdk *sdk);

/** Adds a domain to the trusted ones. With one or more in the list, requests
 * go by https only, and only to hosts that equal a trusted domain or end in
 * one by whole labels: "miracl.com" allows "api.miracl.com" and not
 * "evilmiracl.com". With none every host is allowed.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT (no host name).
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_add_trusted_domain(mpin_sdk *sdk, const char *domain);

/** Empties the list: every host is allowed.
 *
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE.
 */
MPIN_API mpin_status mpin_sdk_clear_trusted_domains(mpin_sdk *sdk);

/** A service that a web page offers to clients. */
typedef struct mpin_service_details {
    size_t size;
    char name[256];
    /** For mpin_sdk_set_backend(). */
    char backend_url[1024];
    char rps_prefix[64];
    char logo_url[1024];
} mpin_service_details;

/** Asks the page at `url` for its service (GET url/service).
 *
 * Out: details: texts, of which the server may leave some empty.
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

/** Makes a user of the current backend, in state INVALID. Nothing is stored
 * or sent. For an id that is known here, the known user. Ids that Unicode
 * calls canonically equivalent (a letter with its accent composed or not) are
 * one here; on the wire goes the id as it was given first.
 *
 * Out: user: a handle, released by mpin_user_free().
 * In: id: an empty one is for the server to refuse, as in the old cores;
 *   device_name: may be NULL.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (no backend), MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_make_new_user(
    mpin_sdk *sdk, mpin_user **user, const char *id, const char *device_name);

/** The same at a server of several customers, where the same id at another
 * customer is another user.
 *
 * In: customer_id, app_id: of the user, as mpin_session_details or the server
 *   names them; NULL for any. With empty ones the user gets those that the
 *   server names at registration; with others the server must name none or
 *   the same, else mpin_sdk_start_registration_mfa() returns
 *   MPIN_RESPONSE_PARSE_ERROR. For a user whose customer turns out to have a
 *   user of that id here already it returns MPIN_FLOW_ERROR, unless that one
 *   was forgotten by mpin_sdk_clear_users(): it is replaced.
 * Out, returns: as mpin_sdk_make_new_user().
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_make_new_user_mfa(
    mpin_sdk *sdk, mpin_user **user, const char *id, const char *device_name,
    const char *customer_id, const char *app_id);

/** The user of that id at the current backend; if several customers have one,
 * the first by customer and application, one in state INVALID last.
 *
 * Out: user: a handle, released by mpin_user_free(); NULL if there is none.
 * Returns: MPIN_OK (also if there is none), MPIN_FLOW_ERROR,
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_get_user(mpin_sdk *sdk, mpin_user **user, const char *id);

/** The same of one customer and application.
 *
 * In: customer_id, app_id: NULL for any, empty for none.
 * Out, returns: as mpin_sdk_get_user().
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_user_mfa(
    mpin_sdk *sdk, mpin_user **user, const char *id, const char *customer_id,
    const char *app_id);

/** The users of the current backend, or of all backends, sorted by id, then by
 * backend, customer and application. A user that was made and never started is
 * not among them.
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

/** The users of one backend, current or not; else as mpin_sdk_list_users(). */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_list_backend_users(
    mpin_sdk *sdk, mpin_user **users, size_t *count, const char *backend);

/** The base URLs that there are users of, sorted, each followed by a newline.
 *
 * Returns: MPIN_OK, MPIN_BUFFER_TOO_SMALL, MPIN_FLOW_ERROR,
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_list_backends(mpin_sdk *sdk, char *out, size_t *out_len);

/** Whether a user is known at the current backend.
 *
 * Out: exists: 1 or 0. In: customer_id, app_id: NULL for any, empty for none.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR, MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_user_exists(
    mpin_sdk *sdk, int32_t *exists, const char *id, const char *customer_id,
    const char *app_id);

/** Erases a user with its token here, in memory and in the store. The server
 * is not told. The user becomes INVALID.
 *
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_STORAGE_ERROR,
 *   MPIN_INVALID_HANDLE.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_delete_user(mpin_sdk *sdk, mpin_user *user);

/** Erases the users of all backends with their tokens here, in memory and in
 * the store. Beside mpin_sdk_clear_users(), which only forgets them, it is the
 * one for a device that changes hands; damaged records that were set aside
 * stay. The servers are not told. The users become INVALID.
 *
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised), MPIN_STORAGE_ERROR
 *   (nothing was erased), MPIN_INVALID_HANDLE.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_delete_users(mpin_sdk *sdk);

/** Releases a handle. The user itself stays. NULL, a stale and a foreign handle
 * do nothing. */
MPIN_API void mpin_user_free(mpin_user *user);

/* Getters. Returns: MPIN_OK, MPIN_BUFFER_TOO_SMALL, MPIN_INVALID_HANDLE,
 * MPIN_INVALID_ARGUMENT. */

/** The user id. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_id(mpin_user *user, char *out, size_t *out_len);

/** The base URL of the backend. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_backend(mpin_user *user, char *out, size_t *out_len);

/** The M-Pin ID in hex, two digits a byte; empty before the registration has
 * started (wire section 4). */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_mpin_id(mpin_user *user, char *out, size_t *out_len);

/** Out: state: one of MPIN_USER_*. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_state(mpin_user *user, int32_t *state);

/** Out: state: in the numbers of the Milagro cores, which know no
 * STARTED_VERIFICATION: 0 INVALID, 1 STARTED_REGISTRATION, 2 ACTIVATED,
 * 3 REGISTERED, 4 BLOCKED. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_state_legacy(mpin_user *user, int32_t *state);

/** Names of the customer and of the application, as the server gave them at
 * registration or mpin_sdk_make_new_user_mfa() before; may be empty. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_customer_id(mpin_user *user, char *out, size_t *out_len);
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_app_id(mpin_user *user, char *out, size_t *out_len);

/** As given to mpin_sdk_make_new_user(); may be empty. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_device_name(mpin_user *user, char *out, size_t *out_len);

/** Out: digits: of a PIN at this backend: 4 to 6; 0 where the server does not
 * say and each of them will do. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_pin_length(mpin_user *user, int32_t *digits);

/** How the server has verified the user id, in its own words: "em" by mail,
 * "pv" by the application's own verification, "rc" by a registration code,
 * "dvs" by a renewal; empty where it does not say.
 * Source: TRUST wire sections 2.1 and 4.6. */
MPIN_API MPIN_CHECK mpin_status mpin_user_get_verification_type(
    mpin_user *user, char *out, size_t *out_len);

/** Out: can_sign: 1 if the user has a signing key, else 0. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_get_can_sign(mpin_user *user, int32_t *can_sign);

/** When a registration ends, in seconds since 1970 of the server's clock; both
 * 0 where the server does not say. */
typedef struct mpin_expiration {
    size_t size;
    int64_t expire_time;
    /** The server's clock at the answer. */
    int64_t now_time;
} mpin_expiration;

/** When the registration that has been started ends. */
MPIN_API MPIN_CHECK mpin_status mpin_user_get_registration_expiration(
    mpin_user *user, mpin_expiration *expiration);

/* ---- Import --------------------------------------------------------- */

/** Milagro core: `users` is its non-secure JSON, `secure` its secure one. */
#define MPIN_IMPORT_MILAGRO 1
/** MIRACL MFA core: the same pair, version 1. */
#define MPIN_IMPORT_MFA 2
/** client-js: `users` is the list under its key `mfa`; `secure` is NULL. */
#define MPIN_IMPORT_CLIENT_JS 3

/** Takes over the users that another client has stored. Each keeps the PIN
 * mapping of its client, so the PIN stays the same. A user that is known here
 * already, or whose record is damaged, is left out; one that names no customer
 * or application is known by those it names.
 *
 * Out: imported: the number of users taken over.
 * In: format: MPIN_IMPORT_*; users, secure: JSON texts. For records without a
 *   backend the current one is taken.
 * Returns: MPIN_OK, MPIN_FLOW_ERROR (not initialised, or no backend),
 *   MPIN_STORAGE_ERROR (no such JSON, or the store cannot be written: nothing
 *   was imported), MPIN_UNSUPPORTED_FORMAT (a newer version),
 *   MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 * Source: wire section 13, TRUST wire section 8.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_import_storage(
    mpin_sdk *sdk, size_t *imported, int32_t format, const char *users,
    const char *secure);

/* ---- Verification --------------------------------------------------- */

/** What a verification gives. */
typedef struct mpin_verification {
    size_t size;
    /** Seconds since 1970 of the server's clock; 0 where it does not say. */
    int64_t expire_time;
    /** The browser's session that asked for the verification; may be empty. */
    char access_id[256];
    /** For mpin_sdk_start_registration_mfa(), as its activate_code. */
    char activation_token[1024];
} mpin_verification;

/** Asks the server to mail a code that verifies the user id.
 * State: INVALID -> STARTED_VERIFICATION.
 *
 * In: client_id: of the application; access_code: the browser's session, may be
 *   NULL.
 * Returns also what mpin_sdk_start_registration() returns, and
 *   MPIN_VERIFICATION_FAILED.
 * Source: TRUST wire sections 4.4 and 7.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_start_verification(
    mpin_sdk *sdk, mpin_user *user, const char *client_id,
    const char *access_code);

/** Proves the code of the mail. State: STARTED_VERIFICATION, unchanged.
 *
 * In: code: as the mail has it.
 * Returns: as mpin_sdk_start_verification().
 * Source: TRUST wire section 4.5.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_verification(
    mpin_sdk *sdk, mpin_user *user, mpin_verification *verification,
    const char *code);

/* ---- Registration --------------------------------------------------- */

/* The functions of this and the next part also return, where they talk to a
 * server: MPIN_NETWORK_ERROR, MPIN_RESPONSE_PARSE_ERROR,
 * MPIN_UNTRUSTED_DOMAIN_ERROR, MPIN_HTTP_REQUEST_ERROR,
 * MPIN_HTTP_SERVER_ERROR, MPIN_BAD_USER_AGENT, MPIN_TOO_MANY_REQUESTS,
 * MPIN_TIMED_OUT, MPIN_CANCELED; and always MPIN_FLOW_ERROR for another state
 * than the one named, MPIN_STORAGE_ERROR, MPIN_INVALID_HANDLE,
 * MPIN_INVALID_ARGUMENT. A failure leaves the state of the user as it was,
 * unless stated. */

/** Asks a Milagro server for a registration; it then mails the user a link.
 * State: INVALID -> STARTED_REGISTRATION, or ACTIVATED if the server asks for
 * no confirmation.
 *
 * In: activate_code: what the application or another device gave the user, may
 *   be NULL; a right one spares the confirmation, a wrong one is
 *   MPIN_IDENTITY_NOT_AUTHORIZED;
 *   user_data: for the application, may be NULL.
 * Returns also: MPIN_IDENTITY_NOT_AUTHORIZED.
 * Source: wire section 6.2.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_start_registration(
    mpin_sdk *sdk, mpin_user *user, const char *activate_code,
    const char *user_data);

/** The same at a MIRACL MFA server.
 * State: INVALID or STARTED_VERIFICATION -> as above.
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

/** Completes a registration token of which the server keeps back a part until
 * the user opens the link. State: STARTED_REGISTRATION, unchanged.
 *
 * In: token: the part that the link carries, 1 to 1024 visible ASCII
 *   characters.
 * Returns also: MPIN_FLOW_ERROR if the token is whole.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_set_registration_token(
    mpin_sdk *sdk, mpin_user *user, const char *token);

/** Out: is_set: 1 if the registration token is whole, else 0.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT. */
MPIN_API MPIN_CHECK mpin_status
mpin_user_is_registration_token_set(mpin_user *user, int32_t *is_set);

/** Asks for the mail again, for the same registration.
 * State: STARTED_REGISTRATION -> STARTED_REGISTRATION or ACTIVATED.
 *
 * In: user_data: for the application, may be NULL.
 * Returns also: MPIN_IDENTITY_NOT_AUTHORIZED, MPIN_REGISTRATION_EXPIRED (MIRACL
 *   MFA).
 * Source: wire section 6.2.
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
 *   ended), MPIN_REGISTRATION_EXPIRED (MIRACL MFA), MPIN_REQUEST_EXPIRED,
 *   MPIN_CRYPTO_ERROR.
 * Source: wire sections 6.3 and 9.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_confirm_registration(
    mpin_sdk *sdk, mpin_user *user, const char *push_id);

/** Makes the token from the client secret and the PIN, and stores it. Where
 * the server wants to know that, it is told, for three seconds at most: it then
 * hands the shares out to nobody any more. The result does not depend on it.
 * State: STARTED_REGISTRATION or ACTIVATED -> REGISTERED.
 *
 * In: pin: 4 to 6 decimal digits; an empty one means that the user gave up.
 * Returns also: MPIN_PIN_INPUT_CANCELED, MPIN_PIN_INVALID, MPIN_CRYPTO_ERROR;
 *   MPIN_FLOW_ERROR if the shares are not there.
 * Source: wire sections 6.4 and 12.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_registration(
    mpin_sdk *sdk, mpin_user *user, const char *pin);

/** Gives a further factor, such as a second PIN. The next call of this user
 * that takes a PIN uses it beside the PIN, and however that ends it is
 * forgotten. May be called several times; the order does not matter. A login
 * needs the same factors as the registration.
 *
 * In: factor: 4 to 6 decimal digits.
 * Returns: MPIN_OK, MPIN_PIN_INVALID, MPIN_FLOW_ERROR (eight factors are
 *   there), MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 * Source: TRUST wire section 1.6.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_add_factor(mpin_sdk *sdk, mpin_user *user, const char *factor);

/** Replaces the PIN without the server: the stored token is changed by the
 * difference of the two. State: REGISTERED, unchanged. Only straight after a
 * successful login of this user with old_pin, for with a wrong old PIN the
 * token would be lost.
 *
 * In: old_pin, new_pin: as in mpin_sdk_finish_registration().
 * Returns also: MPIN_PIN_INVALID, MPIN_PIN_INPUT_CANCELED, MPIN_CRYPTO_ERROR,
 *   MPIN_INCORRECT_PIN (the login was with another PIN; nothing was changed),
 *   MPIN_FLOW_ERROR (no such login).
 * Source: TRUST wire section 1.6.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_change_pin(
    mpin_sdk *sdk, mpin_user *user, const char *old_pin, const char *new_pin);

/* ---- Authentication ------------------------------------------------- */

/** Fetches today's time permit, if the backend uses them.
 * State: REGISTERED or BLOCKED, unchanged. A BLOCKED user may try again:
 * whether the operator has unblocked it the server says in the end. (The old
 * cores returned MPIN_FLOW_ERROR, for they had erased the token.)
 *
 * Returns also: MPIN_REVOKED, MPIN_CRYPTO_ERROR; MPIN_FLOW_ERROR for a user
 *   without a token, whom an old client has blocked.
 * Source: wire sections 6.5, 9 and 10.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_start_authentication(mpin_sdk *sdk, mpin_user *user);

/** Proves PIN and token to the server. State: REGISTERED or BLOCKED; then
 * BLOCKED when the server says that the last attempt is used up (the result is
 * then MPIN_INCORRECT_PIN, too), else REGISTERED when it has judged the PIN,
 * right or wrong. The token stays stored; what has to be started again after a
 * block is the login.
 *
 * A MIRACL server whose master secret was changed may ask every login and
 * mpin_sdk_sign() for a new token: it is fetched and stored for the same PIN
 * and factors, with another M-Pin ID or a key pair if the server says so, and
 * proved at once. Of a user with a signing key of its own no key pair can be
 * made for logins: MPIN_CLIENT_SECRET_EXPIRED.
 *
 * Out: auth_data: the answer of the application, JSON text; auth_data_len:
 *   its size. Both may be NULL. If the buffer is too small the login has
 *   succeeded all the same: MPIN_BUFFER_TOO_SMALL, and
 *   mpin_sdk_get_auth_data() reads the answer again.
 * In: pin: as in mpin_sdk_finish_registration().
 * Returns also: MPIN_INCORRECT_PIN, MPIN_PIN_INPUT_CANCELED, MPIN_PIN_INVALID,
 *   MPIN_IDENTITY_NOT_AUTHORIZED, MPIN_REQUEST_EXPIRED,
 *   MPIN_CLIENT_SECRET_EXPIRED, MPIN_CRYPTO_ERROR; MPIN_FLOW_ERROR if the
 *   backend uses time permits and mpin_sdk_start_authentication() has not been
 *   called for this user. After a successful login and after a wrong PIN it
 *   need not be called again: the next one starts by itself, and may return
 *   what a start returns. After a block it must.
 * Source: wire sections 6.6, 6.7 and 8.3; TRUST wire sections 4.11 and 7.1.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_authentication(
    mpin_sdk *sdk, mpin_user *user, char *auth_data, size_t *auth_data_len,
    const char *pin);

/** Out: out: the answer of the application to the last login of this user, as
 * auth_data above; empty before one.
 *
 * Returns: MPIN_OK, MPIN_BUFFER_TOO_SMALL, MPIN_INVALID_HANDLE,
 *   MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_auth_data(
    mpin_sdk *sdk, mpin_user *user, char *out, size_t *out_len);

/** As mpin_sdk_start_authentication(), for a browser's session: its page is
 * told first who is about to log in, where the backend has a way to do that.
 *
 * In: access_code: access number or the part of the QR URL after '#'; not
 *   empty.
 * Returns: as mpin_sdk_start_authentication().
 * Source: wire section 6.12.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_start_authentication_mfa(
    mpin_sdk *sdk, mpin_user *user, const char *access_code);

/** Checks the digits of an access number as the backend's settings ask; sends
 * nothing.
 *
 * In: access_number: not empty; one of seven digits is checked, what is longer
 *   or shorter is for the server to judge.
 * Returns: MPIN_OK, MPIN_INCORRECT_ACCESS_NUMBER, MPIN_FLOW_ERROR (no
 *   backend), MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT.
 * Source: wire section 6.9.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_check_access_number(mpin_sdk *sdk, const char *access_number);

/** Logs a browser in that shows an access number or a QR code. States as in
 * mpin_sdk_finish_authentication().
 *
 * In: pin: as above; access_number: the number, or the part of the QR URL
 *   after '#'.
 * Returns also: as mpin_sdk_finish_authentication(), and
 *   MPIN_INCORRECT_ACCESS_NUMBER; MPIN_REQUEST_EXPIRED if the browser did not
 *   pick the login up.
 * Source: wire sections 6.6 to 6.9.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_authentication_an(
    mpin_sdk *sdk, mpin_user *user, const char *pin,
    const char *access_number);

/** Logs in and gets an authorization code, for the application's own server.
 *
 * Out: authz_code, authz_code_len: text, as auth_data above; empty if the
 *   server issues none.
 * In: pin: as above; access_code: a browser's session, may be NULL.
 * Returns also: as mpin_sdk_finish_authentication_an().
 * Source: TRUST wire section 7.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_authentication_mfa(
    mpin_sdk *sdk, mpin_user *user, char *authz_code, size_t *authz_code_len,
    const char *pin, const char *access_code);

/** A code that is good for a short time. */
typedef struct mpin_otp {
    size_t size;
    /** MPIN_OK; MPIN_RESPONSE_PARSE_ERROR if the server left out one of its
     * times, which is 0 then; MPIN_FLOW_ERROR if it issued no code. The login
     * has succeeded all the same. */
    mpin_status status;
    /** How long it is good, in seconds. */
    int32_t ttl_seconds;
    /** When it ends, in seconds since 1970 of the server's clock. */
    int64_t expire_time;
    /** The server's clock at the answer, the same way. */
    int64_t now_time;
    /** The code itself; empty if `status` is MPIN_FLOW_ERROR. */
    char otp[64];
} mpin_otp;

/** As mpin_sdk_start_authentication(), for a one-time password.
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

/** As mpin_sdk_start_authentication(), for a registration code.
 * Returns: as mpin_sdk_start_authentication(); MPIN_FLOW_ERROR where the server
 *   gives no such codes: an old Milagro server's digits register nothing. */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_start_authentication_reg_code(mpin_sdk *sdk, mpin_user *user);

/** Logs in and gets a code that registers another device of the same user: it
 * is the activate_code of mpin_sdk_start_registration() there.
 *
 * In: pin: as in mpin_sdk_finish_registration().
 * Returns also: as mpin_sdk_finish_authentication(), and
 *   MPIN_OPERATION_NOT_ALLOWED, MPIN_FLOW_ERROR (no such codes).
 * Source: TRUST wire sections 4.12 and 7.4.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_authentication_reg_code(
    mpin_sdk *sdk, mpin_user *user, mpin_otp *reg_code, const char *pin);

/** Out: can_logout: 1 if the last login can be ended from here, else 0.
 * Returns: MPIN_OK, MPIN_INVALID_HANDLE, MPIN_INVALID_ARGUMENT. */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_can_logout(mpin_sdk *sdk, mpin_user *user, int32_t *can_logout);

/** Ends the session that the last login began; once.
 *
 * Returns also: MPIN_FLOW_ERROR if mpin_sdk_can_logout() says 0.
 * Source: wire section 8.5.
 */
MPIN_API MPIN_CHECK mpin_status
mpin_sdk_logout(mpin_sdk *sdk, mpin_user *user);

/* ---- Sessions of a browser ------------------------------------------ */

/** Who asks for a login. What the server does not say is empty. */
typedef struct mpin_session_details {
    size_t size;
    /** 1 if the session is for registration only. */
    int32_t register_only;
    /** The user id that the page proposes. */
    char preroll_id[256];
    char app_name[256];
    char app_icon_url[1024];
    char customer_id[256];
    char customer_name[256];
    char customer_icon_url[1024];
    char client_id[256];
    char redirect_uri[1024];
} mpin_session_details;

/** Asks who shows this code; the page learns that it was read. Where the
 * backend knows no such question all details are empty.
 *
 * In: access_code: access number or the part of the QR URL after '#'; what an
 *   empty one stands for is for the server to say.
 * Returns: as mpin_sdk_test_backend(), and MPIN_INCORRECT_ACCESS_NUMBER.
 * Source: wire section 6.12, TRUST wire section 4.13.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_session_details(
    mpin_sdk *sdk, mpin_session_details *details, const char *access_code);

/** Tells the page that the user declined.
 *
 * In, returns, source: as mpin_sdk_get_session_details().
 */
MPIN_API mpin_status
mpin_sdk_abort_session(mpin_sdk *sdk, const char *access_code);

/** Opens a session at an authorization endpoint, for a login on this device.
 *
 * Out: out: the session's code, for the functions that take an access_code.
 * In: authz_url: URL of that endpoint, with its query.
 * Returns: as mpin_sdk_test_backend(), and MPIN_BUFFER_TOO_SMALL. Every call
 *   opens another session, also one that only asks for the size: 256 bytes
 *   hold what servers give.
 * Source: TRUST wire section 7.1.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_get_access_code(
    mpin_sdk *sdk, char *out, size_t *out_len, const char *authz_url);

/* ---- Signing (designated verifier signatures) ----------------------- */

/* In bytes: SHA-256; a G1 point, 04 || x || y; a G2 point. */
#define MPIN_DOCUMENT_HASH_SIZE 32
#define MPIN_SIGNATURE_POINT_SIZE 65
#define MPIN_PUBLIC_KEY_SIZE 128

/** Logs in and gets leave to register a signing key.
 * State: REGISTERED, unchanged.
 *
 * In: pin: the login PIN.
 * Returns also: as mpin_sdk_finish_authentication(); MPIN_FLOW_ERROR for a
 *   user with a key pair for logins, who signs with that and the login PIN.
 * Source: TRUST wire sections 1.4 and 7.4.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_start_registration_dvs(
    mpin_sdk *sdk, mpin_user *user, const char *pin);

/** Makes and stores the signing token. mpin_user_get_can_sign() says 1 then.
 * Sends nothing. State: REGISTERED, unchanged.
 *
 * In: pin: the signing PIN; it may differ from the login PIN.
 * Returns also: MPIN_PIN_INPUT_CANCELED, MPIN_PIN_INVALID, MPIN_CRYPTO_ERROR;
 *   MPIN_FLOW_ERROR without mpin_sdk_start_registration_dvs().
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_finish_registration_dvs(
    mpin_sdk *sdk, mpin_user *user, const char *pin);

/** SHA-256 of a document.
 *
 * Out: hash: 32 bytes. In: document: `document_len` bytes, not NULL.
 * Returns: MPIN_OK, MPIN_INVALID_ARGUMENT.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_hash_document(
    uint8_t hash[MPIN_DOCUMENT_HASH_SIZE], const uint8_t *document,
    size_t document_len);

/** Out: is_same: 1 if `hash` is the document's, else 0; in constant time.
 * Returns: MPIN_OK, MPIN_INVALID_ARGUMENT. */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_verify_document(
    int32_t *is_same, const uint8_t *document, size_t document_len,
    const uint8_t hash[MPIN_DOCUMENT_HASH_SIZE]);

/** What the verifier needs beside the hash, which is the caller's own. */
typedef struct mpin_signature {
    size_t size;
    /** Seconds since 1970, as signed. */
    int64_t timestamp;
    /** The signature: two G1 points. */
    uint8_t u[MPIN_SIGNATURE_POINT_SIZE];
    uint8_t v[MPIN_SIGNATURE_POINT_SIZE];
    /** Of the signer: a G2 point. */
    uint8_t public_key[MPIN_PUBLIC_KEY_SIZE];
    /** Of the signer, in hex. */
    char mpin_id[4096];
    /** Base64; which D-TAs made the key. */
    char dtas[1024];
} mpin_signature;

/** Signs a hash. The server checks the PIN first.
 *
 * Out: signature.
 * In: hash: 1 to 256 bytes, as a rule MPIN_DOCUMENT_HASH_SIZE; pin: the
 *   signing PIN; epoch_time: seconds since 1970, below 2^32; 0: now;
 *   authz_token: the leave of the application's server, may be NULL.
 * Returns also: as mpin_sdk_finish_authentication(); MPIN_FLOW_ERROR if the
 *   user cannot sign.
 * Source: TRUST wire section 1.9.
 */
MPIN_API MPIN_CHECK mpin_status mpin_sdk_sign(
    mpin_sdk *sdk, mpin_user *user, mpin_signature *signature,
    const uint8_t *hash, size_t hash_len, const char *pin,
    int64_t epoch_time, const char *authz_token);

#ifdef __cplusplus
}
#endif

#endif
