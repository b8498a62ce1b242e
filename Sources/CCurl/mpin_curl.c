/* libmpin does not link libcurl. So a program with its own HTTP needs no libcurl. A binary that is distributed, such as
 * a Python wheel, uses the libcurl of the system, which gets the system's security updates. */
#define _GNU_SOURCE
#include "mpin_curl.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* X(function): the list of all libcurl functions that are called here. */
#define FUNCTIONS(X) \
    X(global_init_mem) X(easy_init) X(easy_cleanup) X(easy_reset) X(easy_strerror) X(easy_setopt) X(easy_getinfo) \
    X(multi_init) X(multi_cleanup) X(multi_add_handle) X(multi_remove_handle) X(multi_perform) X(multi_poll) \
    X(multi_info_read) X(slist_append) X(slist_free_all)

#define MEMBER(name) __typeof__(curl_##name) *name;
static struct { FUNCTIONS(MEMBER) } curl_functions;
#undef MEMBER

static pthread_once_t loading = PTHREAD_ONCE_INIT;
static int is_available;

/* Memory functions for libcurl that wipe memory when they free it, because URLs, headers and bodies may contain
 * one-time tokens and shares. If the program has initialised libcurl before, libcurl keeps the functions that it has,
 * and these do not wipe. */
static void wiping_free(void *block) {
    if (block) explicit_bzero(block, malloc_usable_size(block));
    free(block);
}

static void *wiping_realloc(void *block, size_t size) {
    if (!block) return malloc(size);
    size_t former = malloc_usable_size(block);
    void *larger = malloc(size);
    if (!larger) return NULL;
    memcpy(larger, block, former < size ? former : size);
    wiping_free(block);
    return larger;
}

/* Loads libcurl and looks up its functions. A libcurl that is too old to have them all is not used. libcurl is never
 * unloaded, because its threads and its TLS library may still use its code. */
static void load(void) {
    void *library = dlopen(MPIN_CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return;
#define FIND(name) \
    *(void **)&curl_functions.name = dlsym(library, "curl_" #name); \
    if (!curl_functions.name) return;
    FUNCTIONS(FIND)
#undef FIND
    is_available = curl_functions.global_init_mem(
                       CURL_GLOBAL_ALL, malloc, wiping_free, wiping_realloc, strdup, calloc) == CURLE_OK;
}

int mpin_curl_is_available(void) {
    pthread_once(&loading, load);
    return is_available;
}

CURL *mpin_curl_easy_init(void) { return curl_functions.easy_init(); }
void mpin_curl_easy_cleanup(CURL *curl) { curl_functions.easy_cleanup(curl); }
void mpin_curl_easy_reset(CURL *curl) { curl_functions.easy_reset(curl); }
const char *mpin_curl_easy_strerror(CURLcode code) { return curl_functions.easy_strerror(code); }

CURLM *mpin_curl_multi_init(void) { return curl_functions.multi_init(); }
void mpin_curl_multi_cleanup(CURLM *multi) { curl_functions.multi_cleanup(multi); }
CURLMcode mpin_curl_multi_add_handle(CURLM *multi, CURL *curl) { return curl_functions.multi_add_handle(multi, curl); }
CURLMcode mpin_curl_multi_remove_handle(CURLM *multi, CURL *curl) {
    return curl_functions.multi_remove_handle(multi, curl);
}
CURLMcode mpin_curl_multi_perform(CURLM *multi, int *running) { return curl_functions.multi_perform(multi, running); }
CURLMcode mpin_curl_multi_poll(CURLM *multi, int milliseconds) {
    return curl_functions.multi_poll(multi, NULL, 0, milliseconds, NULL);
}

CURLcode mpin_curl_multi_result(CURLM *multi) {
    int left = 0;
    const CURLMsg *message = curl_functions.multi_info_read(multi, &left);
    return message && message->msg == CURLMSG_DONE ? message->data.result : CURLE_RECV_ERROR;
}

struct curl_slist *mpin_curl_slist_append(struct curl_slist *list, const char *line) {
    return curl_functions.slist_append(list, line);
}
void mpin_curl_slist_free_all(struct curl_slist *list) { curl_functions.slist_free_all(list); }

CURLcode mpin_curl_set_long(CURL *curl, CURLoption option, long value) {
    return curl_functions.easy_setopt(curl, option, value);
}
CURLcode mpin_curl_set_string(CURL *curl, CURLoption option, const char *value) {
    return curl_functions.easy_setopt(curl, option, value);
}
CURLcode mpin_curl_set_pointer(CURL *curl, CURLoption option, void *value) {
    return curl_functions.easy_setopt(curl, option, value);
}
CURLcode mpin_curl_set_data_callback(
    CURL *curl, CURLoption option, size_t (*callback)(char *, size_t, size_t, void *)) {
    return curl_functions.easy_setopt(curl, option, callback);
}
CURLcode mpin_curl_set_socket_callback(
    CURL *curl, curl_socket_t (*callback)(void *, curlsocktype, struct curl_sockaddr *)) {
    return curl_functions.easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, callback);
}
const char *mpin_curl_get_primary_ip(CURL *curl) {
    char *address = NULL;
    const CURLcode code = curl_functions.easy_getinfo(curl, CURLINFO_PRIMARY_IP, &address);
    return code == CURLE_OK && address && *address ? address : NULL;
}
CURLcode mpin_curl_get_long(CURL *curl, CURLINFO info, long *value) {
    return curl_functions.easy_getinfo(curl, info, value);
}

/* CURLOPT_PROTOCOLS is deprecated since libcurl 7.85, but its replacement does not exist in every libcurl.so.4. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
CURLcode mpin_curl_set_http_only(CURL *curl) {
    return mpin_curl_set_long(curl, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
}
CURLcode mpin_curl_set_smtp_only(CURL *curl) {
    return mpin_curl_set_long(curl, CURLOPT_PROTOCOLS, CURLPROTO_SMTP | CURLPROTO_SMTPS);
}

void mpin_curl_set_quick_exit(CURL *curl) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_functions.easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)curl;
#endif
}

const char *mpin_curl_secure_getenv(const char *name) { return secure_getenv(name); }
