/* A MIRACL MFA server behind the callback http_execute: written from the wire
 * texts, not recorded. It judges proofs with mpin_crypto.h. Any request can be
 * given another answer, to see what the client makes of it. */
#ifndef MFA_SERVER_H
#define MFA_SERVER_H

#include "check.h"

#include <ctype.h>
#include <mpin.h>
#include <mpin_crypto.h>
#include <stdio.h>
#include <stdlib.h>

#define MFA_URL "https://mfa.example.com"
#define MFA_SETTINGS                                                           \
    "{\"appID\":\"c0ffee\",\"registerURL\":\"/rps/user\","                     \
    "\"signatureURL\":\"/rps/signature\",\"certivoxURL\":\"/dta/\","           \
    "\"timePermitsURL\":\"/rps/timePermit\","                                  \
    "\"mpinAuthServerURL\":\"/rps\",\"authenticateURL\":\"/authenticate\","    \
    "\"mobileAuthenticateURL\":\"/mobileAuthenticate\","                       \
    "\"codeStatusURL\":\"/rps/codeStatus\",\"usePermits\":false,"              \
    "\"accessNumberUseCheckSum\":true,\"cSum\":1,\"pinLength\":4}"
#define ARG(array) array, sizeof(array)

enum { ANSWER = 16384 };

static struct {
    /* The answer to the next request whose URL holds `path`, if not NULL. */
    const char *path, *body;
    int status;
    /* What the last request was. */
    char url[2048], headers[2048], request[8192];
    int requests;
    uint8_t s1[MPIN_SCALAR_SIZE], s2[MPIN_SCALAR_SIZE], y[MPIN_SCALAR_SIZE];
    mpin_crypto_server_context *context;
    /* The identity that is proved and its commitment. */
    uint8_t id[2048], key[MPIN_G2_SIZE], u[MPIN_G1_SIZE];
    size_t id_size, key_size;
    int is_right, wrong_pins, issued;
    const char *user, *customer;
    /* Of the signing identity. */
    char signing_id[1024];
    /* What the next login with the right PIN is asked for. */
    enum { NO_RENEWAL, NEW_SHARES, NEW_KEY_PAIR } renewal;
    /* What the name of the host resolves to; NULL: an address of the Internet. */
    const char *address;
} mfa;

static void mfa_start(void)
{
    uint8_t a[MPIN_G2_SIZE], b[MPIN_G2_SIZE], sum[MPIN_G2_SIZE];
    memset(&mfa, 0, sizeof mfa);
    mfa.customer = "customer";
    CHECK_STATUS(mpin_crypto_random_generate(ARG(mfa.s1)), 0);
    CHECK_STATUS(mpin_crypto_random_generate(ARG(mfa.s2)), 0);
    CHECK_STATUS(mpin_crypto_get_server_secret(ARG(a), ARG(mfa.s1)), 0);
    CHECK_STATUS(mpin_crypto_get_server_secret(ARG(b), ARG(mfa.s2)), 0);
    CHECK_STATUS(mpin_crypto_recombine_g2(ARG(sum), ARG(a), ARG(b)), 0);
    CHECK_STATUS(mpin_crypto_server_context_new(&mfa.context, ARG(sum)), 0);
}

static void mfa_stop(void)
{
    mpin_crypto_server_context_free(mfa.context);
}

/* The next request whose URL holds `path` gets this answer. */
static inline void mfa_answer(const char *path, int status, const char *body)
{
    mfa.path = path;
    mfa.status = status;
    mfa.body = body;
}

/* ---- Text ----------------------------------------------------------- */

static const char *to_hex(const uint8_t *bytes, size_t size)
{
    static char texts[4][4200];
    static int next;
    char *text = texts[next++ % 4];
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

static size_t from_hex(const char *text, uint8_t *bytes, size_t room)
{
    size_t size = 0;
    unsigned byte;
    while (size < room && isxdigit((unsigned char)text[2 * size]) &&
           sscanf(text + 2 * size, "%2x", &byte) == 1)
        bytes[size++] = (uint8_t)byte;
    return size;
}

/* The text of a member of the request; empty if there is none. */
static const char *member(const char *name)
{
    static char value[4200], key[64];
    snprintf(key, sizeof key, "\"%s\"", name);
    const char *found = strstr(mfa.request, key);
    const char *start = found ? strchr(found + strlen(key), '"') : NULL;
    size_t size = start ? strcspn(start + 1, "\"") : 0;
    if (size >= sizeof value)
        size = 0;
    if (start)
        memcpy(value, start + 1, size);
    value[size] = '\0';
    return value;
}

/* ---- Endpoints ------------------------------------------------------ */

static void mpin_id_of(char *hex, size_t room, const char *user)
{
    char id[256];
    int size = snprintf(id, sizeof id, "{\"userID\":\"%s\",\"v\":%d}", user,
                        ++mfa.issued);
    snprintf(hex, room, "%s", to_hex((uint8_t *)id, (size_t)size));
}

static void registered(char *out)
{
    char id[1024];
    mpin_id_of(id, sizeof id, member("userId"));
    snprintf(out, ANSWER,
             "{\"mpinId\":\"%s\",\"regOTT\":\"%032x\",\"active\":false,"
             "\"expireTime\":\"2030-01-01T00:00:00.000000\","
             "\"nowTime\":\"2029-12-31T23:00:00.000000\",\"appId\":\"app\","
             "\"customerId\":\"%s\",\"pinLength\":4,"
             "\"verificationType\":\"em\"}",
             id, 7, mfa.customer);
}

/* One D-TA's share for an identity, with its public key if it has one. */
static const char *share(const uint8_t *secret, const char *id,
                         const uint8_t *key, size_t key_size)
{
    uint8_t octets[2048], hash[MPIN_HASH_SIZE], point[MPIN_G1_SIZE] = {0};
    size_t size = from_hex(id, octets, sizeof octets - MPIN_G2_SIZE);
    memcpy(octets + size, key, key_size);
    CHECK_STATUS(mpin_crypto_hash_id(ARG(hash), octets, size + key_size), 0);
    CHECK_STATUS(mpin_crypto_get_client_secret(ARG(point), secret,
                                               MPIN_SCALAR_SIZE, ARG(hash)),
                 0);
    return to_hex(point, sizeof point);
}

static void first_share(char *out)
{
    char id[2048] = "";
    sscanf(strstr(mfa.url, "/signature/") + 11, "%2047[0-9a-f]", id);
    snprintf(out, ANSWER, "{\"clientSecretShare\":\"%s\",\"params\":\"id=%s\"}",
             share(mfa.s1, id, mfa.key, 0), id);
}

static void second_share(char *out)
{
    const char *id = strstr(mfa.url, "id=");
    snprintf(out, ANSWER, "{\"clientSecret\":\"%s\"}",
             share(mfa.s2, id ? id + 3 : "", mfa.key, 0));
}

static void first_signing_share(char *out)
{
    mpin_id_of(mfa.signing_id, sizeof mfa.signing_id, mfa.user);
    mfa.key_size = from_hex(member("publicKey"), ARG(mfa.key));
    CHECK(mfa.key_size == sizeof mfa.key, "%zu bytes", mfa.key_size);
    snprintf(out, ANSWER,
             "{\"mpinId\":\"%s\",\"dvsClientSecretShare\":\"%s\","
             "\"cs2url\":\"" MFA_URL "/dta/share\",\"curve\":\"BN254CX\","
             "\"dtas\":\"WyJhIl0=\"}",
             mfa.signing_id, share(mfa.s1, mfa.signing_id, ARG(mfa.key)));
}

static void second_signing_share(char *out)
{
    snprintf(out, ANSWER, "{\"dvsClientSecret\":\"%s\"}",
             share(mfa.s2, mfa.signing_id, ARG(mfa.key)));
}

static void pass1(char *out)
{
    CHECK_STATUS(mpin_crypto_random_generate(ARG(mfa.y)), 0);
    mfa.id_size = from_hex(member("mpin_id"), mfa.id, 1024);
    mfa.key_size = from_hex(member("publicKey"), ARG(mfa.key));
    memcpy(mfa.id + mfa.id_size, mfa.key, mfa.key_size);
    CHECK(from_hex(member("U"), ARG(mfa.u)) == sizeof mfa.u, "U");
    snprintf(out, ANSWER, "{\"y\":\"%s\"}", to_hex(ARG(mfa.y)));
}

static void pass2(char *out)
{
    uint8_t v[MPIN_G1_SIZE];
    size_t size = from_hex(member("V"), ARG(v)), id = mfa.id_size + mfa.key_size;
    int32_t code =
        mfa.key_size ? mpin_crypto_server_context_verify_dvs(
                           mfa.context, ARG(mfa.key), mfa.id, id, ARG(mfa.u),
                           ARG(mfa.y), v, size)
                     : mpin_crypto_server_context_verify(
                           mfa.context, 0, mfa.id, id, ARG(mfa.u), ARG(mfa.y),
                           v, size);
    mfa.is_right = code == MPIN_CRYPTO_OK;
    snprintf(out, ANSWER, "{\"authOTT\":\"%032x\",\"OTP\":\"123456\"}", 9);
}

/* TRUST wire section 7.1: the user is let in once the new secret is proved. */
static int renewal(char *out)
{
    char id[2048];
    const int wants_key_pair = mfa.renewal == NEW_KEY_PAIR;
    mfa.renewal = NO_RENEWAL;
    if (wants_key_pair) {
        snprintf(out, ANSWER,
                 "{\"dvsRegister\":{\"token\":\"leave\","
                 "\"curve\":\"BN254CX\"}}");
        return 200;
    }
    mpin_id_of(id, sizeof id, mfa.user);
    snprintf(out, ANSWER,
             "{\"renewSecret\":{\"mpinId\":\"%s\","
             "\"clientSecretShare\":\"%s\",\"curve\":\"BN254CX\","
             "\"cs2url\":\"" MFA_URL "/dta/clientSecret?id=%s\","
             "\"dtas\":\"WyJhIl0=\"}}",
             id, share(mfa.s1, id, mfa.key, 0), id);
    return 200;
}

static int authenticate(char *out)
{
    if (mfa.is_right && mfa.renewal != NO_RENEWAL)
        return renewal(out);
    snprintf(out, ANSWER,
             "{\"status\":200,\"code\":\"authz-code\","
             "\"expireTime\":1893456000000,\"nowTime\":1893455940000,"
             "\"ttlSeconds\":60,\"logoutURL\":\"/logout\","
             "\"logoutData\":{\"session\":1}%s}",
             strcmp(member("scope"), "dvs") == 0
                 ? ",\"dvsRegister\":{\"token\":\"leave\",\"curve\":\"BN254CX\"}"
                 : "");
    /* The third wrong one blocks, and then a right one is as bad. */
    if (mfa.is_right && mfa.wrong_pins < 3)
        return mfa.wrong_pins = 0, 200;
    snprintf(out, ANSWER, "{\"message\":\"wrong PIN\"}");
    return ++mfa.wrong_pins < 3 ? 401 : 410;
}

static int is(const char *path)
{
    return strncmp(mfa.url, MFA_URL, strlen(MFA_URL)) == 0 &&
           strncmp(mfa.url + strlen(MFA_URL), path, strlen(path)) == 0;
}

/* The HTTP status; the answer goes into `out`. */
static int mfa_serve(char *out)
{
    static const struct {
        const char *path, *answer;
        void (*make)(char *);
    } endpoints[] = {
        {"/rps/clientSettings", MFA_SETTINGS, NULL},
        {"/rps/user", NULL, registered},
        {"/rps/signature/", NULL, first_share},
        {"/dta/clientSecret", NULL, second_share},
        {"/rps/dvsregister", NULL, first_signing_share},
        {"/dta/share", NULL, second_signing_share},
        {"/rps/pass1", NULL, pass1},
        {"/rps/pass2", NULL, pass2},
        {"/verification/confirmation",
         "{\"actToken\":\"token\",\"accessId\":\"access\","
         "\"expireTime\":1893456000}",
         NULL},
        {"/verification", "{}", NULL},
        {"/rps/codeStatus",
         "{\"prerollId\":\"alice\",\"appName\":\"app\",\"appLogoURL\":\"/a\","
         "\"customerId\":\"c\",\"customerName\":\"C\",\"registerOnly\":true,"
         "\"customerLogoURL\":\"/c\",\"clientId\":\"i\",\"redirectURI\":\"/r\"}",
         NULL},
        {"/page/service",
         "{\"name\":\"Page\",\"url\":\"" MFA_URL "\",\"rps_prefix\":\"rps\","
         "\"logo_url\":\"/l\",\"type\":\"online\"}",
         NULL},
        {"/authorize", "{\"qrURL\":\"" MFA_URL "/qr#abcdef\"}", NULL},
        {"/logout", "", NULL},
    };
    if (is("/authenticate") || is("/mobileAuthenticate"))
        return authenticate(out);
    for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++) {
        if (!is(endpoints[i].path))
            continue;
        if (endpoints[i].make)
            endpoints[i].make(out);
        else
            snprintf(out, ANSWER, "%s", endpoints[i].answer);
        return 200;
    }
    return 404;
}

/* ---- The callback --------------------------------------------------- */

static void mfa_note(const mpin_http_request *request)
{
    size_t size = 0;
    snprintf(mfa.url, sizeof mfa.url, "%s", request->url);
    CHECK(request->body_len < sizeof mfa.request, "a long request");
    memcpy(mfa.request, request->body_len ? (const char *)request->body : "",
           request->body_len);
    mfa.request[request->body_len] = '\0';
    for (int i = 0; request->headers[i] && size < sizeof mfa.headers; i += 2)
        size += (size_t)snprintf(mfa.headers + size, sizeof mfa.headers - size,
                                 "%s: %s\n", request->headers[i],
                                 request->headers[i + 1]);
    CHECK(request->size == sizeof *request, "%zu bytes", request->size);
    CHECK(request->timeout_ms > 0, "no time is left");
    mfa.requests++;
}

static inline mpin_status mfa_execute(void *user, const mpin_http_request *request,
                               mpin_http_response *response)
{
    char out[ANSWER] = "";
    int32_t canceled = -1, may = -1;
    int status;
    CHECK(user == &mfa, "another user");
    mfa_note(request);
    CHECK_STATUS(mpin_http_response_is_canceled(response, &canceled), MPIN_OK);
    CHECK(canceled == 0, "canceled: %d", canceled);
    CHECK_STATUS(mpin_http_response_may_connect(
                     response, mfa.address ? mfa.address : "192.0.2.1", &may),
                 MPIN_OK);
    if (may != 1) return MPIN_NETWORK_ERROR;
    if (mfa.path && strstr(mfa.url, mfa.path)) {
        snprintf(out, sizeof out, "%s", mfa.body);
        status = mfa.status;
        mfa.path = NULL;
    } else {
        status = mfa_serve(out);
    }
    CHECK_STATUS(mpin_http_response_set_status(response, status), MPIN_OK);
    CHECK_STATUS(mpin_http_response_add_header(response, "X-Request-Id", "r-7"),
                 MPIN_OK);
    CHECK_STATUS(mpin_http_response_add_header(response, "Retry-After", "17"),
                 MPIN_OK);
    return mpin_http_response_append_body(response, (const uint8_t *)out,
                                          strlen(out));
}

#endif
