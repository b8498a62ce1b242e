/* The fake server (fake_server.h) as a MIRACL MFA server behind the callback
 * http_execute. A test can replace the answer to any request. */
#ifndef MFA_SERVER_H
#define MFA_SERVER_H

#include "check.h"
#include "fake_server.h"

#include <ctype.h>
#include <mpin.h>

#define MFA_URL "https://mfa.example.com"
#define ARG(array) array, sizeof(array)

enum { ANSWER = 16384 };

static struct {
    struct fake server;
    /* The next request with `path` in its URL gets this body and this status
     * as the answer. If `path` is NULL, no answer is replaced. */
    const char *path, *body;
    int status;
    /* The last request. */
    char url[2048], headers[2048], request[8192];
    int requests;
    /* The address that is reported for the host name; NULL: an address of
     * the Internet. */
    const char *address;
} mfa;

static void mfa_start(void)
{
    memset(&mfa, 0, sizeof mfa);
    fake_open(&mfa.server);
    mfa.server.mfa = MFA_URL;
    mfa.server.customer = "customer";
    mfa.server.permits = 0;
    mfa.server.mailed = 1;
}

static void mfa_stop(void)
{
    fake_close(&mfa.server);
}

/* Replaces the answer to the next request with `path` in its URL. */
static inline void mfa_answer(const char *path, int status, const char *body)
{
    mfa.path = path;
    mfa.status = status;
    mfa.body = body;
}

/* Returns the text of a member of the last request; empty if there is none. */
static inline const char *member(const char *name)
{
    static char value[4200];
    const char *start = fake_member(mfa.request, name);
    size_t size = start ? strcspn(start, "\"") : 0;
    if (size >= sizeof value)
        size = 0;
    if (start)
        memcpy(value, start, size);
    value[size] = '\0';
    return value;
}

/* Answers the last request: writes the body to `out` and returns the HTTP
 * status. */
static int mfa_serve(const char *method, char *out)
{
    struct fake_answer a;
    if (strncmp(mfa.url, MFA_URL, strlen(MFA_URL)) != 0)
        return 404;
    fake_serve(&mfa.server, &a, method, mfa.url + strlen(MFA_URL), mfa.request);
    snprintf(out, ANSWER, "%s", a.body);
    return a.status;
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
        status = mfa_serve(request->method, out);
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
