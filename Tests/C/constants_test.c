/* Tests that the constants of the headers are equal to the results of the
 * functions, that each status has its own name, and that the structures have
 * the layout that the bindings expect. */
#include "check.h"

#include <mpin_crypto.h>

/* The name and the number of each status, which the Makefile takes from the
 * header. */
static const struct {
    const char *name;
    mpin_status status;
} statuses[] = {
#include "statuses.inc"
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void sizes(void)
{
    CHECK(mpin_crypto_g1_size() == MPIN_G1_SIZE, "G1");
    CHECK(mpin_crypto_g2_size() == MPIN_G2_SIZE, "G2");
    CHECK(mpin_crypto_gt_size() == MPIN_GT_SIZE, "GT");
    CHECK(mpin_crypto_scalar_size() == MPIN_SCALAR_SIZE, "scalar");
    CHECK(mpin_crypto_hash_size() == MPIN_HASH_SIZE, "hash");
    CHECK(mpin_crypto_key_size() == MPIN_KEY_SIZE, "key");
    CHECK(mpin_crypto_hash_size() == MPIN_DOCUMENT_HASH_SIZE, "document");
    CHECK(mpin_crypto_g1_size() == MPIN_SIGNATURE_POINT_SIZE, "signature");
    CHECK(mpin_crypto_g2_size() == MPIN_PUBLIC_KEY_SIZE, "public key");
}

static void version(void)
{
    CHECK(strcmp(mpin_version(), MPIN_VERSION) == 0, "%s", mpin_version());
    CHECK(mpin_version() == mpin_version(), "the pointer changes");
    CHECK(mpin_abi_version() == MPIN_ABI_VERSION, "%d", mpin_abi_version());
}

static void status_names(void)
{
    CHECK(COUNT(statuses) == 49, "%zu statuses", COUNT(statuses));
    for (size_t i = 0; i < COUNT(statuses); i++) {
        const char *name = mpin_status_name(statuses[i].status);
        CHECK(strcmp(name, statuses[i].name) == 0, "%s is called %s",
              statuses[i].name, name);
    }
    const mpin_status unknown[] = {-1, 22, 31, 47, 63, 76, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < COUNT(unknown); i++) {
        const char *name = mpin_status_name(unknown[i]);
        CHECK(strcmp(name, "UNKNOWN") == 0, "%d is called %s", unknown[i],
              name);
    }
}

static void layout(void)
{
    const size_t pointer = sizeof(void *);
    CHECK(offsetof(mpin_config, size) == 0, "size");
    CHECK(offsetof(mpin_config, storage_path) == pointer, "storage_path");
    CHECK(offsetof(mpin_config, storage_key_path) == 2 * pointer, "key path");
    CHECK(offsetof(mpin_config, backend) == 3 * pointer, "backend");
    CHECK(offsetof(mpin_config, rps_prefix) == 4 * pointer, "rps_prefix");
    CHECK(offsetof(mpin_config, ca_file) == 5 * pointer, "ca_file");
    CHECK(offsetof(mpin_config, timeout_ms) == 6 * pointer, "timeout_ms");
    CHECK(offsetof(mpin_config, allow_insecure) == 6 * pointer + 4, "insecure");
    CHECK(offsetof(mpin_config, storage_passphrase) == 6 * pointer + 8, "8");
    CHECK(offsetof(mpin_config, context) == 10 * pointer + 8, "context");
    CHECK(sizeof(mpin_config) == 11 * pointer + 8, "sizeof");
    CHECK(sizeof(mpin_context) == 9 * pointer, "context");
    CHECK(offsetof(mpin_http_request, timeout_ms) == 6 * pointer, "request");
    CHECK(sizeof(mpin_error) == pointer + 16 + 512 + 256 + 128, "error");
    CHECK(sizeof(mpin_service_details) == pointer + 256 + 1024 + 64 + 1024,
          "service");
    CHECK(sizeof(mpin_expiration) == pointer + 16, "expiration");
    CHECK(sizeof(mpin_verification) == pointer + 8 + 256 + 1024,
          "verification");
    CHECK(sizeof(mpin_otp) == pointer + 24 + 64, "otp");
    CHECK(offsetof(mpin_session_details, redirect_uri) ==
              pointer + 4 + 5 * 256 + 2 * 1024,
          "session");
    CHECK(offsetof(mpin_session_details, screen_address) ==
              pointer + 4 + 5 * 256 + 3 * 1024,
          "place of a session");
    CHECK(sizeof(mpin_trust_error) == pointer + 8 + 64 + 2 * 256, "trust error");
    CHECK(sizeof(mpin_trust_verification) == pointer + 16, "trust verification");
    CHECK(sizeof(mpin_trust_activation) == pointer + 8 + 3 * 256 + 1024,
          "trust activation");
    CHECK(offsetof(mpin_trust_session, hash_len) ==
              pointer + 3 * 256 + 1024 + 256,
          "trust session");
    CHECK(sizeof(mpin_trust_quick_code) == pointer + 8 + 4 + 64 + 4,
          "QuickCode");
    CHECK(sizeof(mpin_pin_request) == 3 * pointer + 8, "PIN request");
    CHECK(sizeof(mpin_device_code) == 4 * pointer + 8, "device code");
    CHECK(sizeof(mpin_session_config) == 9 * pointer, "session config");
    CHECK(offsetof(mpin_provider, client_id) == 2 * pointer + 8, "client_id");
    CHECK(sizeof(mpin_provider) == 14 * pointer + 8, "provider");
    CHECK(offsetof(mpin_signature, mpin_id) == pointer + 8 + 2 * 65 + 128,
          "signature");
}

int main(void)
{
    sizes();
    version();
    status_names();
    layout();
    return report("constants_test");
}
