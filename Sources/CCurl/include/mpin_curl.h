/* libcurl without linking it: the functions that MPinHTTP calls, looked up in libcurl.so.4 before the first of them runs.
 * Each is libcurl's function of the same name without "mpin_", or one kind of argument of a variadic one, which Swift
 * cannot call. They may be called only where mpin_curl_is_available() is 1. */
#ifndef MPIN_CURL_H
#define MPIN_CURL_H

#include <curl/curl.h>

/* libmpin exports what begins with "mpin_"; these are no part of its interface. */
#pragma GCC visibility push(hidden)

/* The file that is loaded. */
#define MPIN_CURL_LIBRARY "libcurl.so.4"

/* Loads libcurl and initialises it, once in a process. 1 where that has worked. Safe from every thread. */
int mpin_curl_is_available(void);

CURL *mpin_curl_easy_init(void);
void mpin_curl_easy_cleanup(CURL *curl);
void mpin_curl_easy_reset(CURL *curl);
const char *mpin_curl_easy_strerror(CURLcode code);

CURLM *mpin_curl_multi_init(void);
void mpin_curl_multi_cleanup(CURLM *multi);
CURLMcode mpin_curl_multi_add_handle(CURLM *multi, CURL *curl);
CURLMcode mpin_curl_multi_remove_handle(CURLM *multi, CURL *curl);
CURLMcode mpin_curl_multi_perform(CURLM *multi, int *running);
CURLMcode mpin_curl_multi_poll(CURLM *multi, int milliseconds);
/* How the only transfer has ended. CURLE_RECV_ERROR where it has not. */
CURLcode mpin_curl_multi_result(CURLM *multi);

struct curl_slist *mpin_curl_slist_append(struct curl_slist *list, const char *line);
void mpin_curl_slist_free_all(struct curl_slist *list);

CURLcode mpin_curl_set_long(CURL *curl, CURLoption option, long value);
CURLcode mpin_curl_set_string(CURL *curl, CURLoption option, const char *value);
CURLcode mpin_curl_set_pointer(CURL *curl, CURLoption option, void *value);
CURLcode mpin_curl_set_data_callback(
    CURL *curl, CURLoption option, size_t (*callback)(char *, size_t, size_t, void *));
/* Every socket is opened by `callback`, whose first argument is CURLOPT_OPENSOCKETDATA. */
CURLcode mpin_curl_set_socket_callback(
    CURL *curl, curl_socket_t (*callback)(void *, curlsocktype, struct curl_sockaddr *));
static const curl_socket_t mpin_curl_socket_bad = CURL_SOCKET_BAD;
/* The address of the other side of the last connection, as text; NULL without one. Lives as long as the handle. */
const char *mpin_curl_get_primary_ip(CURL *curl);
CURLcode mpin_curl_get_long(CURL *curl, CURLINFO info, long *value);

/* Schemes that a handle may speak. */
CURLcode mpin_curl_set_http_only(CURL *curl);
CURLcode mpin_curl_set_smtp_only(CURL *curl);

/* A name server that does not answer must not hold up a caller whose deadline is over (from libcurl 7.87). */
void mpin_curl_set_quick_exit(CURL *curl);

#pragma GCC visibility pop

#endif
