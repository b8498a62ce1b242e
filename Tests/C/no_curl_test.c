/* Tests the library without libcurl. check_standalone.sh runs this program
 * in a root folder that has no libcurl. */
#define _DEFAULT_SOURCE

#include "check.h"

#include <mpin.h>
#include <time.h>

static const char settings[] =
    "{\"appID\":\"c0ffee\",\"registerURL\":\"/rps/user\","
    "\"signatureURL\":\"/rps/signature\",\"certivoxURL\":\"/dta/\","
    "\"timePermitsURL\":\"/rps/timePermit\",\"mpinAuthServerURL\":\"/rps\","
    "\"authenticateURL\":\"/authenticate\",\"usePermits\":false}";
static int requests;

static mpin_status answer(void *user, const mpin_http_request *request,
                          mpin_http_response *response)
{
    (void)user;
    (void)request;
    requests++;
    mpin_status status = mpin_http_response_set_status(response, 200);
    return status ? status
                  : mpin_http_response_append_body(
                        response, (const uint8_t *)settings, sizeof settings - 1);
}

/* Returns how many seconds the fastest of ten calls that fail has taken. If
 * it is less than a third of a second, the request was not tried again,
 * because a second try begins later than that. */
static double fastest_failure(mpin_sdk *sdk)
{
    double fastest = 60;
    for (int i = 0; i < 10; i++) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        CHECK_STATUS(mpin_sdk_test_backend(sdk, "http://127.0.0.1:1", NULL),
                     MPIN_NETWORK_ERROR);
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double took = (double)(end.tv_sec - start.tv_sec) +
                            (double)(end.tv_nsec - start.tv_nsec) / 1e9;
        fastest = took < fastest ? took : fastest;
    }
    return fastest;
}

int main(void)
{
    char text[512] = "";
    size_t length = sizeof text;
    mpin_sdk *sdk = NULL;
    mpin_context context = {0};
    mpin_config config = {0};
    config.size = sizeof config;
    config.storage_path = "/tmp/store";
    config.timeout_ms = 5000;
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    CHECK(fastest_failure(sdk) < 0.3, "it tries again");
    CHECK_STATUS(mpin_sdk_last_error(sdk, text, &length), MPIN_OK);
    CHECK(strstr(text, "libcurl.so.4 is not installed: install it or set the "
                       "HTTP callback"),
          "%s", text);
    CHECK_STATUS(mpin_sdk_test_backend(sdk, "http://example.com", NULL),
                 MPIN_UNTRUSTED_DOMAIN_ERROR);
    CHECK_STATUS(mpin_sdk_destroy(sdk), MPIN_OK);

    context.size = sizeof context;
    context.http_execute = answer;
    config.context = &context;
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    CHECK_STATUS(mpin_sdk_test_backend(sdk, "http://127.0.0.1:1", NULL), MPIN_OK);
    CHECK(requests == 1, "%d requests", requests);
    mpin_sdk_free(sdk);
    return report("no_curl_test");
}
