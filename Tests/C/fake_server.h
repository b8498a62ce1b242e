/* A fake server: RPS, RPA and both D-TAs as functions in this process, with
 * real keys (wire sections 6, 8 and 9). fake_serve computes the answer to a
 * request. A fake MFA server also answers the requests that only MIRACL's
 * servers know. These answers are made from the description of the protocol
 * (TRUST wire), not recorded. */
#ifndef FAKE_SERVER_H
#define FAKE_SERVER_H

#include <mpin_crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fake_call {
    FAKE_SETTINGS,
    FAKE_REGISTER,
    FAKE_SIGNATURE,
    FAKE_SECRET,
    FAKE_PERMIT,
    FAKE_STORAGE,
    FAKE_SECOND_PERMIT,
    FAKE_PASS_1,
    FAKE_PASS_2,
    FAKE_AUTHENTICATE,
    FAKE_SIGNING_KEY,
    FAKE_SIGNING_SHARE,
    FAKE_PAGE,
    FAKE_TRUST_REGISTRATION,
    FAKE_TRUST_SHARE,
    FAKE_TRUST_AUTHENTICATE,
    FAKE_UNKNOWN
};

static const char *const fake_names[] = {
    "settings",    "register",      "signature", "secret",  "permit",
    "storage",     "second permit", "pass 1",    "pass 2",  "authenticate",
    "signing key", "signing share", "page",      "registration",
    "share",       "verdict",       "unknown"};

/* The project of MIRACL Trust. */
#define FAKE_PROJECT "project"

enum { FAKE_DATE = 20778, FAKE_HEX_ID = 1024 };

struct fake {
    uint8_t master[2][MPIN_SCALAR_SIZE];
    mpin_crypto_server_context *context;
    /* The base URL of this server if it is an MFA server; NULL if it is a
     * Milagro server, which knows only the identity registered last. */
    const char *mfa;
    /* Whether time permits are used. */
    int permits;
    /* Whether a registration waits for a confirmation. */
    int mailed;
    /* The number of wrong PINs that block the identity. */
    int attempts;
    /* The number of digits of a PIN in the project of MIRACL Trust. */
    int digits;
    /* The identity that was registered last. */
    char mpin_id[FAKE_HEX_ID];
    char reg_ott[33];
    int issued, failed;
    /* Of the running login: `id` is the identity, followed by the public key
     * if it has one, together id_size bytes. `key` is the public key alone. */
    uint8_t id[FAKE_HEX_ID / 2 + MPIN_G2_SIZE], key[MPIN_G2_SIZE];
    size_t id_size, key_size;
    uint8_t commitment[MPIN_G1_SIZE], y[MPIN_SCALAR_SIZE];
    int has_commitment, has_token, is_right;
    /* The number of successful logins. */
    int logins;
    /* Of an MFA server: `user` is the user for whom a signing key is made,
     * `customer` the customer's name, `signing_id` the identity that signs,
     * and `renewal` what the next login with the right PIN must renew. */
    const char *user, *customer;
    char signing_id[FAKE_HEX_ID];
    enum { NO_RENEWAL, NEW_SHARES, NEW_KEY_PAIR } renewal;
};

struct fake_answer {
    enum fake_call call;
    int status;
    char body[4096];
};

static void fake_check(int32_t status)
{
    if (status != MPIN_CRYPTO_OK) {
        fprintf(stderr, "fake_server.h: a primitive gave %d\n", (int)status);
        exit(3);
    }
}

/* Writes the server secret, MPIN_G2_SIZE bytes. */
static void fake_secret(const struct fake *m, uint8_t *secret)
{
    uint8_t share[2][MPIN_G2_SIZE];
    for (int i = 0; i < 2; i++)
        fake_check(mpin_crypto_get_server_secret(share[i], sizeof share[i],
                                                 m->master[i], 32));
    fake_check(mpin_crypto_recombine_g2(secret, MPIN_G2_SIZE, share[0],
                                        sizeof share[0], share[1],
                                        sizeof share[1]));
}

static void fake_open(struct fake *m)
{
    uint8_t secret[MPIN_G2_SIZE];
    memset(m, 0, sizeof *m);
    m->permits = 1;
    m->attempts = 3;
    m->digits = 4;
    for (int i = 0; i < 2; i++)
        fake_check(mpin_crypto_random_generate(m->master[i], 32));
    fake_secret(m, secret);
    fake_check(mpin_crypto_server_context_new(&m->context, secret,
                                              sizeof secret));
}

static void fake_close(struct fake *m)
{
    mpin_crypto_server_context_free(m->context);
}

static void fake_to_hex(char *text, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sprintf(text + 2 * i, "%02x", ((const unsigned char *)bytes)[i]);
    text[2 * n] = '\0';
}

/* Decodes a hex text up to its end or a quote. Returns the number of bytes;
 * 0 if the text contains other characters or is too long. */
static size_t fake_from_hex(uint8_t *bytes, size_t room, const char *text)
{
    size_t n = 0;
    unsigned int byte;
    while (text && *text && *text != '"') {
        if (n == room || sscanf(text, "%2x", &byte) != 1)
            return 0;
        bytes[n++] = (uint8_t)byte;
        text += 2;
    }
    return n;
}

/* Returns the beginning of a member's text in JSON without white space; NULL
 * if there is no such member. */
static const char *fake_member(const char *json, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\":\"", name);
    const char *at = strstr(json, key);
    return at ? at + strlen(key) : NULL;
}

static enum fake_call fake_find(const char *method, const char *path)
{
    static const struct {
        const char *method, *path;
        enum fake_call call;
    } routes[] = {{"GET", "/rps/clientSettings", FAKE_SETTINGS},
                  {"PUT", "/rps/user", FAKE_REGISTER},
                  {"GET", "/rps/signature/", FAKE_SIGNATURE},
                  {"GET", "/dta/clientSecret?", FAKE_SECRET},
                  {"GET", "/rps/timePermit/", FAKE_PERMIT},
                  {"GET", "/permits/", FAKE_STORAGE},
                  {"GET", "/dta/timePermit?", FAKE_SECOND_PERMIT},
                  {"POST", "/rps/pass1", FAKE_PASS_1},
                  {"POST", "/rps/pass2", FAKE_PASS_2},
                  {"POST", "/authenticate", FAKE_AUTHENTICATE},
                  {"POST", "/mobileAuthenticate", FAKE_AUTHENTICATE},
                  {"POST", "/rps/dvsregister", FAKE_SIGNING_KEY},
                  {"GET", "/dta/share?", FAKE_SIGNING_SHARE},
                  {"POST", "/registration", FAKE_TRUST_REGISTRATION},
                  {"GET", "/dta1/share?", FAKE_TRUST_SHARE},
                  {"POST", "/rps/v2/pass1", FAKE_PASS_1},
                  {"POST", "/rps/v2/pass2", FAKE_PASS_2},
                  {"POST", "/rps/v2/authenticate", FAKE_TRUST_AUTHENTICATE}};
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        if ((!method || strcmp(routes[i].method, method) == 0) &&
            strncmp(path, routes[i].path, strlen(routes[i].path)) == 0)
            return routes[i].call;
    return FAKE_UNKNOWN;
}

static void fake_settings(struct fake *m, struct fake_answer *a)
{
    snprintf(a->body, sizeof a->body,
             "{\"appID\":\"c0ffee\",\"registerURL\":\"/rps/user\","
             "\"signatureURL\":\"/rps/signature\",\"certivoxURL\":\"/dta/\","
             "\"timePermitsURL\":\"/rps/timePermit\","
             "\"mpinAuthServerURL\":\"/rps\","
             "\"authenticateURL\":\"/authenticate\",%s\"usePermits\":%s}",
             m->mfa ? "\"mobileAuthenticateURL\":\"/mobileAuthenticate\","
                      "\"codeStatusURL\":\"/rps/codeStatus\","
                      "\"accessNumberUseCheckSum\":true,\"cSum\":1,"
                      "\"pinLength\":4,"
                    : "\"timePermitsStorageURL\":\"/permits\",",
             m->permits ? "true" : "false");
}

/* Makes a new M-Pin ID, in hex. */
static void fake_issue(struct fake *m, char *hex, const char *user)
{
    char content[400];
    m->issued++;
    snprintf(content, sizeof content,
             "{\"mobile\": 1, \"issued\": \"2026-01-02 03:04:05.678901\", "
             "\"userID\": \"%s\", \"salt\": \"%032x\"}",
             user, m->issued);
    fake_to_hex(hex, content, strlen(content));
}

static void fake_register(struct fake *m, struct fake_answer *a,
                          const char *body)
{
    char user[256];
    const char *text = fake_member(body, "userId");
    size_t n = text ? strcspn(text, "\"") : 0;
    if (n == 0 || n >= sizeof user) {
        a->status = 400;
        return;
    }
    memcpy(user, text, n);
    user[n] = '\0';
    fake_issue(m, m->mpin_id, user);
    snprintf(m->reg_ott, sizeof m->reg_ott, "%032x", m->issued ^ 0x5a5a);
    m->failed = m->has_commitment = m->has_token = 0;
    n = (size_t)snprintf(
        a->body, sizeof a->body,
        "{\"mpinId\":\"%s\",\"regOTT\":\"%s\",\"active\":%s,"
        "\"expireTime\":\"2030-01-01T00:00:00Z\"",
        m->mpin_id, m->reg_ott, m->mailed ? "false" : "true");
    snprintf(a->body + n, sizeof a->body - n,
             m->mfa ? ",\"nowTime\":\"2029-12-31T23:00:00.000000\","
                      "\"appId\":\"app\",\"customerId\":\"%s\","
                      "\"pinLength\":4,\"verificationType\":\"em\"}"
                    : "}",
             m->customer);
}

/* Writes in hex the share that a D-TA has of the client secret or, with a
 * date other than 0, of the time permit. */
static void fake_share(struct fake *m, int dta, int32_t date,
                       const uint8_t hash[32], char *text)
{
    uint8_t share[MPIN_G1_SIZE];
    if (date)
        fake_check(mpin_crypto_get_client_permit(
            share, sizeof share, date, m->master[dta], 32, hash, 32));
    else
        fake_check(mpin_crypto_get_client_secret(
            share, sizeof share, m->master[dta], 32, hash, 32));
    fake_to_hex(text, share, sizeof share);
}

/* Computes the hash of an identity, followed by its public key if it has
 * one. */
static void fake_hash(const char *mpin_id, const uint8_t *key, size_t key_size,
                      uint8_t hash[32])
{
    uint8_t id[FAKE_HEX_ID / 2 + MPIN_G2_SIZE];
    const size_t n = fake_from_hex(id, FAKE_HEX_ID / 2, mpin_id);
    if (key_size)
        memcpy(id + n, key, key_size);
    fake_check(mpin_crypto_hash_id(hash, 32, id, n + key_size));
}

static void fake_first_share(struct fake *m, struct fake_answer *a,
                             const char *path)
{
    uint8_t hash[32];
    char share[2 * MPIN_G1_SIZE + 1], hex[65], id[FAKE_HEX_ID] = "";
    const int is_permit = a->call == FAKE_PERMIT;
    const char *text = strchr(path + strlen("/rps/"), '/') + 1;
    sscanf(text, "%1023[0-9a-f]", id);
    if ((!m->mfa && (!*m->mpin_id || strcmp(id, m->mpin_id) != 0)) ||
        (!m->mfa && !is_permit && !strstr(text, m->reg_ott))) {
        a->status = is_permit ? 404 : 401;
        return;
    }
    fake_hash(id, NULL, 0, hash);
    fake_to_hex(hex, hash, 32);
    fake_share(m, 0, is_permit ? FAKE_DATE : 0, hash, share);
    if (is_permit)
        sprintf(a->body,
                "{\"date\":%d,\"signature\":\"51617\",\"storageId\":\"%s\","
                "\"timePermit\":\"%s\",\"version\":\"0.3\"}",
                FAKE_DATE, hex, share);
    else
        sprintf(a->body,
                "{\"clientSecretShare\":\"%s\","
                "\"params\":\"hash_mpin_id=%s&signature=51617\"}",
                share, hex);
}

static void fake_second_share(struct fake *m, struct fake_answer *a,
                              const char *path)
{
    uint8_t hash[32];
    char share[2 * MPIN_G1_SIZE + 1], hex[65] = "";
    const int is_permit = a->call == FAKE_SECOND_PERMIT;
    const char *text = strstr(path, "hash_mpin_id=");
    if (text)
        sscanf(text, "hash_mpin_id=%64[0-9a-f]", hex);
    if (fake_from_hex(hash, sizeof hash, hex) != sizeof hash ||
        !strstr(path, "signature=51617")) {
        a->status = 401;
        return;
    }
    fake_share(m, 1, is_permit ? FAKE_DATE : 0, hash, share);
    sprintf(a->body, "{\"%s\":\"%s\"}",
            is_permit              ? "timePermit"
            : a->call == FAKE_SECRET ? "clientSecret"
                                   : "dvsClientSecret",
            share);
}

/* TRUST wire section 7.4: makes an identity for a public key. */
static void fake_signing_key(struct fake *m, struct fake_answer *a,
                             const char *body)
{
    uint8_t hash[32];
    char share[2 * MPIN_G1_SIZE + 1], hex[65];
    m->key_size = fake_from_hex(m->key, sizeof m->key,
                                fake_member(body, "publicKey"));
    if (m->key_size != sizeof m->key) {
        a->status = 403;
        return;
    }
    fake_issue(m, m->signing_id, m->user);
    fake_hash(m->signing_id, m->key, m->key_size, hash);
    fake_to_hex(hex, hash, 32);
    fake_share(m, 0, 0, hash, share);
    snprintf(a->body, sizeof a->body,
             "{\"mpinId\":\"%s\",\"dvsClientSecretShare\":\"%s\","
             "\"cs2url\":\"%s/dta/share?hash_mpin_id=%s&signature=51617\","
             "\"curve\":\"BN254CX\",\"dtas\":\"WyJhIl0=\"}",
             m->signing_id, share, m->mfa, hex);
}

static void fake_pass_1(struct fake *m, struct fake_answer *a, const char *body)
{
    char y[2 * MPIN_SCALAR_SIZE + 1];
    const char *id = fake_member(body, "mpin_id");
    const char *point = fake_member(body, m->permits ? "UT" : "U");
    if (!id || (!m->mfa && strncmp(id, m->mpin_id, strlen(m->mpin_id)) != 0) ||
        fake_from_hex(m->commitment, MPIN_G1_SIZE, point) != MPIN_G1_SIZE) {
        a->status = 403;
        return;
    }
    m->id_size = fake_from_hex(m->id, FAKE_HEX_ID / 2, id);
    m->key_size = fake_from_hex(m->key, sizeof m->key,
                                fake_member(body, "publicKey"));
    memcpy(m->id + m->id_size, m->key, m->key_size);
    fake_check(mpin_crypto_random_generate(m->y, sizeof m->y));
    fake_to_hex(y, m->y, sizeof m->y);
    m->has_commitment = 1;
    sprintf(a->body, "{\"pass\":1,\"version\":\"0.3\",\"y\":\"%s\"}", y);
}

static void fake_pass_2(struct fake *m, struct fake_answer *a, const char *body)
{
    uint8_t v[MPIN_G1_SIZE];
    const size_t n = m->id_size + m->key_size;
    const char *text = fake_member(body, "V");
    if (!m->has_commitment || fake_from_hex(v, sizeof v, text) != sizeof v) {
        a->status = 500;
        return;
    }
    m->is_right =
        0 == (m->key_size ? mpin_crypto_server_context_verify_dvs(
                                m->context, m->key, m->key_size, m->id, n,
                                m->commitment, sizeof m->commitment, m->y,
                                sizeof m->y, v, sizeof v)
                          : mpin_crypto_server_context_verify(
                                m->context, m->permits ? FAKE_DATE : 0, m->id,
                                n, m->commitment, sizeof m->commitment, m->y,
                                sizeof m->y, v, sizeof v));
    m->has_commitment = 0;
    m->has_token = 1;
    sprintf(a->body, "{\"pass\":2,\"version\":\"0.3\",\"authOTT\":\"%032x\"%s}",
            0xa07, m->mfa ? ",\"OTP\":\"123456\"" : "");
}

/* TRUST wire section 7.1: answers a right PIN by telling the client to renew
 * its secret. The login succeeds only with the next proof, which the client
 * makes with the new secret. */
static void fake_renewal(struct fake *m, struct fake_answer *a)
{
    uint8_t hash[32];
    char share[2 * MPIN_G1_SIZE + 1], hex[65], id[FAKE_HEX_ID];
    const int wants_key_pair = m->renewal == NEW_KEY_PAIR;
    m->renewal = NO_RENEWAL;
    if (wants_key_pair) {
        strcpy(a->body, "{\"dvsRegister\":{\"token\":\"leave\","
                        "\"curve\":\"BN254CX\"}}");
        return;
    }
    fake_issue(m, id, m->user);
    fake_hash(id, NULL, 0, hash);
    fake_to_hex(hex, hash, 32);
    fake_share(m, 0, 0, hash, share);
    snprintf(a->body, sizeof a->body,
             "{\"renewSecret\":{\"mpinId\":\"%s\",\"clientSecretShare\":\"%s\","
             "\"cs2url\":\"%s/dta/clientSecret?hash_mpin_id=%s&signature=51617\","
             "\"curve\":\"BN254CX\",\"dtas\":\"WyJhIl0=\"}}",
             id, share, m->mfa, hex);
}

/* Writes the answer to a successful login. */
static void fake_welcome(struct fake *m, struct fake_answer *a, const char *body)
{
    const char *scope = fake_member(body, "scope");
    if (!m->mfa) {
        strcpy(a->body, "{\"user\":\"welcome\"}");
        return;
    }
    sprintf(a->body,
            "{\"status\":200,\"code\":\"authz-code\","
            "\"expireTime\":1893456000000,\"nowTime\":1893455940000,"
            "\"ttlSeconds\":60,\"logoutURL\":\"/logout\","
            "\"logoutData\":{\"session\":1}%s}",
            scope && strncmp(scope, "dvs\"", 4) == 0
                ? ",\"dvsRegister\":{\"token\":\"leave\",\"curve\":\"BN254CX\"}"
                : "");
}

/* Judges a login. The last allowed wrong PIN blocks the identity; after that,
 * a right PIN gets the same answer as a wrong one. */
static void fake_authenticate(struct fake *m, struct fake_answer *a,
                              const char *body)
{
    if (!m->has_token) {
        a->status = 412;
        return;
    }
    m->has_token = 0;
    if (m->is_right && m->renewal != NO_RENEWAL) {
        fake_renewal(m, a);
        return;
    }
    if (m->is_right && m->failed < m->attempts) {
        m->failed = 0;
        m->logins++;
        fake_welcome(m, a, body);
        return;
    }
    a->status = ++m->failed >= m->attempts ? 410 : 401;
    strcpy(a->body, "{\"message\":\"wrong PIN\"}");
}

/* TRUST wire section 4.6: makes an identity for a public key. */
static void fake_trust_registration(struct fake *m, struct fake_answer *a,
                                    const char *body)
{
    uint8_t hash[32];
    char hex[65], user[256] = "";
    const char *name = fake_member(body, "userId");
    m->key_size = fake_from_hex(m->key, sizeof m->key,
                                fake_member(body, "publicKey"));
    if (m->key_size != sizeof m->key || !name ||
        sscanf(name, "%255[^\"]", user) != 1) {
        a->status = 400;
        return;
    }
    fake_issue(m, m->mpin_id, user);
    fake_hash(m->mpin_id, m->key, m->key_size, hash);
    fake_to_hex(hex, hash, 32);
    snprintf(a->body, sizeof a->body,
             "{\"mpinId\":\"%s\",\"projectId\":\"" FAKE_PROJECT "\","
             "\"dtas\":\"WyJhIl0=\",\"curve\":\"BN254CX\",\"pinLength\":%d,"
             "\"secretUrls\":[\"%s/dta1/share?hash_mpin_id=%s\","
             "\"%s/dta/share?hash_mpin_id=%s&signature=51617\"],"
             "\"verificationType\":\"standardEmail\",\"nowTime\":1}",
             m->mpin_id, m->digits, m->mfa, hex, m->mfa, hex);
    m->failed = 0;
}

/* TRUST wire section 4.7: the share of the first D-TA. */
static void fake_trust_share(struct fake *m, struct fake_answer *a,
                             const char *path)
{
    uint8_t hash[32];
    char share[2 * MPIN_G1_SIZE + 1];
    const char *text = strstr(path, "hash_mpin_id=");
    if (!text || fake_from_hex(hash, sizeof hash,
                               text + strlen("hash_mpin_id=")) != sizeof hash) {
        a->status = 401;
        return;
    }
    fake_share(m, 0, 0, hash, share);
    sprintf(a->body, "{\"dvsClientSecret\":\"%s\"}", share);
}

/* TRUST wire section 4.10: judges a login. */
static void fake_trust_authenticate(struct fake *m, struct fake_answer *a)
{
    if (!m->has_token) {
        a->status = 400;
        strcpy(a->body, "{\"error\":\"INVALID_AUTHENTICATION_SESSION\"}");
        return;
    }
    m->has_token = 0;
    if (m->is_right && m->renewal == NEW_KEY_PAIR) {
        fake_renewal(m, a);
        return;
    }
    if (m->is_right && m->failed < m->attempts) {
        m->failed = 0;
        m->logins++;
        strcpy(a->body, "{\"status\":200,\"message\":\"OK\",\"jwt\":\"a.b.c\"}");
        return;
    }
    a->status = ++m->failed >= m->attempts ? 410 : 401;
    sprintf(a->body, "{\"error\":\"%s\",\"info\":\"wrong PIN\"}",
            a->status == 410 ? "REVOKED_MPINID" : "UNSUCCESSFUL_AUTHENTICATION");
}

/* Answers a request to which an MFA server gives everybody the same answer;
 * 404 for any other path. */
static void fake_page(struct fake *m, struct fake_answer *a, const char *path)
{
    static const struct {
        const char *path, *answer;
    } pages[] = {
        {"/verification/confirmation",
         "{\"actToken\":\"token\",\"accessId\":\"access\","
         "\"projectId\":\"" FAKE_PROJECT "\","
         "\"expireTime\":1893456000}"},
        {"/verification/email", "{\"backoff\":1893456000,\"method\":\"code\"}"},
        {"/verification/quickcode",
         "{\"code\":\"246810\",\"expireTime\":1893456000,"
         "\"ttlSeconds\":300}"},
        {"/rps/v2/codeStatus",
         "{\"description\":\"pay\",\"prerollId\":\"alice\","
         "\"projectId\":\"" FAKE_PROJECT "\",\"hash\":\"00ff\","
         "\"projectName\":\"P\",\"projectLogoURL\":\"/p\",\"pinLength\":4}"},
        {"/verification", "{}"},
        {"/rps/codeStatus",
         "{\"prerollId\":\"alice\",\"appName\":\"app\",\"appLogoURL\":\"/a\","
         "\"customerId\":\"c\",\"customerName\":\"C\",\"registerOnly\":true,"
         "\"customerLogoURL\":\"/c\",\"clientId\":\"i\",\"redirectURI\":\"/r\"}"},
        {"/page/service",
         "{\"name\":\"Page\",\"url\":\"%s\",\"rps_prefix\":\"rps\","
         "\"logo_url\":\"/l\",\"type\":\"online\"}"},
        {"/authorize", "{\"qrURL\":\"%s/qr#abcdef\"}"},
        {"/token", "{\"access_token\":\"access\",\"token_type\":\"Bearer\","
                   "\"expires_in\":900,\"refresh_token\":\"refresh\","
                   "\"id_token\":\"id\",\"scope\":\"openid\"}"},
        {"/logout", ""},
    };
    for (size_t i = 0; m->mfa && i < sizeof pages / sizeof pages[0]; i++)
        if (strncmp(path, pages[i].path, strlen(pages[i].path)) == 0) {
            a->call = FAKE_PAGE;
            snprintf(a->body, sizeof a->body, pages[i].answer, m->mfa);
            return;
        }
    a->status = 404;
}

/* Answers one request. `path` is the URL after the host. If `method` is NULL,
 * the usual method of the path is assumed. */
static void fake_serve(struct fake *m, struct fake_answer *a,
                       const char *method, const char *path, const char *body)
{
    a->call = fake_find(method, path);
    a->status = 200;
    a->body[0] = '\0';
    switch (a->call) {
    case FAKE_SETTINGS: fake_settings(m, a); break;
    case FAKE_REGISTER: fake_register(m, a, body); break;
    case FAKE_SIGNATURE:
    case FAKE_PERMIT: fake_first_share(m, a, path); break;
    case FAKE_SECRET:
    case FAKE_SIGNING_SHARE:
    case FAKE_SECOND_PERMIT: fake_second_share(m, a, path); break;
    case FAKE_PASS_1: fake_pass_1(m, a, body); break;
    case FAKE_PASS_2: fake_pass_2(m, a, body); break;
    case FAKE_AUTHENTICATE: fake_authenticate(m, a, body); break;
    case FAKE_SIGNING_KEY: fake_signing_key(m, a, body); break;
    case FAKE_TRUST_REGISTRATION: fake_trust_registration(m, a, body); break;
    case FAKE_TRUST_SHARE: fake_trust_share(m, a, path); break;
    case FAKE_TRUST_AUTHENTICATE: fake_trust_authenticate(m, a); break;
    default: fake_page(m, a, path); break;
    }
    if (a->status != 200 && !a->body[0])
        sprintf(a->body, "{\"message\":\"HTTP %d\"}", a->status);
}

#endif
