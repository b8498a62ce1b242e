/* Tests that no secret of a user is left in the memory of a process that
 * registers, logs in and changes the PIN. After each step it searches
 * (search.h) for PINs and factors. After it has freed its sdk it also
 * searches for client secret shares, client secret, tokens, store key and
 * registration token.
 *
 * At a project of MIRACL Trust the client secret contains a number that only
 * the client knows, so there the search is for PINs and shares.
 *
 * usage: client_wipe_test ROUNDS
 *
 * The server is another process. Either libcurl or the program itself sends
 * the requests; the store is either files or the program's own storage. */
#define _DEFAULT_SOURCE

#include "../C/fake_server.h"
#include "../C/store.h"
#include "listener.h"
#include "search.h"

#include <mpin.h>
#include <signal.h>

enum { STORED = 1 << 14, KEY_SIZE = 32 };

/* The PINs 839174 and 506283 and the factor 947150. They are masked, so that
 * the program itself contains no copy of them. */
enum { PIN, NEW_PIN, FACTOR, TYPED, DIGITS = 6 };
static const uint8_t masked[TYPED][DIGITS] = {
    {'8' ^ 0x55, '3' ^ 0x55, '9' ^ 0x55, '1' ^ 0x55, '7' ^ 0x55, '4' ^ 0x55},
    {'5' ^ 0x55, '0' ^ 0x55, '6' ^ 0x55, '2' ^ 0x55, '8' ^ 0x55, '3' ^ 0x55},
    {'9' ^ 0x55, '4' ^ 0x55, '7' ^ 0x55, '1' ^ 0x55, '5' ^ 0x55, '0' ^ 0x55}};
static char typed[TYPED][DIGITS + 1];

static void type_all(void)
{
    for (int i = 0; i < TYPED; i++)
        mask(typed[i], masked[i], DIGITS);
}

struct request {
    char method[8], path[1024], body[2048];
};

/* ---- The server, which alone knows the secrets ------------------------- */

/* Adds a secret to the search in the forms in which the client has it:
 * octets and hex. wipe_test searches for the forms that the engine makes of
 * it. */
static void octets(const char *name, const uint8_t *secret, size_t size)
{
    for (size_t i = 0; i + 8 <= size; i += 8)
        needle(name, secret + i);
    digits(name, secret, size);
}

static void point(const char *name, const uint8_t *secret)
{
    octets(name, secret + 1, MPIN_G1_SIZE - 1);
}

/* Adds to the search the token that remains when the PIN `typed[which]` and
 * the factor are taken off the client secret. */
static void token(const struct fake *m, const uint8_t *secret, int which)
{
    uint8_t id[FAKE_HEX_ID / 2], number[MPIN_SCALAR_SIZE];
    uint8_t half[MPIN_G1_SIZE], whole[MPIN_G1_SIZE];
    int32_t bits;
    size_t n = fake_from_hex(id, sizeof id, m->mpin_id);
    type_all();
    must(mpin_crypto_pin_to_scalar(ARG(number), &bits, MPIN_PIN_DECIMAL6,
                                   (const uint8_t *)typed[which], DIGITS));
    must(mpin_crypto_extract_pin(ARG(half), id, n, ARG(number), bits, secret,
                                 MPIN_G1_SIZE));
    must(mpin_crypto_pin_to_scalar(ARG(number), &bits, MPIN_PIN_DECIMAL6,
                                   (const uint8_t *)typed[FACTOR], DIGITS));
    must(mpin_crypto_extract_factor(ARG(whole), id, n, ARG(number), bits,
                                    ARG(half)));
    point("token", whole);
}

static void note(const struct fake *m, const struct fake_answer *a)
{
    if (a->call == FAKE_TRUST_SHARE || a->call == FAKE_SIGNING_SHARE) {
        uint8_t keyed[MPIN_G1_SIZE];
        fake_from_hex(ARG(keyed), fake_member(a->body, "dvsClientSecret"));
        point("client secret share", keyed);
        return;
    }
    static uint8_t share[2][MPIN_G1_SIZE];
    uint8_t secret[MPIN_G1_SIZE];
    const int i = a->call == FAKE_SECRET;
    if (a->call == FAKE_REGISTER)
        for (size_t at = 0; at + 8 <= strlen(m->reg_ott); at += 8)
            needle("registration token", (const uint8_t *)m->reg_ott + at);
    const char *name = i ? "clientSecret" : "clientSecretShare";
    if (!i && a->call != FAKE_SIGNATURE)
        return;
    fake_from_hex(share[i], MPIN_G1_SIZE, fake_member(a->body, name));
    point("client secret share", share[i]);
    if (!i)
        return;
    must(mpin_crypto_recombine_g1(ARG(secret), ARG(share[0]), ARG(share[1])));
    point("client secret", secret);
    token(m, secret, PIN);
    token(m, secret, NEW_PIN);
}

/* Replaces the registration token in the server's answer by a random one. The
 * fake server counts its tokens, so their digits would be found anywhere. */
static void draw_token(struct fake *m, struct fake_answer *a)
{
    uint8_t scalar[MPIN_SCALAR_SIZE];
    if (a->call != FAKE_REGISTER)
        return;
    char *text = strstr(a->body, "\"regOTT\":\"") + strlen("\"regOTT\":\"");
    must(mpin_crypto_random_generate(ARG(scalar)));
    fake_to_hex(m->reg_ott, scalar + sizeof scalar / 2, sizeof scalar / 2);
    memcpy(text, m->reg_ott, strlen(m->reg_ott));
}

static void answer(struct fake *m, struct fake_answer *a,
                   const struct request *r)
{
    fake_serve(m, a, r->method, r->path, r->body);
    draw_token(m, a);
    note(m, a);
}

/* `line` is the socket between the server and the program's own http_execute;
 * on `listener` the server accepts the connections of libcurl. */
static int line;
/* Whether the server is asked over the wire of MIRACL Trust. */
static int is_trust;

static void open_server(struct fake *m)
{
    fake_open(m);
    if (!is_trust)
        return;
    m->mfa = url;
    m->permits = 0;
    m->digits = DIGITS;
}

static void serve_line(void)
{
    struct fake m;
    struct fake_answer a;
    struct request r;
    open_server(&m);
    while (read(line, &r, sizeof r) == sizeof r) {
        answer(&m, &a, &r);
        if (write(line, &a, sizeof a) != sizeof a)
            _exit(2);
    }
    fake_close(&m);
}

/* Receives a request: its header, and a body of the length that the header
 * names. */
static int receive(int peer, struct request *r)
{
    static char text[8192];
    size_t size = 0, wanted = 0;
    char *body = NULL;
    memset(r, 0, sizeof *r);
    while (!body || size < wanted) {
        ssize_t n = read(peer, text + size, sizeof text - 1 - size);
        if (n <= 0)
            return -1;
        text[size += (size_t)n] = '\0';
        if (body || !(body = strstr(text, "\r\n\r\n")))
            continue;
        body += 4;
        const char *length = strstr(text, "Content-Length: ");
        wanted = (size_t)(body - text);
        if (length && length < body)
            wanted += (size_t)atol(length + strlen("Content-Length: "));
    }
    snprintf(r->body, sizeof r->body, "%s", body);
    return sscanf(text, "%7s %1023s", r->method, r->path) == 2 ? 0 : -1;
}

static void serve_http(void)
{
    struct fake m;
    struct fake_answer a;
    struct request r;
    char head[160];
    int peer;
    open_server(&m);
    while ((peer = accept(listener, NULL, NULL)) >= 0) {
        if (receive(peer, &r) == 0) {
            answer(&m, &a, &r);
            int n = snprintf(head, sizeof head,
                             "HTTP/1.1 %d \r\nContent-Length: %zu\r\n"
                             "Connection: close\r\n\r\n",
                             a.status, strlen(a.body));
            if (write(peer, head, (size_t)n) != n ||
                write(peer, a.body, strlen(a.body)) < 0)
                _exit(2);
        }
        close(peer);
    }
}

static pid_t start_server(int is_http)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        perror("client_wipe_test"), exit(2);
    pid_t child = fork();
    line = ends[child == 0];
    close(ends[child != 0]);
    if (child == 0) {
        is_http ? serve_http() : serve_line();
        _exit(0);
    }
    return child;
}

/* ---- The program's callbacks ------------------------------------------- */

static mpin_status ask(void *user, const mpin_http_request *request,
                       mpin_http_response *response)
{
    static struct fake_answer a;
    static struct request r;
    (void)user;
    if (request->body_len >= sizeof r.body)
        return MPIN_INVALID_ARGUMENT;
    memset(&r, 0, sizeof r);
    snprintf(r.method, sizeof r.method, "%s", request->method);
    snprintf(r.path, sizeof r.path, "%s",
             strchr(request->url + strlen("http://"), '/'));
    if (request->body_len)
        memcpy(r.body, request->body, request->body_len);
    mpin_status status = MPIN_NETWORK_ERROR;
    if (write(line, &r, sizeof r) == sizeof r &&
        read(line, &a, sizeof a) == sizeof a)
        status = mpin_http_response_append_body(
            response, (const uint8_t *)a.body, strlen(a.body));
    if (status == MPIN_OK)
        status = mpin_http_response_set_status(response, a.status);
    wipe(&a, sizeof a);
    return status;
}

/* What the library has stored, for each kind of data. It is masked, so that
 * the search does not find it here. */
static struct {
    uint8_t bytes[STORED];
    size_t size;
} stored[2];

/* The paths of the store's files. */
static const char *store, *store_key;

static mpin_status get(void *user, mpin_storage_data *data, int32_t kind)
{
    static uint8_t bytes[STORED];
    (void)user;
    mask(bytes, stored[kind].bytes, stored[kind].size);
    mpin_status status =
        mpin_storage_data_append(data, bytes, stored[kind].size);
    wipe(bytes, sizeof bytes);
    return status;
}

static mpin_status set(void *user, int32_t kind, const uint8_t *bytes,
                       size_t bytes_len)
{
    (void)user;
    if (bytes_len > STORED)
        return MPIN_STORAGE_ERROR;
    mask(stored[kind].bytes, bytes, bytes_len);
    stored[kind].size = bytes_len;
    return MPIN_OK;
}

/* ---- The key, which the child reads where it is stored, and the PINs ---- */

static void note_key_and_pins(void)
{
    char text[2 * KEY_SIZE + 1] = "";
    uint8_t key[KEY_SIZE];
    FILE *file = stored[MPIN_STORAGE_SECURE].size
                     ? NULL
                     : fopen(store_key, "r");
    mask(text, stored[MPIN_STORAGE_SECURE].bytes, 2 * KEY_SIZE);
    if (file && fread(text, 1, 2 * KEY_SIZE, file) != 2 * KEY_SIZE)
        _exit(2);
    if (fake_from_hex(key, sizeof key, text) != sizeof key)
        _exit(2);
    octets("store key", key, sizeof key);
    type_all();
    for (int i = 0; i < TYPED; i++)
        short_text("PIN", typed[i]);
}

/* ---- The calls under test ----------------------------------------------- */

/* The steps. Each uses a new sdk and is followed by a search, because later
 * calls would overwrite what earlier ones have left. */
enum step {
    OPEN,
    START,
    CONFIRM,
    FINISH,
    WRONG_PIN,
    LOG_IN,
    CHANGE_PIN,
    ONE_TIME,
    FORGET,
    STEPS
};

static mpin_config config;

/* Logs in with the factor and with the PIN `typed[which]`. The login must
 * return `result`. */
static void log_in(mpin_sdk *sdk, mpin_user *user, int which, mpin_status result)
{
    must(mpin_sdk_start_authentication(sdk, user));
    must(mpin_sdk_add_factor(sdk, user, typed[FACTOR]));
    must(mpin_sdk_finish_authentication(sdk, user, NULL, NULL, typed[which]) -
         result);
}

static void run(enum step step, mpin_sdk *sdk, mpin_user *user)
{
    mpin_otp otp;
    otp.size = sizeof otp;
    switch (step) {
    case START:
        must(mpin_sdk_start_registration(sdk, user, NULL, NULL));
        break;
    case CONFIRM:
    case FINISH:
        must(mpin_sdk_confirm_registration(sdk, user, NULL));
        if (step == CONFIRM)
            break;
        must(mpin_sdk_add_factor(sdk, user, typed[FACTOR]));
        must(mpin_sdk_finish_registration(sdk, user, typed[PIN]));
        break;
    case WRONG_PIN: log_in(sdk, user, NEW_PIN, MPIN_INCORRECT_PIN); break;
    case LOG_IN: log_in(sdk, user, PIN, MPIN_OK); break;
    case CHANGE_PIN:
        log_in(sdk, user, PIN, MPIN_OK);
        must(mpin_sdk_add_factor(sdk, user, typed[FACTOR]));
        must(mpin_sdk_change_pin(sdk, user, typed[PIN], typed[NEW_PIN]));
        break;
    case ONE_TIME:
        must(mpin_sdk_start_authentication_otp(sdk, user));
        must(mpin_sdk_add_factor(sdk, user, typed[FACTOR]));
        must(mpin_sdk_finish_authentication_otp(sdk, user, &otp,
                                                typed[NEW_PIN]));
        break;
    case FORGET:
        must(mpin_sdk_add_factor(sdk, user, typed[FACTOR]));
        must(mpin_sdk_delete_user(sdk, user));
        break;
    case OPEN:
    case STEPS: break;
    }
}

static void register_trust(mpin_sdk *sdk, int is_finished)
{
    mpin_user *user = NULL;
    must(mpin_trust_start_registration(sdk, &user, "wanda", "token", NULL));
    if (is_finished)
        must(mpin_trust_finish_registration(sdk, user, typed[PIN]));
    mpin_user_free(user);
}

/* The same steps at a project of MIRACL Trust. */
static void run_trust(enum step step, mpin_sdk *sdk)
{
    static const uint8_t hash[MPIN_DOCUMENT_HASH_SIZE] = {7};
    mpin_user *user = NULL;
    mpin_signature signature;
    signature.size = sizeof signature;
    must(mpin_trust_set_project(sdk, FAKE_PROJECT, url, NULL));
    must(mpin_sdk_get_user(sdk, &user, "wanda"));
    switch (step) {
    case CONFIRM: register_trust(sdk, 0); break;
    case FINISH: register_trust(sdk, 1); break;
    case WRONG_PIN:
        must(mpin_trust_authenticate(sdk, user, NULL, NULL, typed[NEW_PIN]) -
             MPIN_INCORRECT_PIN);
        break;
    case LOG_IN:
        must(mpin_trust_authenticate(sdk, user, NULL, NULL, typed[PIN]));
        break;
    case CHANGE_PIN:
        must(mpin_trust_authenticate(sdk, user, NULL, NULL, typed[PIN]));
        must(mpin_sdk_change_pin(sdk, user, typed[PIN], typed[NEW_PIN]));
        break;
    case ONE_TIME:
        must(mpin_trust_sign(sdk, user, &signature, ARG(hash), typed[NEW_PIN]));
        break;
    case FORGET: must(mpin_sdk_delete_user(sdk, user)); break;
    case OPEN:
    case START:
    case STEPS: break;
    }
    mpin_user_free(user);
}

static void *call(void *argument)
{
    const enum step step = *(const enum step *)argument;
    const char *name = "";
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    must(mpin_sdk_new(&sdk));
    must(mpin_sdk_init(sdk, &config));
    if (!is_trust)
        must(mpin_sdk_make_new_user(sdk, &user, "wanda", NULL));
    type_all();
    is_trust ? run_trust(step, sdk) : run(step, sdk, user);
    if (step == LOG_IN)
        CHECK(search_for("PIN", &name) == TYPED, "what is there is not found");
    wipe(typed, sizeof typed);
    const size_t found = search_for("PIN", &name);
    CHECK(found == 0, "step %d: %zu PINs", (int)step, found);
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    return NULL;
}

static void life(void *stack, int round, int is_http)
{
    const char *name = "";
    pid_t server = start_server(is_http);
    needles->count = 0;
    for (enum step step = 0; step < STEPS; step++) {
        on_thread(stack, call, &step);
        if (step == OPEN)
            in_child(note_key_and_pins);
        size_t found = search(&name);
        /* One find is allowed: eight hex digits are only 32 bits, so they
         * can occur by chance. */
        CHECK(found <= 1, "round %d, step %d: %zu pieces, one of the %s", round,
              (int)step, found, name);
    }
    CHECK(needles->count > (is_trust ? 60 : 100), "%zu needles",
          needles->count);
    close(line);
    if (is_http)
        kill(server, SIGTERM);
    waitpid(server, NULL, 0);
}

int main(int argc, char **argv)
{
    int rounds = argc == 2 ? atoi(argv[1]) : 0;
    mpin_context context = {0};
    if (rounds < 1)
        return fputs("usage: client_wipe_test ROUNDS\n", stderr), 2;
    if (store_open() != 0)
        return perror("client_wipe_test"), 2;
    store = store_path("store");
    store_key = store_path("store.key");
    needles = pages(sizeof *needles, MAP_SHARED);
    void *stack = pages(STACK, MAP_PRIVATE);
    context.size = sizeof context;
    listen_on_loopback();
    config.size = sizeof config;
    config.context = &context;
    config.storage_path = store;
    config.backend = url;
    for (int round = 0; round < rounds; round++) {
        const int is_http = round / 2 % 2;
        is_trust = round / 4 % 2;
        config.backend = is_trust ? NULL : url;
        context.http_execute = is_http ? NULL : ask;
        context.storage_get = round % 2 ? get : NULL;
        context.storage_set = round % 2 ? set : NULL;
        memset(stored, 0, sizeof stored);
        life(stack, round, is_http);
        remove(store);
        remove(store_key);
    }
    store_close();
    return report("client_wipe_test");
}
