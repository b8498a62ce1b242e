/* A program with its own callbacks: an mpin_context with fake_server.h as
 * the server and a storage in memory. It counts the calls of its callbacks,
 * and can let one of them fail. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "check.h"
#include "fake_server.h"

#include <mpin.h>
#include <pthread.h>

#define PROGRAM_SEED UINT64_C(0x9e3779b97f4a7c15)

enum { PROGRAM_STORE = 1 << 16, PROGRAM_LOG = 1 << 18 };

struct program {
    struct fake server;
    mpin_context context;
    /* The stored data of each kind (MPIN_STORAGE_USERS, MPIN_STORAGE_SECURE),
     * its length, and how often it was stored. */
    char stored[2][PROGRAM_STORE];
    size_t stored_len[2];
    int sets[2];
    char log[PROGRAM_LOG];
    size_t log_len;
    int log_lines, wrong_levels;
    /* `calls` is the number of calls so far of callbacks that can fail. The
     * call number `fail_at` fails; 0: none. */
    int calls, fail_at;
    /* The kind of the call that failed because of `fail_at`: 'h'ttp, 'g'et,
     * 's'et, 'r'andom; 0: none. */
    char failed;
    int http_calls;
    uint64_t random_state;
    /* If `answer` is not NULL, it answers requests instead of the server. */
    mpin_status (*answer)(struct program *p, const mpin_http_request *request,
                          mpin_http_response *response);
    /* If `change` is not NULL, it changes the server's answers. */
    void (*change)(struct program *p, struct fake_answer *answer);
};

static int program_fails(struct program *p, char kind)
{
    p->calls++;
    if (p->calls != p->fail_at)
        return 0;
    p->failed = kind;
    return 1;
}

/* Passes an answer to the library. */
static mpin_status program_reply(mpin_http_response *response, int status,
                                 const void *body, size_t size)
{
    mpin_status s = mpin_http_response_set_status(response, status);
    if (s == MPIN_OK)
        s = mpin_http_response_add_header(response, "Content-Type",
                                          "application/json");
    if (s == MPIN_OK)
        s = mpin_http_response_append_body(response, body, size);
    return s;
}

static mpin_status program_http(void *user, const mpin_http_request *request,
                                mpin_http_response *response)
{
    struct program *p = user;
    struct fake_answer a;
    char body[8192] = "";
    const char *path = strstr(request->url, "://");
    path = path ? strchr(path + 3, '/') : NULL;
    p->http_calls++;
    if (program_fails(p, 'h'))
        return MPIN_NETWORK_ERROR;
    if (p->answer)
        return p->answer(p, request, response);
    if (!path || request->size != sizeof *request || request->timeout_ms == 0 ||
        request->body_len >= sizeof body)
        return MPIN_INVALID_ARGUMENT;
    if (request->body_len)
        memcpy(body, request->body, request->body_len);
    fake_serve(&p->server, &a, request->method, path, body);
    if (p->change)
        p->change(p, &a);
    return program_reply(response, a.status, a.body, strlen(a.body));
}

static mpin_status program_get(void *user, mpin_storage_data *data,
                               int32_t kind)
{
    struct program *p = user;
    if (program_fails(p, 'g') || kind < 0 || kind > 1)
        return MPIN_STORAGE_ERROR;
    return mpin_storage_data_append(data, (uint8_t *)p->stored[kind],
                                    p->stored_len[kind]);
}

static mpin_status program_set(void *user, int32_t kind, const uint8_t *bytes,
                               size_t bytes_len)
{
    struct program *p = user;
    if (program_fails(p, 's') || kind < 0 || kind > 1 ||
        bytes_len > PROGRAM_STORE)
        return MPIN_STORAGE_ERROR;
    memcpy(p->stored[kind], bytes, bytes_len);
    p->stored_len[kind] = bytes_len;
    p->sets[kind]++;
    return MPIN_OK;
}

static mpin_status program_random(void *user, uint8_t *out, size_t out_len)
{
    struct program *p = user;
    if (program_fails(p, 'r'))
        return MPIN_RANDOM_FAILED;
    /* xorshift64*, which is good enough for a test, and gives the same
     * numbers in every run. */
    for (size_t i = 0; i < out_len; i++) {
        p->random_state ^= p->random_state >> 12;
        p->random_state ^= p->random_state << 25;
        p->random_state ^= p->random_state >> 27;
        out[i] = (uint8_t)((p->random_state * 0x2545f4914f6cdd1d) >> 56);
    }
    return MPIN_OK;
}

static void program_log(void *user, int32_t level, const char *text)
{
    struct program *p = user;
    size_t n = strlen(text);
    p->log_lines++;
    p->wrong_levels += level < MPIN_LOG_DEBUG || level > MPIN_LOG_ERROR;
    if (p->log_len + n + 2 > sizeof p->log)
        return;
    memcpy(p->log + p->log_len, text, n);
    p->log_len += n;
    p->log[p->log_len++] = '\n';
    p->log[p->log_len] = '\0';
}

static void program_open(struct program *p)
{
    memset(p, 0, sizeof *p);
    p->random_state = PROGRAM_SEED;
    fake_open(&p->server);
    p->context.size = sizeof p->context;
    p->context.user = p;
    p->context.http_execute = program_http;
    p->context.storage_get = program_get;
    p->context.storage_set = program_set;
    p->context.random = program_random;
    p->context.log = program_log;
}

/* Checks that the log contains no long hex numbers, which may be tokens,
 * shares or identities, and no queries, which may contain one-time tokens. */
static void program_log_tells_no_secret(const struct program *p)
{
    size_t digits = 0;
    CHECK(!strstr(p->log, "regOTT") && !strchr(p->log, '?'), "a query");
    for (const char *c = p->log; *c; c++) {
        digits = strchr("0123456789abcdef", *c) ? digits + 1 : 0;
        CHECK(digits < 20, "a long number: %.40s", c - 20);
    }
}

static void program_close(struct program *p)
{
    program_log_tells_no_secret(p);
    fake_close(&p->server);
}

/* Deletes the stored data, as on a new device. */
static void program_forget(struct program *p)
{
    p->stored_len[0] = p->stored_len[1] = 0;
    p->sets[0] = p->sets[1] = 0;
}

#define PROGRAM_BACKEND "http://127.0.0.1:1"

static mpin_config program_config(struct program *p)
{
    mpin_config config;
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.context = &p->context;
    config.timeout_ms = 10000;
    return config;
}

#endif
