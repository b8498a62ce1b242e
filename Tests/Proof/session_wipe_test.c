/* Tests that no secret of a session is left in the memory of a process that
 * logs in, renews its tokens, hands one over and logs out. When it has freed
 * its session it searches (search.h) for the secret of the client, also as the
 * header Authorization has it, and for the tokens.
 *
 * usage: session_wipe_test ROUNDS
 *
 * The provider is another process. Either libcurl or the program itself sends
 * the requests. */
#define _DEFAULT_SOURCE

#include "../C/store.h"
#include "listener.h"
#include "search.h"

#include <mpin.h>
#include <signal.h>

enum { OCTETS = 16, DIGITS = 2 * OCTETS, ROOM = 4096 };

/* The secret of the client, which only a child process has drawn. */
static char *masked;
static const char *store;

/* ---- The secrets ---------------------------------------------------------- */

/* Writes random octets as hex digits, and adds them to the search. */
static void draw(char *text, const char *name)
{
    uint8_t scalar[MPIN_SCALAR_SIZE];
    must(mpin_crypto_random_generate(ARG(scalar)));
    for (int i = 0; i < OCTETS; i++)
        snprintf(text + 2 * i, 3, "%02x", scalar[OCTETS + i]);
    digits(name, scalar + OCTETS, OCTETS);
}

static void draw_client_secret(void)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
                                "uvwxyz0123456789+/";
    char text[DIGITS + 1], plain[] = "app:--------------------------------";
    uint8_t base64[48];
    draw(text, "client secret");
    memcpy(plain + 4, text, DIGITS);
    for (size_t i = 0; i < sizeof base64; i++) {
        const uint8_t *from = (const uint8_t *)plain + i / 4 * 3;
        const unsigned group = from[0] << 16 | from[1] << 8 | from[2];
        base64[i] = (uint8_t)digit[group >> (18 - 6 * (i % 4)) & 63];
    }
    /* The first characters stand for the name of the client. */
    for (size_t i = 8; i < sizeof base64; i += 8)
        needle("header", base64 + i);
    mask(masked, text, sizeof text);
}

/* ---- The provider --------------------------------------------------------- */

static void answer(char *body, const char *path)
{
    char access[DIGITS + 1], refresh[DIGITS + 1];
    if (strncmp(path, "/device", 7) == 0) {
        strcpy(body, "{\"device_code\":\"d\",\"user_code\":\"c\",\"interval\":1,"
                     "\"verification_uri\":\"u\",\"expires_in\":60}");
    } else if (strncmp(path, "/token", 6) == 0) {
        draw(access, "access token");
        draw(refresh, "refresh token");
        snprintf(body, ROOM,
                 "{\"access_token\":\"%s\",\"refresh_token\":\"%s\","
                 "\"expires_in\":600}",
                 access, refresh);
    } else {
        strcpy(body, "{}");
    }
}

/* Reads a request: its header, and a body of the length that the header names.
 */
static int receive(int peer, char *text)
{
    size_t size = 0, wanted = 0;
    while (!wanted || size < wanted) {
        ssize_t n = read(peer, text + size, ROOM - 1 - size);
        if (n <= 0)
            return -1;
        text[size += (size_t)n] = '\0';
        const char *body = strstr(text, "\r\n\r\n");
        const char *length = strstr(text, "Content-Length: ");
        if (body)
            wanted = (size_t)(body + 4 - text) +
                     (length ? (size_t)atol(length + 16) : 0);
    }
    return 0;
}

static void serve(void)
{
    static char request[ROOM], body[ROOM], head[256];
    int peer;
    while ((peer = accept(listener, NULL, NULL)) >= 0) {
        if (receive(peer, request) == 0) {
            /* Every client must authenticate. */
            const int known = strstr(request, "Authorization: Basic ") != NULL;
            answer(body, strchr(request, ' ') + 1);
            snprintf(head, sizeof head,
                     "HTTP/1.1 %d x\r\nContent-Length: %zu\r\nConnection: "
                     "close\r\n\r\n",
                     known ? 200 : 401, strlen(body));
            if (write(peer, head, strlen(head)) < 0 ||
                write(peer, body, strlen(body)) < 0)
                _exit(2);
        }
        close(peer);
    }
}

/* ---- The program's own HTTP ----------------------------------------------- */

static int open_connection(void)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    int peer = socket(AF_INET, SOCK_STREAM, 0);
    getsockname(listener, (struct sockaddr *)&address, &size);
    if (peer < 0 || connect(peer, (struct sockaddr *)&address, size) != 0)
        perror("session_wipe_test"), exit(2);
    return peer;
}

static void send_request(int peer, const mpin_http_request *request)
{
    static char text[ROOM];
    int size = snprintf(text, ROOM, "%s %s HTTP/1.1\r\nContent-Length: %zu\r\n",
                        request->method, request->url + strlen(url),
                        request->body_len);
    for (const char *const *at = request->headers; *at; at += 2)
        size += snprintf(text + size, (size_t)(ROOM - size), "%s: %s\r\n", at[0],
                         at[1]);
    size += snprintf(text + size, (size_t)(ROOM - size), "\r\n");
    memcpy(text + size, request->body, request->body_len);
    if (write(peer, text, (size_t)size + request->body_len) < 0)
        perror("session_wipe_test"), exit(2);
    wipe(text, sizeof text);
}

static mpin_status ask(void *user, const mpin_http_request *request,
                       mpin_http_response *response)
{
    static char text[ROOM];
    size_t size = 0;
    ssize_t n;
    int peer = open_connection();
    (void)user;
    send_request(peer, request);
    while ((n = read(peer, text + size, ROOM - 1 - size)) > 0)
        size += (size_t)n;
    close(peer);
    text[size] = '\0';
    char *body = strstr(text, "\r\n\r\n");
    mpin_status status = MPIN_NETWORK_ERROR;
    if (body)
        status = mpin_http_response_append_body(
            response, (const uint8_t *)body + 4, strlen(body + 4));
    if (status == MPIN_OK)
        status = mpin_http_response_set_status(response, atoi(text + 9));
    wipe(text, sizeof text);
    return status;
}

/* ---- The calls under test ------------------------------------------------- */

static void show_code(void *user, const mpin_device_code *code)
{
    (void)user, (void)code;
}

static void add_provider(mpin_session *session)
{
    char secret[DIGITS + 1], token[80], device[80], revocation[80];
    mpin_provider provider = {0};
    snprintf(token, sizeof token, "%s/token", url);
    snprintf(device, sizeof device, "%s/device", url);
    snprintf(revocation, sizeof revocation, "%s/revoke", url);
    mask(secret, masked, sizeof secret);
    provider.size = sizeof provider;
    provider.name = "p";
    provider.login = MPIN_LOGIN_DEVICE_CODE;
    provider.client_id = "app";
    provider.client_secret = secret;
    provider.origins = url;
    provider.token_endpoint = token;
    provider.device_endpoint = device;
    provider.revocation_endpoint = revocation;
    must(mpin_session_add_provider(session, &provider));
    wipe(secret, sizeof secret);
}

static void use(mpin_session *session)
{
    char value[256], next[256];
    size_t size = sizeof value;
    must(mpin_session_get_access_token(session, value, &size, NULL, 60, 0));
    size = sizeof value;
    must(mpin_session_authorize(session, value, &size, url, NULL, 0));
    size = sizeof next;
    /* An API has refused the token: it is renewed. */
    must(mpin_session_authorize(session, next, &size, url, value, 0));
    CHECK(strcmp(value, next) != 0, "the same token");
    must(mpin_session_renew(session));
    size = sizeof next;
    must(mpin_session_handover(session, next, &size, "a", "b"));
    wipe(value, sizeof value);
    wipe(next, sizeof next);
}

static void *call(void *context)
{
    const char *name = "";
    mpin_sdk *sdk = NULL;
    mpin_session *session = NULL;
    mpin_config config = {0};
    mpin_session_config asked = {0};
    config.size = sizeof config;
    config.context = context;
    config.storage_path = store;
    asked.size = sizeof asked;
    asked.show_code = show_code;
    must(mpin_sdk_new(&sdk));
    must(mpin_sdk_init(sdk, &config));
    must(mpin_session_new(sdk, &session, &asked));
    add_provider(session);
    must(mpin_session_login(session, "p", NULL));
    use(session);
    CHECK(search_for("client secret", &name) > 0, "what is there is not found");
    CHECK(search_for("refresh token", &name) > 0, "what is there is not found");
    must(mpin_session_logout(session, 0));
    mpin_session_free(session);
    mpin_sdk_free(sdk);
    return NULL;
}

static void life(void *stack, int round)
{
    const char *name = "";
    mpin_context context = {0};
    context.size = sizeof context;
    context.http_execute = round % 2 ? ask : NULL;
    needles->count = 0;
    in_child(draw_client_secret);
    pid_t server = fork();
    if (server == 0) {
        serve();
        _exit(0);
    }
    on_thread(stack, call, &context);
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
    const size_t found = search(&name);
    /* One find is allowed: eight hex digits are only 32 bits, so they can
     * occur by chance. */
    CHECK(found <= 1, "round %d: %zu pieces, one of the %s", round, found, name);
    CHECK(needles->count >= 25, "%zu needles", needles->count);
}

int main(int argc, char **argv)
{
    int rounds = argc == 2 ? atoi(argv[1]) : 0;
    if (rounds < 1)
        return fputs("usage: session_wipe_test ROUNDS\n", stderr), 2;
    if (store_open() != 0)
        return perror("session_wipe_test"), 2;
    store = store_path("store");
    needles = pages(sizeof *needles, MAP_SHARED);
    masked = pages(DIGITS + 1, MAP_SHARED);
    void *stack = pages(STACK, MAP_PRIVATE);
    listen_on_loopback();
    for (int round = 0; round < rounds; round++)
        life(stack, round);
    store_close();
    return report("session_wipe_test");
}
