/* Tests mpin_config: the effect of each member, wrong values, and callers
 * that were compiled with an older or a newer header. */
#define _DEFAULT_SOURCE

#include "check.h"
#include "loopback.h"
#include "store.h"

#include <mpin.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Tests structures with another size than that of this header. */
static void other_sizes(void)
{
    struct {
        mpin_config known;
        char more[64];
    } newer;
    mpin_sdk *fresh = NULL;
    CHECK_STATUS(mpin_sdk_new(&fresh), MPIN_OK);
    memset(&newer, 0, sizeof newer);
    newer.known.storage_path = store_path("sizes");
    const size_t wrong[] = {0, 1, sizeof(size_t), 2 * sizeof(void *) - 1,
                            SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 40};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        newer.known.size = wrong[i];
        CHECK_STATUS(mpin_sdk_init(fresh, &newer.known), MPIN_INVALID_ARGUMENT);
    }
    newer.known.size = sizeof newer;
    newer.more[63] = 1;
    CHECK_STATUS(mpin_sdk_init(fresh, &newer.known), MPIN_INVALID_ARGUMENT);
    newer.more[63] = 0;
    newer.more[0] = 1;
    CHECK_STATUS(mpin_sdk_init(fresh, &newer.known), MPIN_INVALID_ARGUMENT);
    newer.more[0] = 0;
    newer.known.allow_insecure = 2;
    CHECK_STATUS(mpin_sdk_init(fresh, &newer.known), MPIN_INVALID_ARGUMENT);
    newer.known.allow_insecure = 0;
    CHECK_STATUS(mpin_sdk_init(fresh, &newer.known), MPIN_OK);
    CHECK_STATUS(mpin_sdk_destroy(fresh), MPIN_OK);

    /* Gives a smaller size, and fills the bytes beyond it with garbage. They
     * must not be read, because they are not part of the structure. */
    newer.known.size = 2 * sizeof(void *);
    memset(&newer.known.storage_key_path, 0xA5,
           sizeof newer - offsetof(mpin_config, storage_key_path));
    CHECK_STATUS(mpin_sdk_init(fresh, &newer.known), MPIN_OK);
    CHECK_STATUS(mpin_sdk_destroy(fresh), MPIN_OK);
    mpin_sdk_free(fresh);
}

/* Tests texts that are missing, empty or not UTF-8. */
static void wrong_texts(void)
{
    mpin_sdk *fresh = NULL;
    const char *bad[] = {NULL, "", "\xff"};
    CHECK_STATUS(mpin_sdk_new(&fresh), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(fresh, NULL), MPIN_INVALID_ARGUMENT);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        mpin_config c = {0};
        c.size = sizeof c;
        c.storage_path = bad[i];
        CHECK_STATUS(mpin_sdk_init(fresh, &c), MPIN_INVALID_ARGUMENT);
    }
    for (int i = 0; i < 4; i++) {
        mpin_config c = {0};
        c.size = sizeof c;
        c.storage_path = store_path("texts");
        *(i == 0   ? &c.storage_key_path
          : i == 1 ? &c.backend
          : i == 2 ? &c.rps_prefix
                   : &c.ca_file) = "\xff";
        CHECK_STATUS(mpin_sdk_init(fresh, &c), MPIN_INVALID_ARGUMENT);
    }
    mpin_sdk_free(fresh);
}

/* Checks that the error text names the wrong member and says what to do. */
static void says(mpin_config *c, const char *expected)
{
    char text[512] = "";
    size_t n = sizeof text;
    mpin_sdk *fresh = NULL;
    CHECK_STATUS(mpin_sdk_new(&fresh), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(fresh, c), MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_sdk_last_error(fresh, text, &n), MPIN_OK);
    CHECK(strstr(text, expected) == text, "%s instead of %s", text, expected);
    mpin_sdk_free(fresh);
}

static void refusals_name_the_member(void)
{
    struct {
        mpin_config known;
        size_t more;
    } newer;
    mpin_context context;
    says(NULL, "config is NULL");
    memset(&newer, 0, sizeof newer);
    memset(&context, 0, sizeof context);
    says(&newer.known, "config.size is not sizeof(mpin_config)");
    newer.known.size = sizeof newer.known;
    says(&newer.known, "config.storage_path is NULL: name a file");
    newer.known.storage_path = "";
    says(&newer.known, "config.storage_path is empty: name a file");
    newer.known.storage_path = store_path("says");
    newer.known.backend = "\xff";
    says(&newer.known, "config.backend is not UTF-8");
    newer.known.backend = NULL;
    newer.known.allow_insecure = 2;
    says(&newer.known, "config.allow_insecure is neither 0 nor 1");
    newer.known.allow_insecure = 0;
    newer.known.storage_passphrase = "";
    says(&newer.known, "config.storage_passphrase is empty");
    newer.known.storage_key_path = store_path("says.key");
    says(&newer.known, "two keys of the store: give one of");
    newer.known.storage_passphrase = newer.known.storage_key_path = NULL;
    newer.known.proxy = "no URL";
    says(&newer.known, "config.proxy is no http URL");
    newer.known.proxy = NULL;
    newer.known.context = &context;
    says(&newer.known, "context.size is not sizeof(mpin_context)");
    newer.known.context = NULL;
    newer.known.size = sizeof newer;
    newer.more = 1;
    says(&newer.known, "config has a member that this library does not know");
}

/* Tests impossible sizes. They must be refused, because otherwise the
 * library would read memory behind the structure. */
static void endless(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t sizes[] = {SIZE_MAX / 2, (size_t)1 << 40, 4 * page};
    mpin_sdk *fresh = NULL;
    char *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages + 2 * page, page, PROT_NONE) == 0,
          "no memory");
    CHECK_STATUS(mpin_sdk_new(&fresh), MPIN_OK);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        mpin_config *c = (mpin_config *)(void *)pages;
        c->size = sizes[i];
        c->storage_path = store_path("endless");
        CHECK_STATUS(mpin_sdk_init(fresh, c), MPIN_INVALID_ARGUMENT);
    }
    mpin_sdk_free(fresh);
    munmap(pages, 3 * page);
}

/* ---- The effect of the members -------------------------------------- */

static struct loopback server;

/* Makes an sdk and checks that mpin_sdk_init returns `expected` for it.
 * Returns the sdk even if this is an error. */
static mpin_sdk *opened(mpin_config *c, mpin_status expected)
{
    mpin_sdk *made = NULL;
    c->size = sizeof *c;
    CHECK_STATUS(mpin_sdk_new(&made), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(made, c), expected);
    return made;
}

/* Tests a proxy. Requests to other machines must go to it, with the whole
 * URL in the first line. Requests to loopback addresses must not. */
static void proxy(void)
{
    struct loopback direct;
    mpin_config c = {0};
    c.storage_path = store_path("proxy");
    c.proxy = server.url;
    c.allow_insecure = 1;
    mpin_sdk *sdk = opened(&c, MPIN_OK);
    CHECK_STATUS(mpin_sdk_test_backend(sdk, "http://nowhere.invalid", NULL),
                 MPIN_OK);
    const char *asked = loopback_request(&server);
    const char *line = "GET http://nowhere.invalid/rps/clientSettings HTTP/1.1";
    CHECK(strncmp(asked, line, strlen(line)) == 0, "%s", asked);
    if (loopback_start(&direct, CLIENT_SETTINGS) != 0) {
        CHECK(0, "no server");
        return;
    }
    CHECK_STATUS(mpin_sdk_test_backend(sdk, direct.url, NULL), MPIN_OK);
    asked = loopback_request(&direct);
    CHECK(strncmp(asked, "GET /rps/clientSettings ", 24) == 0, "%s", asked);
    CHECK(*loopback_request(&server) == '\0', "the proxy was asked");
    loopback_stop(&direct);
    mpin_sdk_free(sdk);
    c.proxy = "no URL";
    mpin_sdk_free(opened(&c, MPIN_INVALID_ARGUMENT));
}

/* Tests that without allow_insecure nothing is sent to another machine by
 * plain HTTP, neither through a proxy nor directly. */
static void insecure(void)
{
    mpin_config c = {0};
    c.storage_path = store_path("insecure");
    c.proxy = server.url;
    mpin_sdk *sdk = opened(&c, MPIN_OK);
    CHECK_STATUS(mpin_sdk_test_backend(sdk, "http://nowhere.invalid", NULL),
                 MPIN_UNTRUSTED_DOMAIN_ERROR);
    CHECK(*loopback_request(&server) == '\0', "the proxy was asked");
    mpin_sdk_free(sdk);
}

/* Checks the path of the last request, and that its header has the client id,
 * or none if `client` is NULL. */
static void expect_request(const char *path, const char *client)
{
    char line[128];
    const char *asked = loopback_request(&server);
    snprintf(line, sizeof line, "GET %s HTTP/1.1\r\n", path);
    CHECK(strncmp(asked, line, strlen(line)) == 0, "%s", asked);
    CHECK(!client == !strstr(asked, "\nX-MIRACL-"), "%s", asked);
    snprintf(line, sizeof line, "\nX-MIRACL-CID: %s\r\n", client ? client : "");
    CHECK(!client || strstr(asked, line), "%s", asked);
}

static void prefix_and_client(void)
{
    mpin_config c = {0};
    c.storage_path = store_path("prefix");
    c.backend = server.url;
    mpin_sdk_free(opened(&c, MPIN_OK));
    expect_request("/rps/clientSettings", NULL);
    c.rps_prefix = "mine";
    c.client_id = "client-7";
    mpin_sdk *sdk = opened(&c, MPIN_OK);
    expect_request("/mine/clientSettings", "client-7");
    /* The RPS prefix in a call takes precedence over the configured one. */
    CHECK_STATUS(mpin_sdk_test_backend(sdk, server.url, "other"), MPIN_OK);
    expect_request("/other/clientSettings", "client-7");
    CHECK_STATUS(mpin_sdk_set_client_id(sdk, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_test_backend(sdk, server.url, NULL), MPIN_OK);
    expect_request("/mine/clientSettings", NULL);
    mpin_sdk_free(sdk);
    c.client_id = "a\nb";
    mpin_sdk_free(opened(&c, MPIN_INVALID_ARGUMENT));
}

/* Checks that a key file has 64 hex digits and is readable only for its
 * owner. Returns the digits. */
static void expect_key_file(const char *path, char digits[65])
{
    struct stat about;
    FILE *file = fopen(path, "r");
    CHECK(file && stat(path, &about) == 0, "there is no %s", path);
    if (file == NULL)
        return;
    CHECK((about.st_mode & 0777) == 0600, "%o", (unsigned)about.st_mode);
    CHECK(fread(digits, 1, 64, file) == 64 &&
              strspn(digits, "0123456789abcdef") == 64,
          "%.64s", digits);
    fclose(file);
}

/* Tests that the key of the store is made in the file storage_key_path and
 * read from it. With another key, the store must not be readable. */
static void key_path(void)
{
    char made[65] = "", read_again[65] = "", beside[160];
    mpin_config c = {0};
    mpin_user *user = NULL;
    size_t n = 0;
    c.storage_path = store_path("locked");
    c.storage_key_path = store_path("elsewhere");
    c.backend = server.url;
    snprintf(beside, sizeof beside, "%s.key", c.storage_path);
    mpin_sdk *sdk = opened(&c, MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "alice", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, NULL, NULL), MPIN_OK);
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    expect_key_file(c.storage_key_path, made);
    CHECK(access(beside, F_OK) != 0, "there is a second key file");

    sdk = opened(&c, MPIN_OK);
    CHECK_STATUS(mpin_sdk_list_users(sdk, NULL, &n), MPIN_OK);
    CHECK(n == 1, "%zu users", n);
    mpin_sdk_free(sdk);
    expect_key_file(c.storage_key_path, read_again);
    CHECK(strcmp(made, read_again) == 0, "the key was replaced");

    c.storage_key_path = store_path("another");
    mpin_sdk_free(opened(&c, MPIN_STORAGE_ERROR));
}

/* The server's answer to every request. It contains the client settings, and
 * also the answer to a registration, with the same identity for every user. */
#define ANSWERS                                                                \
    "{\"mpinId\":\"7b22757365724944223a22616c696365227d\","                     \
    "\"regOTT\":\"00000000000000000000000000000000\",\"active\":false,"        \
    CLIENT_SETTINGS_MEMBERS

int main(void)
{
    if (store_open() != 0 || loopback_start(&server, ANSWERS) != 0)
        return perror("config_test"), 1;
    other_sizes();
    wrong_texts();
    refusals_name_the_member();
    endless();
    proxy();
    insecure();
    prefix_and_client();
    key_path();
    loopback_stop(&server);
    store_close();
    return report("config_test");
}
