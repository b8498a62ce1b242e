/* mpin_config, as callers of other versions and careless ones fill it. */
#define _DEFAULT_SOURCE

#include "check.h"
#include "store.h"

#include <mpin.h>
#include <sys/mman.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Structures of another size than this header's. */
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

    /* What lies beyond the size is not read: it is not a configuration. */
    newer.known.size = 2 * sizeof(void *);
    memset(&newer.known.storage_key_path, 0xA5,
           sizeof newer - offsetof(mpin_config, storage_key_path));
    CHECK_STATUS(mpin_sdk_init(fresh, &newer.known), MPIN_OK);
    CHECK_STATUS(mpin_sdk_destroy(fresh), MPIN_OK);
    mpin_sdk_free(fresh);
}

/* Texts that are none. */
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

/* A size that is none is not believed: memory that is not there is not read. */
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

int main(void)
{
    if (store_open() != 0)
        return perror("config_test"), 1;
    other_sizes();
    wrong_texts();
    endless();
    store_close();
    return report("config_test");
}
