/* Tests several threads: each with its own sdk, all with one sdk, and all
 * making and freeing sdks. Also tests a cancel and a free from another
 * thread while a call waits for its server. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"
#include "loopback.h"
#include "store.h"

#include <mpin.h>
#include <mpin_crypto.h>
#include <time.h>

enum { THREADS = 8, ROUNDS = 20, MIXED = 2000, STORM = 500 };

static struct loopback server, silent;

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A thread's task and its result. */
struct job {
    pthread_t thread;
    mpin_sdk *sdk;
    int number;
    int bad;
    mpin_status status;
};

static mpin_sdk *open_sdk(const char *store)
{
    mpin_sdk *sdk = NULL;
    mpin_config config = {0};
    config.size = sizeof config;
    config.storage_path = store;
    config.timeout_ms = 20000;
    if (mpin_sdk_new(&sdk) != MPIN_OK || mpin_sdk_init(sdk, &config) != MPIN_OK)
        return NULL;
    return sdk;
}

static void *use(void *argument)
{
    struct job *job = argument;
    for (int i = 0; i < ROUNDS; i++) {
        mpin_user *user = NULL;
        char id[32], text[64];
        size_t n = sizeof text;
        snprintf(id, sizeof id, "user%d.%d", job->number, i);
        job->bad += mpin_sdk_set_backend(job->sdk, server.url, NULL) != MPIN_OK;
        job->bad += mpin_sdk_make_new_user(job->sdk, &user, id, NULL) != MPIN_OK;
        job->bad += mpin_user_get_id(user, text, &n) != MPIN_OK ||
                    strcmp(text, id) != 0;
        mpin_user_free(user);
        job->bad += mpin_user_get_id(user, text, &n) != MPIN_INVALID_HANDLE;
    }
    return NULL;
}

static void many(int one_sdk)
{
    struct job jobs[THREADS];
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < THREADS; i++) {
        char path[160];
        snprintf(path, sizeof path, "%s/many%d", store_folder, i);
        jobs[i].number = i;
        jobs[i].sdk = one_sdk && i ? jobs[0].sdk : open_sdk(path);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&jobs[i].thread, NULL, use, &jobs[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        CHECK(jobs[i].bad == 0, "thread %d: %d calls failed", i, jobs[i].bad);
    }
    for (int i = 0; i < THREADS; i++)
        mpin_sdk_free(jobs[i].sdk);
}

/* Tests that each thread gets the errors of its own calls, whatever the
 * other threads do. */
static int own_error(mpin_sdk *sdk, int number)
{
    const char *start = number % 2 ? "client settings" : "url is";
    mpin_error error;
    error.size = sizeof error;
    mpin_status status =
        number % 2 ? mpin_sdk_set_backend(sdk, "ftp://example.com", NULL)
                   : mpin_sdk_set_backend(sdk, NULL, NULL);
    mpin_status expected =
        number % 2 ? MPIN_UNTRUSTED_DOMAIN_ERROR : MPIN_INVALID_ARGUMENT;
    return status != expected ||
           mpin_sdk_get_last_error(sdk, &error) != MPIN_OK ||
           error.status != expected || 
           strncmp(error.text, start, strlen(start)) != 0;
}

static mpin_user *shared;

static int one_call(const struct job *job, unsigned kind)
{
    uint8_t hash[MPIN_HASH_SIZE] = {0};
    char text[256];
    size_t n = sizeof text;
    int32_t number;
    switch (kind % 8) {
    case 0: return mpin_user_get_id(shared, text, &n) != MPIN_OK;
    case 1: return mpin_user_get_state(shared, &number) != MPIN_OK;
    case 2: return mpin_sdk_list_all_users(job->sdk, NULL, &n) != MPIN_OK;
    case 3: return mpin_sdk_cancel(job->sdk) != MPIN_OK;
    case 4: return mpin_crypto_hash_id(hash, sizeof hash, hash, 32) != 0;
    case 5: return mpin_sdk_damaged_records(job->sdk, &n) != MPIN_OK;
    case 6: return mpin_sdk_clear_users((mpin_sdk *)shared) !=
                   MPIN_INVALID_HANDLE;
    default: return own_error(job->sdk, job->number);
    }
}

/* Makes random calls. A cancel by another thread has no effect, because no
 * call waits for an answer here. */
static void *mix(void *argument)
{
    struct job *job = argument;
    unsigned random = (unsigned)job->number * 2654435761u + 1;
    for (int i = 0; i < MIXED; i++) {
        random = random * 1664525u + 1013904223u;
        job->bad += one_call(job, random >> 24);
    }
    return NULL;
}

static mpin_sdk *left[THREADS];

/* Makes and frees sdks while the other threads do the same. */
static void *storm(void *argument)
{
    struct job *job = argument;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < STORM; i++) {
        mpin_sdk *sdk = NULL, *others;
        job->bad += mpin_sdk_new(&sdk) != MPIN_OK;
        job->bad += mpin_sdk_cancel(sdk) != MPIN_OK;
        pthread_mutex_lock(&lock);
        others = left[(i + job->number) % THREADS];
        left[(i + job->number) % THREADS] = sdk;
        pthread_mutex_unlock(&lock);
        mpin_sdk_free(others);
        mpin_sdk_free(others);
        mpin_status status = mpin_sdk_cancel(sdk);
        job->bad += status != MPIN_OK && status != MPIN_INVALID_HANDLE;
    }
    return NULL;
}

static void all_do(void *(*work)(void *), mpin_sdk *sdk, const char *what)
{
    struct job jobs[THREADS];
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < THREADS; i++) {
        jobs[i].number = i;
        jobs[i].sdk = sdk;
        pthread_create(&jobs[i].thread, NULL, work, &jobs[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        CHECK(jobs[i].bad == 0, "%s: thread %d: %d calls failed", what, i,
              jobs[i].bad);
    }
}

static void mixed(void)
{
    mpin_sdk *sdk = open_sdk(store_path("mixed"));
    CHECK_STATUS(mpin_sdk_set_backend(sdk, server.url, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &shared, "a", NULL), MPIN_OK);
    all_do(mix, sdk, "mixed");
    mpin_user_free(shared);
    mpin_sdk_free(sdk);
}

static void *wait_for_answer(void *argument)
{
    struct job *job = argument;
    job->status = mpin_sdk_set_backend(job->sdk, silent.url, NULL);
    return NULL;
}

/* Ends a call that waits for an answer, by a cancel or by freeing the sdk.
 * It must end long before its deadline of 20 s. */
static void interrupted(int by_free)
{
    struct job job = {0};
    char text[64];
    size_t n = sizeof text;
    const int before = loopback_stalled(&silent);
    job.sdk = open_sdk(store_path(by_free ? "freed" : "canceled"));
    pthread_create(&job.thread, NULL, wait_for_answer, &job);
    for (int i = 0; i < 10000 && loopback_stalled(&silent) == before; i++)
        pause_ms(1);
    double start = now();
    /* Reading the last error must not wait for the running call. */
    CHECK_STATUS(mpin_sdk_last_error(job.sdk, text, &n), MPIN_OK);
    CHECK(now() - start < 5, "last_error took %.3f s", now() - start);
    if (by_free)
        mpin_sdk_free(job.sdk);
    else
        CHECK_STATUS(mpin_sdk_cancel(job.sdk), MPIN_OK);
    pthread_join(job.thread, NULL);
    CHECK(now() - start < 10, "the end took %.3f s", now() - start);
    CHECK_STATUS(job.status, MPIN_CANCELED);
    if (by_free) {
        CHECK_STATUS(mpin_sdk_cancel(job.sdk), MPIN_INVALID_HANDLE);
        return;
    }
    /* The cancel must not affect the next call. */
    CHECK_STATUS(mpin_sdk_set_backend(job.sdk, server.url, NULL), MPIN_OK);
    mpin_sdk_free(job.sdk);
}

int main(void)
{
    if (store_open() != 0 || loopback_start(&server, CLIENT_SETTINGS) != 0 ||
        loopback_start(&silent, NULL) != 0)
        return perror("threads_test"), 1;
    many(0);
    many(1);
    mixed();
    all_do(storm, NULL, "storm");
    for (int i = 0; i < THREADS; i++)
        mpin_sdk_free(left[i]);
    interrupted(0);
    interrupted(1);
    loopback_stop(&server);
    loopback_stop(&silent);
    store_close();
    return report("threads_test");
}
