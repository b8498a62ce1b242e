/* Tests what a child process may do that was made by fork() while calls were
 * under way. It has none of the threads that would end them, so no call may
 * wait for one. process_test.c tests the child of a process without calls. */
#define _DEFAULT_SOURCE

#include "check.h"
#include "client_settings.h"
#include "functions.h"
#include "store.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { FORKS = 40, GETTERS = 4 };

static mpin_sdk *sdk, *idle;
static mpin_user *user;
static mpin_session *session;
static mpin_http_response *response;
static mpin_storage_data *data;

/* How many callbacks wait, and whether they may go on. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting, goes_on;

/* Whether the server answers. */
static int answers = 1;

/* What a callback does if not: waits, or forks. */
static void (*in_callback)(void);

static void wait_in_callback(void)
{
    pthread_mutex_lock(&mutex);
    waiting++;
    pthread_cond_broadcast(&changed);
    while (!goes_on)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void wait_for_callbacks(int count)
{
    pthread_mutex_lock(&mutex);
    while (waiting < count)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void let_callbacks_go_on(void)
{
    pthread_mutex_lock(&mutex);
    goes_on = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static mpin_status execute(void *context, const mpin_http_request *request,
                           mpin_http_response *answer)
{
    (void)context, (void)request;
    response = answer;
    if (answers) {
        const char *text = CLIENT_SETTINGS;
        CHECK_STATUS(mpin_http_response_set_status(answer, 200), MPIN_OK);
        return mpin_http_response_append_body(answer, (const uint8_t *)text,
                                              strlen(text));
    }
    if (in_callback)
        in_callback();
    return MPIN_NETWORK_ERROR;
}

static mpin_status get(void *context, mpin_storage_data *stored, int32_t kind)
{
    (void)context, (void)kind;
    data = stored;
    if (in_callback)
        in_callback();
    return MPIN_OK;
}

static mpin_status set(void *context, int32_t kind, const uint8_t *stored,
                       size_t size)
{
    (void)context, (void)kind, (void)stored, (void)size;
    return MPIN_OK;
}

/* Opens an sdk whose requests, or whose storage too, are callbacks. */
static mpin_status open_sdk(mpin_sdk *made, const char *path)
{
    mpin_context context = {0};
    mpin_config config = {0};
    context.size = sizeof context;
    context.http_execute = execute;
    if (path == NULL) {
        context.storage_get = get;
        context.storage_set = set;
    }
    config.size = sizeof config;
    config.context = &context;
    config.storage_path = path;
    return mpin_sdk_init(made, &config);
}

/* Whether the function takes a handle; fills in those of the parent. */
static int fill(const struct function *function, union value *values)
{
    int found = 0;
    memset(values, 0, PARAMETERS * sizeof *values);
    for (int i = 0; i < function->count; i++) {
        void **pointer = &values[i].pointer;
        switch (function->parameters[i].kind) {
        case SDK: *pointer = sdk; break;
        case USER: *pointer = user; break;
        case SESSION: *pointer = session; break;
        case RESPONSE: *pointer = response; break;
        case DATA: *pointer = data; break;
        default: continue;
        }
        found = 1;
    }
    return found;
}

/* Calls every function with the handles of the parent. */
static void all_is_lost(void)
{
    int calls = 0;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        union value values[PARAMETERS];
        const struct function *function = &functions[i];
        const int is_void = strstr(function->name, "_free") != NULL;
        /* A stored data is there only while storage_get runs. */
        const int is_data =
            function->count && function->parameters[0].kind == DATA;
        if (!fill(function, values) || (is_data && data == NULL))
            continue;
        const mpin_status got = function->call(values);
        CHECK(got == (is_void ? MPIN_OK : MPIN_FORKED), "%s gave %s",
              function->name, mpin_status_name(got));
        calls++;
    }
    CHECK(calls > 90, "%d calls only", calls);
    CHECK_STATUS(mpin_sdk_cancel(NULL), MPIN_INVALID_HANDLE);
    CHECK_STATUS(mpin_sdk_cancel(idle), MPIN_FORKED);
    mpin_sdk_free(NULL);
}

static mpin_sdk *own;

static void own_works(void)
{
    mpin_user *made = NULL;
    size_t n = 0;
    CHECK_STATUS(mpin_sdk_list_all_users(own, NULL, &n), MPIN_OK);
    CHECK_STATUS(mpin_sdk_set_backend(own, "https://127.0.0.1", NULL),
                 MPIN_NETWORK_ERROR);
    CHECK_STATUS(mpin_sdk_make_new_user(own, &made, "bob", NULL),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_cancel(sdk), MPIN_FORKED);
}

/* Runs `work` in a child, for at most 20 seconds. */
static void in_child(const char *what, void (*work)(void))
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        work();
        _exit(failures ? 1 : 0);
    }
    CHECK(waitpid(child, &status, 0) == child, "no child");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "%s: the child ended with %x", what, (unsigned)status);
}

/* The child makes an sdk of its own, which its child may use. */
static void begin_again(void)
{
    in_callback = NULL;
    all_is_lost();
    CHECK_STATUS(mpin_sdk_self_test(), MPIN_OK);
    CHECK_STATUS(mpin_sdk_new(&own), MPIN_OK);
    CHECK_STATUS(open_sdk(own, store_path("own")), MPIN_OK);
    own_works();
    in_child("a child of the child", own_works);
    mpin_sdk_free(own);
    CHECK_STATUS(mpin_sdk_cancel(own), MPIN_INVALID_HANDLE);
}

static void *request(void *unused)
{
    (void)unused;
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "https://127.0.0.1", NULL),
                 MPIN_NETWORK_ERROR);
    return NULL;
}

static void *load(void *unused)
{
    mpin_sdk *loading = NULL;
    (void)unused;
    CHECK_STATUS(mpin_sdk_new(&loading), MPIN_OK);
    CHECK_STATUS(open_sdk(loading, NULL), MPIN_OK);
    mpin_sdk_free(loading);
    return NULL;
}

/* One thread waits for a server, another one for the program's storage. */
static void fork_during_calls(void)
{
    pthread_t threads[2];
    waiting = goes_on = 0;
    in_callback = wait_in_callback;
    pthread_create(&threads[0], NULL, request, NULL);
    wait_for_callbacks(1);
    pthread_create(&threads[1], NULL, load, NULL);
    wait_for_callbacks(2);
    for (int i = 0; i < 3; i++)
        in_child("calls of others", begin_again);
    let_callbacks_go_on();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    data = NULL;
}

static void fork_in_callback(void) { in_child("its own call", all_is_lost); }

static int is_over;

static void *ask(void *unused)
{
    (void)unused;
    for (int over = 0; !over;) {
        char text[64];
        size_t n = sizeof text;
        int32_t state = 0;
        if (mpin_user_get_id(user, text, &n) != MPIN_OK ||
            mpin_session_get_state(session, &state) != MPIN_OK ||
            mpin_sdk_set_client_id(idle, "x") != MPIN_OK)
            abort();
        pthread_mutex_lock(&mutex);
        over = is_over;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

/* Either the child may use what it has, or it is told that it may not. */
static void use_or_lose(void)
{
    char text[64];
    size_t n = sizeof text;
    int32_t state = 0;
    const mpin_status first = mpin_user_get_id(user, text, &n);
    CHECK(first == MPIN_OK || first == MPIN_FORKED, "%d", first);
    CHECK_STATUS(mpin_session_get_state(session, &state), first);
    CHECK_STATUS(mpin_sdk_set_client_id(idle, "y"), first);
    mpin_user_free(user);
    mpin_session_free(session);
    mpin_sdk_free(idle);
    mpin_sdk_free(sdk);
}

/* Getters hold their locks for a moment only. */
static void fork_between_getters(void)
{
    pthread_t threads[GETTERS];
    for (int i = 0; i < GETTERS; i++)
        pthread_create(&threads[i], NULL, ask, NULL);
    for (int i = 0; i < FORKS; i++)
        in_child("getters of others", use_or_lose);
    pthread_mutex_lock(&mutex);
    is_over = 1;
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < GETTERS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    mpin_session_config config = {0};
    int32_t state = 0;
    config.size = sizeof config;
    if (store_open() != 0)
        return perror("fork_test"), 1;
    CHECK_STATUS(mpin_sdk_new(&idle), MPIN_OK);
    CHECK_STATUS(open_sdk(idle, store_path("idle")), MPIN_OK);
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(open_sdk(sdk, store_path("store")), MPIN_OK);
    CHECK_STATUS(mpin_session_new(sdk, &session, &config), MPIN_OK);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "https://127.0.0.1", NULL), MPIN_OK);
    answers = 0;
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "alice", NULL), MPIN_OK);
    fork_during_calls();
    in_callback = fork_in_callback;
    request(NULL);
    in_callback = NULL;
    fork_between_getters();
    CHECK_STATUS(mpin_session_get_state(session, &state), MPIN_OK);
    mpin_user_free(user);
    mpin_session_free(session);
    mpin_sdk_free(sdk);
    mpin_sdk_free(idle);
    store_close();
    return report("fork_test");
}
