/* Tests what may happen when a name is resolved, with real sockets and the
 * built-in transport: no such name, no name server, a lookup that never
 * ends, and several addresses, some of which refuse connections or never
 * answer. libcurl calls this program's own getaddrinfo, so the test needs no
 * name server. */
#define _DEFAULT_SOURCE

#include "program.h"

#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- Sockets -------------------------------------------------------- */

enum place {
    /* A server that gives client settings. */
    GOOD,
    /* A port that refuses connections. */
    CLOSED,
    /* A server that accepts connections but never answers. */
    SILENT,
    /* A port that does not accept connections, because its queue is full. */
    DEAF,
    PLACES,
    /* Addresses of other machines: INNER is a private one, CLOUD a link-local
     * one. */
    INNER = PLACES,
    CLOUD,
    ALL_PLACES
};
enum family { V4, V6, FAMILIES };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static struct {
    int socket;
    union address address;
    socklen_t size;
} sockets[FAMILIES][ALL_PLACES];

/* Whether this machine has the address ::1. Some machines, and most
 * containers, do not. */
static int has_v6 = 1;

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static void look_for_v6(void)
{
    struct sockaddr_in6 loopback;
    memset(&loopback, 0, sizeof loopback);
    loopback.sin6_family = AF_INET6;
    loopback.sin6_addr = in6addr_loopback;
    const int s = socket(AF_INET6, SOCK_STREAM, 0);
    if (s >= 0 && bind(s, (struct sockaddr *)&loopback, sizeof loopback) == 0) {
        close(s);
        return;
    }
    if (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT)
        give_up("names_test: [::1]");
    close(s);
    has_v6 = 0;
}

static void open_socket(int family, int place)
{
    union address *address = &sockets[family][place].address;
    socklen_t *size = &sockets[family][place].size;
    memset(address, 0, sizeof *address);
    if (family == V4) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        *size = sizeof address->v4;
    } else {
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_addr = in6addr_loopback;
        *size = sizeof address->v6;
    }
    const int s = socket(address->any.sa_family, SOCK_STREAM, 0);
    if (bind(s, &address->any, *size) != 0 ||
        getsockname(s, &address->any, size) != 0 ||
        (place != CLOSED && listen(s, place == DEAF ? 0 : 64) != 0))
        give_up(family == V4 ? "names_test: 127.0.0.1" : "names_test: [::1]");
    sockets[family][place].socket = s;
}

/* Gives a place the address `text`, at which nobody answers or which must not
 * be contacted. */
static void name_place(int family, int place, const char *text)
{
    union address *address = &sockets[family][place].address;
    void *number = family == V4 ? (void *)&address->v4.sin_addr
                                : (void *)&address->v6.sin6_addr;
    sockets[family][place] = sockets[family][CLOSED];
    if (inet_pton(address->any.sa_family, text, number) != 1)
        give_up(text);
}

/* Whether a connection is made within `ms` milliseconds. The connection
 * stays open. */
static int connects(int family, int place, int ms)
{
    const int s = socket(sockets[family][place].address.any.sa_family,
                         SOCK_STREAM, 0);
    struct pollfd wait = {s, POLLOUT, 0};
    fcntl(s, F_SETFL, O_NONBLOCK);
    return connect(s, &sockets[family][place].address.any,
                   sockets[family][place].size) == 0 ||
           poll(&wait, 1, ms) > 0;
}

static void answer(int peer)
{
    static const char settings[] =
        "{\"appID\":\"c0ffee\",\"registerURL\":\"/u\",\"signatureURL\":\"/s\","
        "\"certivoxURL\":\"/d/\",\"timePermitsURL\":\"/t\","
        "\"mpinAuthServerURL\":\"/rps\",\"authenticateURL\":\"/a\","
        "\"codeStatusURL\":\"http://named.test/c\"}";
    char text[4096];
    if (recv(peer, text, sizeof text, 0) <= 0)
        return;
    const int n = snprintf(text, sizeof text,
                           "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n"
                           "Connection: close\r\n\r\n%s",
                           sizeof settings - 1, settings);
    send(peer, text, (size_t)n, MSG_NOSIGNAL);
}

static void *serve(void *listener)
{
    int peer;
    while ((peer = accept(*(int *)listener, NULL, NULL)) >= 0) {
        answer(peer);
        close(peer);
    }
    return NULL;
}

/* ---- The resolver --------------------------------------------------- */

struct lookup {
    /* The addresses that the name resolves to, in this order. */
    struct {
        int family, place;
    } found[4];
    int n;
    /* 0, or the error that getaddrinfo returns. */
    int error;
    /* Whether the lookup never ends: it waits until the program ends. */
    int never_ends;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t released;
    struct lookup lookup;
    int calls, is_released;
} resolver = {.lock = PTHREAD_MUTEX_INITIALIZER,
              .released = PTHREAD_COND_INITIALIZER};

static struct addrinfo *entry(int family, int place, struct addrinfo *next)
{
    struct addrinfo *a = calloc(1, sizeof *a + sizeof(union address));
    if (!a)
        give_up("names_test: memory");
    a->ai_family = sockets[family][place].address.any.sa_family;
    a->ai_socktype = SOCK_STREAM;
    a->ai_protocol = IPPROTO_TCP;
    a->ai_addrlen = sockets[family][place].size;
    a->ai_addr = (struct sockaddr *)(void *)(a + 1);
    memcpy(a->ai_addr, &sockets[family][place].address, a->ai_addrlen);
    a->ai_next = next;
    return a;
}

int getaddrinfo(const char *name, const char *service,
                const struct addrinfo *hints, struct addrinfo **found)
{
    (void)name;
    (void)service;
    struct timespec end;
    pthread_mutex_lock(&resolver.lock);
    const struct lookup lookup = resolver.lookup;
    resolver.calls++;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 10;
    while (lookup.never_ends && !resolver.is_released)
        if (pthread_cond_timedwait(&resolver.released, &resolver.lock, &end))
            break;
    pthread_mutex_unlock(&resolver.lock);
    if (lookup.error || lookup.never_ends)
        return lookup.error ? lookup.error : EAI_AGAIN;
    *found = NULL;
    for (int i = lookup.n; i-- > 0;) {
        const int family = lookup.found[i].family == V4 ? AF_INET : AF_INET6;
        if (!hints || hints->ai_family == AF_UNSPEC ||
            hints->ai_family == family)
            *found = entry(lookup.found[i].family, lookup.found[i].place,
                           *found);
    }
    return *found ? 0 : EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *list)
{
    while (list) {
        struct addrinfo *next = list->ai_next;
        free(list);
        list = next;
    }
}

static void set_lookup(struct lookup lookup)
{
    pthread_mutex_lock(&resolver.lock);
    resolver.lookup = lookup;
    resolver.calls = 0;
    pthread_mutex_unlock(&resolver.lock);
}

static int lookups(void)
{
    pthread_mutex_lock(&resolver.lock);
    const int calls = resolver.calls;
    pthread_mutex_unlock(&resolver.lock);
    return calls;
}

/* ---- Cases ---------------------------------------------------------- */

static struct program p;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static mpin_sdk *open_sdk(uint32_t timeout_ms)
{
    mpin_sdk *sdk = NULL;
    mpin_config config = program_config(&p);
    config.allow_insecure = 1;
    config.timeout_ms = timeout_ms;
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    return sdk;
}

/* Requests the settings of a backend. The call must return by its deadline,
 * and freeing the sdk must not wait for the lookup. The limits are higher by
 * up to 3 s, because the machine may be busy. */
static void expect(const char *name, struct lookup lookup, uint32_t timeout_ms,
                   mpin_status expected)
{
    char text[512] = "";
    size_t n = sizeof text;
    mpin_sdk *sdk = open_sdk(timeout_ms);
    set_lookup(lookup);
    double start = now();
    const mpin_status status =
        mpin_sdk_set_backend(sdk, "http://backend.test", NULL);
    const double took = now() - start;
    CHECK_STATUS(mpin_sdk_last_error(sdk, text, &n), MPIN_OK);
    CHECK(status == expected, "%s: %s, %s", name, mpin_status_name(status),
          text);
    CHECK(took < timeout_ms / 1000.0 + 3, "%s took %.3f s", name, took);
    CHECK(lookups() > 0, "%s: no lookup", name);
    start = now();
    mpin_sdk_free(sdk);
    CHECK(now() - start < 3, "%s: freed in %.3f s", name, now() - start);
}

enum { SHORT = 1000, LONG = 20000 };

static void names(void)
{
    static const struct {
        const char *name;
        int error;
    } errors[] = {{"no such name", EAI_NONAME},
                  {"no name server", EAI_AGAIN},
                  {"a name server that fails", EAI_FAIL},
                  {"a resolver without memory", EAI_MEMORY},
                  {"a resolver without files", EAI_SYSTEM}};
    struct lookup lookup = {{{0, 0}}, 0, 0, 0};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        lookup.error = errors[i].error;
        expect(errors[i].name, lookup, LONG, MPIN_NETWORK_ERROR);
    }
    lookup.error = 0;
    expect("a name without addresses", lookup, LONG, MPIN_NETWORK_ERROR);
    lookup.never_ends = 1;
    expect("a lookup without end", lookup, SHORT, MPIN_TIMED_OUT);
}

static void *cancel_soon(void *sdk)
{
    while (lookups() == 0)
        usleep(1000);
    CHECK_STATUS(mpin_sdk_cancel(sdk), MPIN_OK);
    return NULL;
}

/* Tests that a lookup that never ends can be cancelled, and that another
 * name works afterwards. */
static void canceled(void)
{
    pthread_t thread;
    mpin_sdk *sdk = open_sdk(LONG);
    struct lookup lookup = {{{0, 0}}, 0, 0, 1};
    set_lookup(lookup);
    if (pthread_create(&thread, NULL, cancel_soon, sdk) != 0)
        give_up("names_test: thread");
    const double start = now();
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "http://never.test", NULL),
                 MPIN_CANCELED);
    CHECK(now() - start < LONG / 2000.0, "canceled in %.3f s", now() - start);
    pthread_join(thread, NULL);
    lookup.never_ends = 0;
    lookup.n = 1;
    set_lookup(lookup);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "http://good.test", NULL), MPIN_OK);
    mpin_sdk_free(sdk);
}

static int is_possible(const struct lookup *lookup)
{
    for (int i = 0; i < lookup->n; i++)
        if (lookup->found[i].family == V6 && !has_v6)
            return 0;
    return 1;
}

static void addresses(void)
{
    static const struct {
        const char *name;
        struct lookup lookup;
        uint32_t timeout_ms;
        mpin_status expected;
    } table[] = {
        {"IPv4", {{{V4, GOOD}}, 1, 0, 0}, LONG, MPIN_OK},
        {"IPv6", {{{V6, GOOD}}, 1, 0, 0}, LONG, MPIN_OK},
        {"IPv6 refused, IPv4 good",
         {{{V6, CLOSED}, {V4, GOOD}}, 2, 0, 0}, LONG, MPIN_OK},
        {"IPv4 refused, IPv6 good",
         {{{V4, CLOSED}, {V6, GOOD}}, 2, 0, 0}, LONG, MPIN_OK},
        {"IPv6 hangs, IPv4 good",
         {{{V6, DEAF}, {V4, GOOD}}, 2, 0, 0}, LONG, MPIN_OK},
        {"IPv4 hangs, IPv6 good",
         {{{V4, DEAF}, {V6, GOOD}}, 2, 0, 0}, LONG, MPIN_OK},
        {"IPv6 hangs twice, IPv4 good",
         {{{V6, DEAF}, {V6, DEAF}, {V4, GOOD}}, 3, 0, 0}, LONG, MPIN_OK},
        {"all refused",
         {{{V6, CLOSED}, {V4, CLOSED}}, 2, 0, 0}, LONG, MPIN_NETWORK_ERROR},
        {"IPv6 hangs", {{{V6, DEAF}}, 1, 0, 0}, SHORT, MPIN_TIMED_OUT},
        {"IPv4 hangs", {{{V4, DEAF}}, 1, 0, 0}, SHORT, MPIN_TIMED_OUT},
        {"all hang",
         {{{V6, DEAF}, {V4, DEAF}, {V6, DEAF}}, 3, 0, 0}, SHORT,
         MPIN_TIMED_OUT},
        {"IPv6 hangs, IPv4 refused",
         {{{V6, DEAF}, {V4, CLOSED}}, 2, 0, 0}, SHORT, MPIN_TIMED_OUT},
        /* A connection has been made here, so no other address is tried. */
        {"IPv6 says nothing, IPv4 good",
         {{{V6, SILENT}, {V4, GOOD}}, 2, 0, 0}, SHORT, MPIN_TIMED_OUT},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (is_possible(&table[i].lookup))
            expect(table[i].name, table[i].lookup, table[i].timeout_ms,
                   table[i].expected);
        else
            printf("left out, for want of IPv6: %s\n", table[i].name);
}

/* Tests a backend on this machine whose settings contain a host name. The
 * address of the name determines whether it is used. */
static void aimed(void)
{
    static const struct {
        const char *name;
        struct lookup lookup;
        mpin_status expected;
    } table[] = {
        {"this machine", {{{V4, GOOD}}, 1, 0, 0}, MPIN_OK},
        {"a private address", {{{V4, INNER}}, 1, 0, 0},
         MPIN_UNTRUSTED_DOMAIN_ERROR},
        {"a link-local address", {{{V4, CLOUD}}, 1, 0, 0},
         MPIN_UNTRUSTED_DOMAIN_ERROR},
        {"a unique local address", {{{V6, INNER}}, 1, 0, 0},
         MPIN_UNTRUSTED_DOMAIN_ERROR},
        {"a link-local address of IPv6", {{{V6, CLOUD}}, 1, 0, 0},
         MPIN_UNTRUSTED_DOMAIN_ERROR},
        {"four of them",
         {{{V4, INNER}, {V6, INNER}, {V4, CLOUD}, {V6, CLOUD}}, 4, 0, 0},
         MPIN_UNTRUSTED_DOMAIN_ERROR},
        {"a private address, then this machine",
         {{{V4, INNER}, {V4, GOOD}}, 2, 0, 0}, MPIN_OK},
    };
    const struct lookup good = {{{V4, GOOD}}, 1, 0, 0};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        mpin_session_details details;
        mpin_sdk *sdk = open_sdk(LONG);
        details.size = sizeof details;
        if (!is_possible(&table[i].lookup)) {
            printf("left out, for want of IPv6: %s\n", table[i].name);
            mpin_sdk_free(sdk);
            continue;
        }
        set_lookup(good);
        CHECK_STATUS(mpin_sdk_set_backend(sdk, "http://backend.test", NULL),
                     MPIN_OK);
        set_lookup(table[i].lookup);
        const double start = now();
        const mpin_status status =
            mpin_sdk_get_session_details(sdk, &details, "code");
        CHECK(status == table[i].expected, "%s: %s", table[i].name,
              mpin_status_name(status));
        CHECK(now() - start < LONG / 2000.0, "%s took %.3f s", table[i].name,
              now() - start);
        CHECK(lookups() > 0, "%s: no lookup", table[i].name);
        mpin_sdk_free(sdk);
    }
}

int main(void)
{
    pthread_t threads[FAMILIES];
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    program_open(&p);
    program_forget(&p);
    p.context.http_execute = NULL;
    look_for_v6();
    const int families = has_v6 ? FAMILIES : V6;
    for (int family = 0; family < families; family++) {
        for (int place = 0; place < PLACES; place++)
            open_socket(family, place);
        name_place(family, INNER, family == V4 ? "10.1.2.3" : "fd00::1:2");
        name_place(family, CLOUD, family == V4 ? "169.254.169.254" : "fe80::1");
        for (int i = 0; i < 4; i++)
            connects(family, DEAF, 0);
        CHECK(!connects(family, DEAF, 100), "family %d is not deaf", family);
        if (pthread_create(&threads[family], NULL, serve,
                           &sockets[family][GOOD].socket) != 0)
            give_up("names_test: thread");
    }
    names();
    canceled();
    addresses();
    aimed();
    for (int family = 0; family < families; family++) {
        shutdown(sockets[family][GOOD].socket, SHUT_RDWR);
        pthread_join(threads[family], NULL);
    }
    pthread_mutex_lock(&resolver.lock);
    resolver.is_released = 1;
    pthread_cond_broadcast(&resolver.released);
    pthread_mutex_unlock(&resolver.lock);
    program_close(&p);
    return report("names_test");
}
