/* Tests what a network may do to an answer, with real sockets and the
 * built-in transport: connections that are refused, or reset or closed after
 * any byte, silence, bytes that come slowly, wrong lengths and chunks,
 * interim answers, redirects, and answers that are not HTTP.
 *
 * usage: network_test [STRIDE]     resets and closes after every STRIDE-th
 * byte only */
#define _DEFAULT_SOURCE

#include "steps.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- A server that causes the fault in `fault` ---------------------- */

enum kind { NONE, RESET, CLOSE, STALL, DRIP, RAW, FLOOD };

struct fault {
    int call;
    enum kind kind;
    /* The number of bytes of the right answer that are sent before the
     * fault. */
    size_t at;
    /* A text that is sent instead of the right answer; "%s" in it stands for
     * the right body. */
    const char *raw;
};

static struct fault fault;

static int listener = -1, port;
static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* `met` is the number of requests that met the fault, `good_len` the length of
 * the last right answer. */
static int met;
static size_t good_len;

static void send_all(int peer, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(peer, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        n -= (size_t)sent;
    }
}

/* Reads a request. Returns 0, or -1 if there is none. */
static int receive(int peer, char *text, size_t room, char **body)
{
    size_t n = 0, length = 0;
    *body = NULL;
    while (n + 1 < room) {
        ssize_t got = recv(peer, text + n, room - 1 - n, 0);
        if (got <= 0)
            return -1;
        n += (size_t)got;
        text[n] = '\0';
        if (*body == NULL && (*body = strstr(text, "\r\n\r\n")) != NULL) {
            const char *header = strstr(text, "Content-Length: ");
            *body += 4;
            length = header ? strtoul(header + 16, NULL, 10) : 0;
        }
        if (*body && n >= (size_t)(*body - text) + length)
            return 0;
    }
    return -1;
}

static void wait_for_the_end(int peer)
{
    char byte;
    while (recv(peer, &byte, 1, 0) > 0)
        ;
}

static void disturb(int peer, const struct fault *f, const char *good, size_t n,
                    const char *body)
{
    static char text[1 << 16];
    const struct linger at_once = {1, 0};
    const size_t at = f->at < n ? f->at : n;
    switch (f->kind) {
    case RESET:
        send_all(peer, good, at);
        setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        return;
    case CLOSE: send_all(peer, good, at); return;
    case STALL:
        send_all(peer, good, at);
        wait_for_the_end(peer);
        return;
    case DRIP:
        for (size_t i = 0; i < n; i++) {
            if (send(peer, good + i, 1, MSG_NOSIGNAL) != 1)
                return;
            usleep(2000);
        }
        return;
    case FLOOD:
        for (int i = 0; i < 1 << 16; i++)
            if (send(peer, f->raw, strlen(f->raw), MSG_NOSIGNAL) <= 0)
                return;
        return;
    default: {
        /* Replaces "%s" by the body, and no other format. */
        const char *place = strstr(f->raw, "%s");
        size_t head = place ? (size_t)(place - f->raw) : strlen(f->raw);
        memcpy(text, f->raw, head);
        snprintf(text + head, sizeof text - head, "%s%s", place ? body : "",
                 place ? place + 2 : "");
        send_all(peer, text, strlen(text));
    }
    }
}

static void serve(int peer)
{
    static char request[16384], answer[8192];
    struct fake_answer a;
    char method[8] = "", path[4096] = "", *body;
    if (receive(peer, request, sizeof request, &body) != 0 ||
        sscanf(request, "%7s %4095s", method, path) != 2)
        return;
    pthread_mutex_lock(&lock);
    fake_serve(&p.server, &a, method, path, body);
    const int n =
        snprintf(answer, sizeof answer,
                 "HTTP/1.1 %d Status\r\nContent-Type: application/json\r\n"
                 "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                 a.status, strlen(a.body), a.body);
    const struct fault f = fault;
    const int is_met = f.kind != NONE && (int)a.call == f.call;
    if (is_met) {
        met++;
        good_len = (size_t)n;
    }
    pthread_mutex_unlock(&lock);
    if (is_met)
        disturb(peer, &f, answer, (size_t)n, a.body);
    else
        send_all(peer, answer, (size_t)n);
}

static void *serve_all(void *unused)
{
    int peer;
    (void)unused;
    while ((peer = accept(listener, NULL, NULL)) >= 0) {
        serve(peer);
        close(peer);
    }
    return NULL;
}

static void start_server(void)
{
    const int on = 1;
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)port);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, 64) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0 ||
        pthread_create(&thread, NULL, serve_all, NULL) != 0) {
        perror("network_test: server");
        exit(1);
    }
    port = ntohs(address.sin_port);
    snprintf(backend, sizeof backend, "http://127.0.0.1:%d", port);
}

static void stop_server(void)
{
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
}

/* ---- One call that is disturbed ------------------------------------- */

/* The deadline of each call. It leaves no time for a second try, which
 * begins after at least 50 ms. */
enum { TIMEOUT_MS = 45 };

static void set_fault(enum kind kind, size_t at, const char *raw)
{
    pthread_mutex_lock(&lock);
    fault.kind = kind;
    fault.at = at;
    fault.raw = raw;
    met = 0;
    pthread_mutex_unlock(&lock);
}

/* The results that a call may have, as bits; LATE stands for MPIN_TIMED_OUT. */
enum { GOOD = 1, NETWORK = 2, PARSE = 4, LATE = 8 };

static int bit(mpin_status status)
{
    switch (status) {
    case MPIN_OK: return GOOD;
    case MPIN_NETWORK_ERROR: return NETWORK;
    case MPIN_RESPONSE_PARSE_ERROR: return PARSE;
    case MPIN_TIMED_OUT: return LATE;
    default: return 0;
    }
}

/* `tried` is the number of calls; `late` is how many of them ended at their
 * deadline although the fault delayed nothing. */
static int tried, late;

static void try_fault(int step, int expected)
{
    faults++;
    if (step == LOGIN)
        run_well(BEGIN);
    const double start = now();
    const mpin_status status = run(step);
    const double took = now() - start;
    const enum kind kind = fault.kind;
    const char *raw = fault.raw ? fault.raw : "";
    const size_t at = fault.at;
    set_fault(NONE, 0, NULL);
    /* A busy machine may make a call late. main() checks that this is rare.
     * Faults of the permit storage must not matter, because the second D-TA
     * then gives the share. */
    if (fault.call == FAKE_STORAGE)
        expected = GOOD;
    CHECK(bit(status) & (expected | LATE), "%s, %s, kind %d at %zu, \"%s\": %s",
          steps[step].name, fake_names[fault.call], kind, at, raw,
          mpin_status_name(status));
    tried++;
    late += status == MPIN_TIMED_OUT && !(expected & LATE);
    CHECK(took < 3.0 + TIMEOUT_MS / 1000.0, "%s took %.3f s", steps[step].name,
          took);
    if (status == MPIN_OK)
        come_back(step);
    else
        check_unchanged(step);
}

static void cut_off(int step, size_t stride)
{
    const enum kind kinds[] = {RESET, CLOSE};
    for (int k = 0; k < 2; k++) {
        good_len = 200;
        for (size_t at = 0; at <= good_len; at += stride) {
            set_fault(kinds[k], at, NULL);
            /* A reset after the last byte may still reach the client before
             * the last bytes do. */
            try_fault(step, at < good_len ? NETWORK : GOOD | NETWORK);
        }
    }
    set_fault(CLOSE, 1 << 20, NULL);
    try_fault(step, GOOD);
    const size_t silences[] = {0, 9, 50, 100};
    for (int i = 0; i < 4; i++) {
        set_fault(STALL, silences[i], NULL);
        try_fault(step, LATE);
    }
    set_fault(DRIP, 0, NULL);
    try_fault(step, LATE);
}

static void refused(int step)
{
    if (step == LOGIN)
        run_well(BEGIN);
    stop_server();
    const mpin_status status = run(step);
    CHECK(bit(status) & (NETWORK | LATE), "%s refused: %s", steps[step].name,
          mpin_status_name(status));
    start_server();
    check_unchanged(step);
}

#define OK_LINE "HTTP/1.1 200 OK\r\n"

static void lies(int step)
{
    static const struct {
        const char *raw;
        int expected;
    } table[] = {
        {OK_LINE "Content-Length: 10\r\n\r\n%s", PARSE | NETWORK},
        {OK_LINE "Content-Length: 9999\r\n\r\n%s", NETWORK},
        {OK_LINE "Content-Length: -1\r\n\r\n%s", NETWORK | PARSE},
        {OK_LINE "Content-Length: x\r\n\r\n%s", NETWORK | PARSE},
        /* libcurl takes this length as unknown, and reads until the
         * connection ends. */
        {OK_LINE "Content-Length: 99999999999999999999\r\n\r\n%s",
         GOOD | NETWORK},
        {OK_LINE "Content-Length: 2000000000\r\n\r\n%s", NETWORK | PARSE},
        {OK_LINE "Content-Length: 5\r\nContent-Length: 6\r\n\r\n%s",
         NETWORK | PARSE},
        {OK_LINE "\r\n%s", GOOD},
        {OK_LINE "Transfer-Encoding: chunked\r\n\r\n%s", NETWORK},
        {OK_LINE "Transfer-Encoding: chunked\r\n\r\nzz\r\n%s\r\n0\r\n\r\n",
         NETWORK},
        {OK_LINE "Transfer-Encoding: chunked\r\n\r\nfff\r\n%s\r\n0\r\n\r\n",
         NETWORK},
        {OK_LINE "Transfer-Encoding: chunked\r\n\r\n2\r\n%s\r\n0\r\n\r\n",
         NETWORK},
        {OK_LINE "Transfer-Encoding: chunked\r\n\r\n"
                 "ffffffffffffffffff\r\n%s\r\n0\r\n\r\n",
         NETWORK},
        {OK_LINE "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         PARSE | GOOD},
        {OK_LINE "Transfer-Encoding: gzip, chunked\r\n\r\n%s", NETWORK | PARSE},
        {OK_LINE "Content-Encoding: gzip\r\n\r\n%s", GOOD | NETWORK | PARSE},
        {"HTTP/1.1 100 Continue\r\n\r\n" OK_LINE "\r\n%s", GOOD},
        {"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" OK_LINE "\r\n%s", GOOD},
        {"HTTP/1.1 100 Continue\r\n\r\n", NETWORK},
        {"HTTP/1.1 101 Switching Protocols\r\n\r\n%s", NETWORK},
        {"HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
         NETWORK},
        {"HTTP/1.1 302 Found\r\nLocation: ./\r\n\r\n%s", NETWORK},
        {"HTTP/1.1 307 Again\r\nLocation: http://127.0.0.1:1/\r\n\r\n%s",
         NETWORK},
        {"HTTP/1.1 304 Not Modified\r\n\r\n", NETWORK},
        {"HTTP/1.0 200 OK\r\n\r\n%s", GOOD},
        {"HTTP/9.9 200 OK\r\n\r\n%s", NETWORK},
        {"HTTP/1.1 99999 OK\r\n\r\n%s", NETWORK},
        {"HTTP/1.1 000 OK\r\n\r\n%s", NETWORK},
        {"HTTP/1.1\r\n\r\n%s", NETWORK},
        {"%s", NETWORK},
        {"SSH-2.0-OpenSSH_9.2\r\n", NETWORK},
        {"\r\n\r\n\r\n", NETWORK},
        {OK_LINE ": no name\r\n\r\n%s", GOOD | NETWORK},
        {OK_LINE "no colon\r\n\r\n%s", GOOD | NETWORK},
        {OK_LINE "Content-Length: 0\r\n\r\n", PARSE | GOOD},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        set_fault(RAW, 0, table[i].raw);
        try_fault(step, table[i].expected);
    }
    const char *floods[] = {"HTTP/1.1 100 Continue\r\n\r\n",
                            OK_LINE "x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n",
                            "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"};
    for (int i = 0; i < 3; i++) {
        set_fault(FLOOD, 0, floods[i]);
        try_fault(step, NETWORK | PARSE);
    }
}

/* Tests a redirect. The request must be sent once, and the target must not
 * be requested. */
static void redirected(int step)
{
    if (step == LOGIN)
        run_well(BEGIN);
    set_fault(RAW, 0,
              "HTTP/1.1 302 Found\r\nLocation: /rps/clientSettings\r\n"
              "Content-Length: 0\r\n\r\n");
    const mpin_status status = run(step);
    CHECK(met <= 1, "%s: %d requests, %s", steps[step].name, met,
          mpin_status_name(status));
    set_fault(NONE, 0, NULL);
    come_back(step);
}

int main(int argc, char **argv)
{
    const size_t stride = argc > 1 ? (size_t)atol(argv[1]) : 1;
    signal(SIGPIPE, SIG_DFL);
    program_open(&p);
    program_forget(&p);
    p.context.http_execute = NULL;
    timeout_ms = TIMEOUT_MS;
    start_server();
    keep();
    for (int step = 0; step < STEPS; step++) {
        come_back(step);
        for (fault.call = steps[step].first; fault.call <= steps[step].last;
             fault.call++) {
            cut_off(step, stride ? stride : 1);
            lies(step);
            if (fault.call != FAKE_STORAGE)
                redirected(step);
        }
        refused(step);
        if (step < LOGIN)
            go_on(step);
        printf("%s: %d checks so far\n", steps[step].name, checks);
        fflush(stdout);
    }
    close_sdk();
    stop_server();
    program_close(&p);
    CHECK(late * 5 < tried, "%d of %d calls were late", late, tried);
    return report("network_test");
}
