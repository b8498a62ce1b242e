/* RPS, RPA and both D-TAs of a Milagro system in this process, with real keys
 * (wire sections 6, 8 and 9): a request goes in, an answer comes out. It holds
 * one identity, the one registered last. */
#ifndef MILAGRO_H
#define MILAGRO_H

#include <mpin_crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum milagro_call {
    MILAGRO_SETTINGS,
    MILAGRO_REGISTER,
    MILAGRO_SIGNATURE,
    MILAGRO_SECRET,
    MILAGRO_PERMIT,
    MILAGRO_STORAGE,
    MILAGRO_SECOND_PERMIT,
    MILAGRO_PASS_1,
    MILAGRO_PASS_2,
    MILAGRO_AUTHENTICATE,
    MILAGRO_CALLS,
    MILAGRO_UNKNOWN = MILAGRO_CALLS
};

static const char *const milagro_names[] = {
    "settings", "register",      "signature", "secret",       "permit",
    "storage",  "second permit", "pass 1",    "pass 2",       "authenticate",
    "unknown"};

enum { MILAGRO_DATE = 20778, MILAGRO_HEX_ID = 1024 };

struct milagro {
    uint8_t master[2][MPIN_SCALAR_SIZE];
    mpin_crypto_server_context *context;
    /* Whether time permits are used. */
    int permits;
    /* Whether a registration waits for a confirmation. */
    int mailed;
    /* Attempts that a client has. */
    int attempts;
    /* The identity. */
    char mpin_id[MILAGRO_HEX_ID];
    char reg_ott[33];
    int failed;
    /* The login under way. */
    uint8_t commitment[MPIN_G1_SIZE], y[MPIN_SCALAR_SIZE];
    int has_commitment, has_token, is_right;
    /* Logins that ended well. */
    int logins;
};

struct milagro_answer {
    enum milagro_call call;
    int status;
    char body[4096];
};

static void milagro_check(int32_t status)
{
    if (status != MPIN_CRYPTO_OK) {
        fprintf(stderr, "milagro.h: a primitive gave %d\n", (int)status);
        exit(3);
    }
}

static void milagro_open(struct milagro *m)
{
    uint8_t share[2][MPIN_G2_SIZE], secret[MPIN_G2_SIZE];
    memset(m, 0, sizeof *m);
    m->permits = 1;
    m->attempts = 3;
    for (int i = 0; i < 2; i++) {
        milagro_check(mpin_crypto_random_generate(m->master[i], 32));
        milagro_check(mpin_crypto_get_server_secret(
            share[i], sizeof share[i], m->master[i], 32));
    }
    milagro_check(mpin_crypto_recombine_g2(secret, sizeof secret, share[0],
                                           sizeof share[0], share[1],
                                           sizeof share[1]));
    milagro_check(mpin_crypto_server_context_new(&m->context, secret,
                                                 sizeof secret));
}

static void milagro_close(struct milagro *m)
{
    mpin_crypto_server_context_free(m->context);
}

static void milagro_to_hex(char *text, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sprintf(text + 2 * i, "%02x", ((const unsigned char *)bytes)[i]);
    text[2 * n] = '\0';
}

/* The bytes of a hex text up to its end or a quote; 0 if there are other
 * characters or too many. */
static size_t milagro_from_hex(uint8_t *bytes, size_t room, const char *text)
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

/* Where the text of a member begins in a JSON text without white space. */
static const char *milagro_member(const char *json, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\":\"", name);
    const char *at = strstr(json, key);
    return at ? at + strlen(key) : NULL;
}

static enum milagro_call milagro_find(const char *method, const char *path)
{
    static const struct {
        const char *method, *path;
        enum milagro_call call;
    } routes[] = {{"GET", "/rps/clientSettings", MILAGRO_SETTINGS},
                  {"PUT", "/rps/user", MILAGRO_REGISTER},
                  {"GET", "/rps/signature/", MILAGRO_SIGNATURE},
                  {"GET", "/dta/clientSecret?", MILAGRO_SECRET},
                  {"GET", "/rps/timePermit/", MILAGRO_PERMIT},
                  {"GET", "/permits/", MILAGRO_STORAGE},
                  {"GET", "/dta/timePermit?", MILAGRO_SECOND_PERMIT},
                  {"POST", "/rps/pass1", MILAGRO_PASS_1},
                  {"POST", "/rps/pass2", MILAGRO_PASS_2},
                  {"POST", "/authenticate", MILAGRO_AUTHENTICATE}};
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        if (strcmp(routes[i].method, method) == 0 &&
            strncmp(path, routes[i].path, strlen(routes[i].path)) == 0)
            return routes[i].call;
    return MILAGRO_UNKNOWN;
}

static void milagro_settings(struct milagro *m, struct milagro_answer *a)
{
    sprintf(a->body,
            "{\"appID\":\"c0ffee\",\"registerURL\":\"/rps/user\","
            "\"signatureURL\":\"/rps/signature\",\"certivoxURL\":\"/dta/\","
            "\"timePermitsURL\":\"/rps/timePermit\","
            "\"timePermitsStorageURL\":\"/permits\","
            "\"mpinAuthServerURL\":\"/rps\","
            "\"authenticateURL\":\"/authenticate\",\"usePermits\":%s}",
            m->permits ? "true" : "false");
}

static void milagro_register(struct milagro *m, struct milagro_answer *a,
                             const char *body)
{
    static int number;
    char id[256], content[400];
    const char *user = milagro_member(body, "userId");
    size_t n = user ? strcspn(user, "\"") : 0;
    if (n == 0 || n >= sizeof id) {
        a->status = 400;
        return;
    }
    memcpy(id, user, n);
    id[n] = '\0';
    number++;
    snprintf(content, sizeof content,
             "{\"mobile\": 1, \"issued\": \"2026-01-02 03:04:05.678901\", "
             "\"userID\": \"%s\", \"salt\": \"%032x\"}",
             id, number);
    milagro_to_hex(m->mpin_id, content, strlen(content));
    snprintf(m->reg_ott, sizeof m->reg_ott, "%032x", number ^ 0x5a5a);
    m->failed = m->has_commitment = m->has_token = 0;
    sprintf(a->body,
            "{\"mpinId\":\"%s\",\"regOTT\":\"%s\",\"active\":%s,"
            "\"expireTime\":\"2026-01-03T03:04:05Z\"}",
            m->mpin_id, m->reg_ott, m->mailed ? "false" : "true");
}

/* The hash of the identity in this path, which must be the known one. */
static int milagro_hash(struct milagro *m, const char *text, uint8_t hash[32])
{
    uint8_t id[MILAGRO_HEX_ID / 2];
    size_t n = strlen(m->mpin_id);
    if (n == 0 || strncmp(text, m->mpin_id, n) != 0)
        return -1;
    n = milagro_from_hex(id, sizeof id, m->mpin_id);
    milagro_check(mpin_crypto_hash_id(hash, 32, id, n));
    return 0;
}

/* A share of the client secret, or with a date of the time permit. */
static void milagro_share(struct milagro *m, int dta, int32_t date,
                          const uint8_t hash[32], char *text)
{
    uint8_t share[MPIN_G1_SIZE];
    if (date)
        milagro_check(mpin_crypto_get_client_permit(
            share, sizeof share, date, m->master[dta], 32, hash, 32));
    else
        milagro_check(mpin_crypto_get_client_secret(
            share, sizeof share, m->master[dta], 32, hash, 32));
    milagro_to_hex(text, share, sizeof share);
}

static void milagro_first_share(struct milagro *m, struct milagro_answer *a,
                                const char *path)
{
    uint8_t hash[32];
    char share[2 * MPIN_G1_SIZE + 1], id[65];
    const int is_permit = a->call == MILAGRO_PERMIT;
    const char *text = strchr(path + strlen("/rps/"), '/') + 1;
    if (milagro_hash(m, text, hash) != 0 ||
        (!is_permit && !strstr(text, m->reg_ott))) {
        a->status = is_permit ? 404 : 401;
        return;
    }
    milagro_to_hex(id, hash, 32);
    milagro_share(m, 0, is_permit ? MILAGRO_DATE : 0, hash, share);
    if (is_permit)
        sprintf(a->body,
                "{\"date\":%d,\"signature\":\"51617\",\"storageId\":\"%s\","
                "\"timePermit\":\"%s\",\"version\":\"0.3\"}",
                MILAGRO_DATE, id, share);
    else
        sprintf(a->body,
                "{\"clientSecretShare\":\"%s\","
                "\"params\":\"hash_mpin_id=%s&signature=51617\"}",
                share, id);
}

static void milagro_second_share(struct milagro *m, struct milagro_answer *a,
                                 const char *path)
{
    uint8_t hash[32];
    char share[2 * MPIN_G1_SIZE + 1], id[80];
    const int is_permit = a->call == MILAGRO_SECOND_PERMIT;
    if (milagro_hash(m, m->mpin_id, hash) != 0) {
        a->status = 404;
        return;
    }
    strcpy(id, "hash_mpin_id=");
    milagro_to_hex(id + strlen(id), hash, 32);
    if (!strstr(path, id) || !strstr(path, "signature=51617")) {
        a->status = 401;
        return;
    }
    milagro_share(m, 1, is_permit ? MILAGRO_DATE : 0, hash, share);
    sprintf(a->body, "{\"%s\":\"%s\"}",
            is_permit ? "timePermit" : "clientSecret", share);
}

static void milagro_pass_1(struct milagro *m, struct milagro_answer *a,
                           const char *body)
{
    char y[2 * MPIN_SCALAR_SIZE + 1];
    const char *id = milagro_member(body, "mpin_id");
    const char *point = milagro_member(body, m->permits ? "UT" : "U");
    if (!id || strncmp(id, m->mpin_id, strlen(m->mpin_id)) != 0 ||
        milagro_from_hex(m->commitment, MPIN_G1_SIZE, point) != MPIN_G1_SIZE) {
        a->status = 403;
        return;
    }
    milagro_check(mpin_crypto_random_generate(m->y, sizeof m->y));
    milagro_to_hex(y, m->y, sizeof m->y);
    m->has_commitment = 1;
    sprintf(a->body, "{\"pass\":1,\"version\":\"0.3\",\"y\":\"%s\"}", y);
}

static void milagro_pass_2(struct milagro *m, struct milagro_answer *a,
                           const char *body)
{
    uint8_t id[MILAGRO_HEX_ID / 2], v[MPIN_G1_SIZE];
    const size_t n = milagro_from_hex(id, sizeof id, m->mpin_id);
    const char *text = milagro_member(body, "V");
    if (!m->has_commitment ||
        milagro_from_hex(v, sizeof v, text) != sizeof v) {
        a->status = 500;
        return;
    }
    m->is_right =
        mpin_crypto_server_context_verify(
            m->context, m->permits ? MILAGRO_DATE : 0, id, n, m->commitment,
            sizeof m->commitment, m->y, sizeof m->y, v, sizeof v) == 0;
    m->has_commitment = 0;
    m->has_token = 1;
    sprintf(a->body, "{\"pass\":2,\"version\":\"0.3\",\"authOTT\":\"%032x\"}",
            0xa07);
}

static void milagro_authenticate(struct milagro *m, struct milagro_answer *a)
{
    if (!m->has_token) {
        a->status = 412;
        return;
    }
    m->has_token = 0;
    if (m->is_right && m->failed < m->attempts) {
        m->failed = 0;
        m->logins++;
        strcpy(a->body, "{\"user\":\"welcome\"}");
        return;
    }
    a->status = ++m->failed >= m->attempts ? 410 : 401;
}

/* Answers one request. `path` is the URL behind the host. */
static void milagro_answer(struct milagro *m, struct milagro_answer *a,
                           const char *method, const char *path,
                           const char *body)
{
    a->call = milagro_find(method, path);
    a->status = 200;
    a->body[0] = '\0';
    switch (a->call) {
    case MILAGRO_SETTINGS: milagro_settings(m, a); break;
    case MILAGRO_REGISTER: milagro_register(m, a, body); break;
    case MILAGRO_SIGNATURE:
    case MILAGRO_PERMIT: milagro_first_share(m, a, path); break;
    case MILAGRO_SECRET:
    case MILAGRO_SECOND_PERMIT: milagro_second_share(m, a, path); break;
    case MILAGRO_PASS_1: milagro_pass_1(m, a, body); break;
    case MILAGRO_PASS_2: milagro_pass_2(m, a, body); break;
    case MILAGRO_AUTHENTICATE: milagro_authenticate(m, a); break;
    default: a->status = 404; break;
    }
    if (a->status != 200)
        sprintf(a->body, "{\"message\":\"HTTP %d\"}", a->status);
}

#endif
