/* Tests what a server, or the network before it, may do to an answer: it
 * is cut anywhere, one byte is changed, it is not JSON, it has any HTTP
 * status. Each call must return in time, with a status that mpin.h names for
 * it. The user must then be unchanged, in memory and in the store, and the
 * right answer must still work.
 *
 * usage: answers_test [STRIDE]     cuts and changes at every STRIDE-th byte
 * only */
#define _DEFAULT_SOURCE

#include "cost.h"
#include "steps.h"

/* The results that are allowed for each step, besides MPIN_OK; -1 ends the
 * list. */
static const int allowed[STEPS][5] = {
    {MPIN_RESPONSE_PARSE_ERROR, -1},
    {MPIN_RESPONSE_PARSE_ERROR, -1},
    {MPIN_RESPONSE_PARSE_ERROR, MPIN_CRYPTO_ERROR, MPIN_HTTP_REQUEST_ERROR, -1},
    {MPIN_RESPONSE_PARSE_ERROR, MPIN_CRYPTO_ERROR, MPIN_HTTP_REQUEST_ERROR, -1},
    {MPIN_RESPONSE_PARSE_ERROR, MPIN_CRYPTO_ERROR, MPIN_INCORRECT_PIN, -1},
};

/* ---- One answer that is wrong --------------------------------------- */

static struct {
    int call;
    /* If `flip` is 0, the answer is cut before the byte at `at`. Otherwise
     * the bits of `flip` are flipped in this byte. If `text` is not NULL, it
     * is sent instead of the answer. */
    size_t at;
    unsigned char flip;
    const char *text;
    size_t text_len;
    int status;
} fault;

static mpin_status reply_at_length(struct program *program,
                                   const mpin_http_request *request,
                                   mpin_http_response *response)
{
    struct fake_answer a;
    char body[8192] = "";
    const char *path = strchr(strstr(request->url, "://") + 3, '/');
    if (request->body_len < sizeof body)
        memcpy(body, request->body_len ? (const void *)request->body : "",
               request->body_len);
    fake_serve(&program->server, &a, request->method, path, body);
    size_t n = strlen(a.body);
    if ((int)a.call != fault.call)
        return program_reply(response, a.status, a.body, n);
    if (fault.text)
        return program_reply(response, fault.status, fault.text,
                             fault.text_len);
    if (fault.flip && fault.at < n)
        a.body[fault.at] = (char)(a.body[fault.at] ^ fault.flip);
    return program_reply(response, fault.status,
                         a.body, fault.flip ? n : fault.at);
}

static int is_allowed(int step, mpin_status status)
{
    for (int i = 0; allowed[step][i] >= 0; i++)
        if (allowed[step][i] == status)
            return 1;
    return status == MPIN_OK;
}

/* Runs a step with the current fault. Checks its result and its time and,
 * after an error, that the user is unchanged. If `expected` is negative,
 * every status that is allowed for the step is accepted. */
static void try_fault(int step, mpin_status expected)
{
    faults++;
    if (step == LOGIN)
        CHECK_STATUS(run(BEGIN), MPIN_OK);
    p.server.failed = 0;
    p.answer = reply_at_length;
    const double start = cpu_seconds();
    const mpin_status status = run(step);
    const double took = cpu_seconds() - start;
    p.answer = NULL;
    CHECK(expected >= 0 ? status == expected : is_allowed(step, status),
          "%s, answer %s, cut or flip %zu ^ %02x, text %.40s: %s",
          steps[step].name, fake_names[fault.call], fault.at, fault.flip,
          fault.text ? fault.text : "", mpin_status_name(status));
    CHECK(took < 1, "%s took %.3f s", steps[step].name, took);
    if (status == MPIN_OK || status == MPIN_INCORRECT_PIN) {
        come_back(step);
        return;
    }
    check_unchanged(step);
}

/* ---- Kinds of faults ------------------------------------------------ */

static void cut_and_changed(int step, size_t stride)
{
    /* Cuts the answer at each place, and flips bits of the byte there: all
     * eight with stride 1, else only one, which changes with the place. */
    const unsigned char flips[] = {0x01, 0x02, 0x04, 0x08,
                                   0x10, 0x20, 0x40, 0x80};
    for (fault.call = steps[step].first; fault.call <= steps[step].last;
         fault.call++) {
        /* All answers are shorter than this. If `at` is beyond the end of an
         * answer, a flip changes nothing, and a cut appends bytes. */
        const size_t longest = fault.call == FAKE_STORAGE ? 40 : 620;
        fault.text = NULL;
        fault.status = 200;
        for (size_t at = 0; at < longest; at += stride) {
            fault.at = at;
            fault.flip = 0;
            try_fault(step, -1);
            for (size_t k = 0; k < sizeof flips; k++) {
                fault.flip = flips[(k + at) % sizeof flips];
                try_fault(step, -1);
                if (stride > 1)
                    break;
            }
        }
    }
}

static void say(const char *text, size_t size, int status)
{
    fault.text = text;
    fault.text_len = size;
    fault.status = status;
}

/* Tests texts that are not a valid message of any kind. */
static void no_message(int step)
{
    static const char *const texts[] = {
        "", " ", "null", "true", "0", "-0", "\"\"", "[]", "[[]]", "{}", "{",
        "}", "nul", "NaN", "{\"a\":NaN}", "{\"a\":Infinity}",
        "{\"a\":1e999999}", "{\"a\":99999999999999999999999999}",
        "{\"a\":-1e-999}", "{\"a\":01}", "{\"a\":1,\"a\":2}", "{\"a\":1,}",
        "{'a':1}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\xff\"}", "{\"a\":\"\xc0\x80\"}", "{\"a\":\"\xed\xa0\x80\"}",
        "{\"a\":1}{\"a\":1}", "{\"a\":1} x", "\xef\xbb\xbf{}",
        "<html></html>", "{\"message\":\"ok\"}",
        "{\"mpinId\":7,\"regOTT\":[],\"active\":\"yes\"}",
        "{\"clientSecretShare\":null,\"params\":{}}",
        "{\"clientSecret\":\"04\"}", "{\"y\":\"00\"}", "{\"y\":\"zz\"}",
        "{\"date\":\"x\",\"timePermit\":\"04\",\"storageId\":0}",
        "{\"timePermit\":\"04\",\"signature\":1}"};
    /* In three places the library accepts some of these texts: any JSON object
     * as the answer to pass 2, any JSON or none as the RPA's answer, and
     * anything from the permit storage, because the second D-TA then gives
     * the share. */
    const mpin_status expected =
        fault.call >= FAKE_PASS_2 || fault.call == FAKE_STORAGE
            ? -1
            : MPIN_RESPONSE_PARSE_ERROR;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        say(texts[i], strlen(texts[i]), 200);
        try_fault(step, expected);
    }
    say("{\"a\":\"\0\"}", 9, 200);
    try_fault(step, expected);
}

/* Tests texts that are nested too deeply or too large. */
static void abuse(int step)
{
    static char big[(1 << 20) + 1];
    const mpin_status expected =
        fault.call == FAKE_STORAGE ? -1 : MPIN_RESPONSE_PARSE_ERROR;
    memset(big, '[', sizeof big);
    say(big, 10000, 200);
    try_fault(step, expected);
    say(big, sizeof big - 1, 200);
    try_fault(step, expected);
    memset(big, '1', sizeof big);
    say(big, sizeof big - 1, 200);
    try_fault(step, expected);
    memset(big, ' ', sizeof big);
    say(big, sizeof big, 200);
    try_fault(step, expected);
    for (size_t i = 0; i + 6 < sizeof big; i += 6)
        memcpy(big + i, "{\"a\":[", 6);
    say(big, sizeof big - 1, 200);
    try_fault(step, expected);
}

/* Returns the status that wire section 13, and a table in the header, give
 * for an HTTP status. */
static mpin_status meaning(int call, int http)
{
    switch (http) {
    case 406: return MPIN_BAD_USER_AGENT;
    case 429: return MPIN_TOO_MANY_REQUESTS;
    case 403:
        if (call == FAKE_REGISTER || call == FAKE_AUTHENTICATE)
            return MPIN_IDENTITY_NOT_AUTHORIZED;
        break;
    case 400:
        if (call == FAKE_SIGNATURE)
            return MPIN_IDENTITY_NOT_VERIFIED;
        break;
    case 401:
        if (call == FAKE_SIGNATURE)
            return MPIN_IDENTITY_NOT_VERIFIED;
        if (call == FAKE_AUTHENTICATE)
            return MPIN_INCORRECT_PIN;
        break;
    case 408:
        if (call == FAKE_SECRET || call == FAKE_AUTHENTICATE)
            return MPIN_REQUEST_EXPIRED;
        break;
    case 409:
        if (call == FAKE_AUTHENTICATE)
            return MPIN_CLIENT_SECRET_EXPIRED;
        break;
    case 410:
        if (call == FAKE_PERMIT || call == FAKE_SECOND_PERMIT)
            return MPIN_REVOKED;
        break;
    case 412:
        if (call == FAKE_AUTHENTICATE)
            return MPIN_INCORRECT_ACCESS_NUMBER;
        break;
    }
    return http >= 500   ? MPIN_HTTP_SERVER_ERROR
           : http >= 400 ? MPIN_HTTP_REQUEST_ERROR
           : http > 200 && http < 300 ? MPIN_RESPONSE_PARSE_ERROR
                                      : MPIN_NETWORK_ERROR;
}

static void statuses(int step)
{
    static const int table[] = {100, 101, 103, 199, 201, 204, 206, 299, 300,
                                301, 302, 303, 304, 307, 308, 399, 400, 401,
                                402, 403, 404, 405, 406, 408, 409, 410, 411, 412,
                                413, 418, 422, 429, 451, 499, 500, 501, 505,
                                511, 599};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i] == 410 && fault.call == FAKE_AUTHENTICATE)
            continue; /* the last attempt, below */
        say("{\"message\":\"no\"}", 16, table[i]);
        try_fault(step, fault.call == FAKE_STORAGE
                            ? MPIN_OK
                            : meaning(fault.call, table[i]));
    }
    if (fault.call != FAKE_AUTHENTICATE)
        return;
    /* Tests the HTTP status 410, with which the server reports that a wrong
     * PIN has blocked the user. The token must be erased, in memory and in
     * the store. */
    CHECK_STATUS(run(BEGIN), MPIN_OK);
    say("{}", 2, 410);
    p.answer = reply_at_length;
    CHECK_STATUS(run(step), MPIN_INCORRECT_PIN);
    p.answer = NULL;
    CHECK(state_of(user) == MPIN_USER_BLOCKED, "state %d", state_of(user));
    CHECK(stored_state() == MPIN_USER_BLOCKED, "%d stored", stored_state());
    come_back(step);
}

int main(int argc, char **argv)
{
    const size_t stride = argc > 1 ? (size_t)atol(argv[1]) : 1;
    program_open(&p);
    program_forget(&p);
    keep();
    for (int step = 0; step < STEPS; step++) {
        come_back(step);
        cut_and_changed(step, stride ? stride : 1);
        for (fault.call = steps[step].first; fault.call <= steps[step].last;
             fault.call++) {
            no_message(step);
            abuse(step);
            statuses(step);
        }
        if (step < LOGIN)
            go_on(step);
        printf("%s: %d checks so far\n", steps[step].name, checks);
    }
    close_sdk();
    program_close(&p);
    CHECK(peak_kib() < 64 * 1024, "%ld KiB of memory", peak_kib());
    return report("answers_test");
}
