#define _POSIX_C_SOURCE 200809L

#include "mpin_recorder.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A recording is {"exchanges": [{"request": {"method", "url", "headers",
 * "body"}, "response": {"status", "headers", "body"}}, ...]}. */

/* ---- Recorder ------------------------------------------------------- */

struct mpin_recorder {
    char *path;
    json_t *exchanges;
    CURL *curl;
};

/* An answer on its way from libcurl to the library and the recording. */
struct answer {
    mpin_http_response *response;
    json_t *headers;
    char *body;
    size_t size;
    mpin_status status;
};

mpin_recorder *mpin_recorder_new(const char *path)
{
    mpin_recorder *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->path = strdup(path);
    r->exchanges = json_array();
    r->curl = curl_easy_init();
    if (r->path && r->exchanges && r->curl)
        return r;
    mpin_recorder_free(r);
    return NULL;
}

void mpin_recorder_free(mpin_recorder *r)
{
    if (r == NULL)
        return;
    if (r->curl)
        curl_easy_cleanup(r->curl);
    json_decref(r->exchanges);
    free(r->path);
    free(r);
}

static size_t take_body(char *bytes, size_t one, size_t n, void *context)
{
    struct answer *a = context;
    char *larger = realloc(a->body, a->size + n * one + 1);
    if (larger == NULL)
        return 0;
    a->body = larger;
    memcpy(a->body + a->size, bytes, n * one);
    a->size += n * one;
    a->body[a->size] = '\0';
    /* The library knows how much is too much. */
    a->status = mpin_http_response_append_body(
        a->response, (const uint8_t *)bytes, n * one);
    return a->status == MPIN_OK ? n * one : 0;
}

static size_t take_header(char *line, size_t one, size_t n, void *context)
{
    struct answer *a = context;
    char name[128], value[4096];
    if (one * n < sizeof value) {
        char text[4096];
        memcpy(text, line, one * n);
        text[one * n] = '\0';
        if (sscanf(text, "%127[^: \r\n]: %4095[^\r\n]", name, value) == 2 &&
            mpin_http_response_add_header(a->response, name, value) == MPIN_OK)
            json_object_set_new(a->headers, name, json_string(value));
    }
    return one * n;
}

static int look_for_cancel(void *context, curl_off_t a, curl_off_t b,
                           curl_off_t c, curl_off_t d)
{
    int32_t canceled = 0;
    (void)a, (void)b, (void)c, (void)d;
    if (mpin_http_response_is_canceled(context, &canceled) != MPIN_OK)
        return 1;
    return canceled;
}

static struct curl_slist *header_lines(const mpin_http_request *request)
{
    struct curl_slist *lines = NULL;
    for (const char *const *h = request->headers; *h; h += 2) {
        const size_t size = strlen(h[0]) + strlen(h[1]) + 3;
        char *line = malloc(size);
        if (line == NULL)
            continue;
        snprintf(line, size, "%s: %s", h[0], h[1]);
        lines = curl_slist_append(lines, line);
        free(line);
    }
    return curl_slist_append(lines, "Expect:");
}

static void prepare(CURL *curl, const mpin_http_request *request,
                    struct curl_slist *lines, struct answer *a)
{
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, a);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_for_cancel);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, a->response);
    if (strcmp(request->method, "GET") != 0) {
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)request->body_len);
        curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS,
                         request->body_len ? (const char *)request->body : "");
    }
}

/* Writes all exchanges anew: a recording is small. */
static void save(const mpin_recorder *r)
{
    json_t *all = json_pack("{s:O}", "exchanges", r->exchanges);
    const int file = open(r->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file >= 0) {
        json_dumpfd(all, file, JSON_INDENT(1));
        close(file);
    }
    json_decref(all);
}

static void record(mpin_recorder *r, const mpin_http_request *request,
                   const struct answer *a, long status)
{
    json_t *headers = json_object();
    for (const char *const *h = request->headers; *h; h += 2)
        json_object_set_new(headers, h[0], json_string(h[1]));
    json_t *exchange = json_pack(
        "{s:{s:s, s:s, s:o, s:s%}, s:{s:i, s:O, s:s%}}", "request", "method",
        request->method, "url", request->url, "headers", headers, "body",
        request->body_len ? (const char *)request->body : "",
        request->body_len, "response", "status", (int)status, "headers",
        a->headers, "body", a->body ? a->body : "", a->size);
    if (exchange && json_array_append_new(r->exchanges, exchange) == 0)
        save(r);
}

mpin_status mpin_recorder_execute(void *recorder,
                                  const mpin_http_request *request,
                                  mpin_http_response *response)
{
    mpin_recorder *r = recorder;
    struct answer a = {response, json_object(), NULL, 0, MPIN_OK};
    struct curl_slist *lines = header_lines(request);
    long http = 0;
    mpin_status status = MPIN_OK;
    prepare(r->curl, request, lines, &a);
    const CURLcode code = curl_easy_perform(r->curl);
    curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &http);
    if (code == CURLE_OK)
        status = mpin_http_response_set_status(response, (int32_t)http);
    else if (code == CURLE_OPERATION_TIMEDOUT)
        status = MPIN_TIMED_OUT;
    else if (code == CURLE_ABORTED_BY_CALLBACK)
        status = MPIN_CANCELED;
    else
        status = a.status != MPIN_OK ? a.status : MPIN_NETWORK_ERROR;
    if (status == MPIN_OK)
        record(r, request, &a, http);
    curl_slist_free_all(lines);
    json_decref(a.headers);
    free(a.body);
    return status;
}

/* ---- Player --------------------------------------------------------- */

enum { MAX_IGNORED = 8 };

struct mpin_player {
    json_t *recording;
    /* Borrowed from it. */
    json_t *exchanges;
    size_t next;
    char ignored[MAX_IGNORED][32];
    size_t ignored_count;
    char complaint[512];
};

mpin_player *mpin_player_new(const char *path)
{
    mpin_player *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->recording = json_load_file(path, 0, NULL);
    p->exchanges = json_object_get(p->recording, "exchanges");
    if (json_array_size(p->exchanges) > 0)
        return p;
    mpin_player_free(p);
    return NULL;
}

void mpin_player_free(mpin_player *p)
{
    if (p == NULL)
        return;
    json_decref(p->recording);
    free(p);
}

void mpin_player_ignore(mpin_player *p, const char *member)
{
    if (p->ignored_count < MAX_IGNORED)
        snprintf(p->ignored[p->ignored_count++], sizeof p->ignored[0], "%s",
                 member);
}

const char *mpin_player_complaint(const mpin_player *p)
{
    return p->complaint;
}

size_t mpin_player_left(const mpin_player *p)
{
    return json_array_size(p->exchanges) - p->next;
}

static const char *text(const json_t *object, const char *member)
{
    const char *value = json_string_value(json_object_get(object, member));
    return value ? value : "";
}

/* A body without what is not compared: that is "" on both sides. */
static json_t *comparable(const mpin_player *p, const char *body, size_t size)
{
    json_t *value = json_loadb(body, size, JSON_DECODE_ANY, NULL);
    for (size_t i = 0; i < p->ignored_count; i++)
        if (json_object_get(value, p->ignored[i]))
            json_object_set_new(value, p->ignored[i], json_string(""));
    /* No JSON: the text itself. */
    return value ? value : json_stringn(body, size);
}

static int is_same_body(const mpin_player *p, const mpin_http_request *request,
                        const char *recorded)
{
    json_t *ours = comparable(
        p, request->body_len ? (const char *)request->body : "",
        request->body_len);
    json_t *theirs = comparable(p, recorded, strlen(recorded));
    const int same = json_equal(ours, theirs);
    json_decref(ours);
    json_decref(theirs);
    return same;
}

/* Whether each part of one query is in the other; the order does not count. */
static int is_part(const char *query, const char *other)
{
    while (*query) {
        const size_t n = strcspn(query, "&");
        const char *at = other;
        while (*at && (strcspn(at, "&") != n || strncmp(at, query, n) != 0)) {
            at += strcspn(at, "&");
            at += *at == '&';
        }
        if (*at == '\0' && n > 0)
            return 0;
        query += n;
        query += *query == '&';
    }
    return 1;
}

static int is_same_url(const char *a, const char *b)
{
    const size_t n = strcspn(a, "?"), m = strcspn(b, "?");
    const char *query = a + n + (a[n] == '?'), *other = b + m + (b[m] == '?');
    return n == m && strncmp(a, b, n) == 0 && is_part(query, other) &&
           is_part(other, query);
}

/* Why the request is not the recorded one; NULL if it is. */
static const char *difference(const mpin_player *p,
                              const mpin_http_request *request,
                              const json_t *recorded)
{
    if (strcmp(request->method, text(recorded, "method")) != 0)
        return "method";
    if (!is_same_url(request->url, text(recorded, "url")))
        return "URL";
    return is_same_body(p, request, text(recorded, "body")) ? NULL : "body";
}

static mpin_status answer(const json_t *recorded, mpin_http_response *response)
{
    const char *name, *body = text(recorded, "body");
    json_t *value, *headers = json_object_get(recorded, "headers");
    mpin_status status = mpin_http_response_set_status(
        response,
        (int32_t)json_integer_value(json_object_get(recorded, "status")));
    json_object_foreach(headers, name, value)
        if (status == MPIN_OK && json_is_string(value))
            status = mpin_http_response_add_header(response, name,
                                                   json_string_value(value));
    return status != MPIN_OK ? status
                             : mpin_http_response_append_body(
                                   response, (const uint8_t *)body,
                                   strlen(body));
}

/* A query holds one-time tokens. */
static int shown(const char *url)
{
    return (int)strcspn(url, "?");
}

mpin_status mpin_player_execute(void *player, const mpin_http_request *request,
                                mpin_http_response *response)
{
    mpin_player *p = player;
    const json_t *exchange = json_array_get(p->exchanges, p->next);
    const json_t *recorded = json_object_get(exchange, "request");
    const char *what =
        recorded ? difference(p, request, recorded) : "end of the recording";
    if (what == NULL) {
        p->next++;
        return answer(json_object_get(exchange, "response"), response);
    }
    if (p->complaint[0] == '\0')
        snprintf(p->complaint, sizeof p->complaint,
                 "request %zu: another %s: %s %.*s instead of %s %.*s",
                 p->next + 1, what, request->method, shown(request->url),
                 request->url, text(recorded, "method"),
                 shown(text(recorded, "url")), text(recorded, "url"));
    return MPIN_NETWORK_ERROR;
}
