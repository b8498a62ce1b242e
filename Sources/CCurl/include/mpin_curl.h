/* libcurl without linking it: the functions that MPinHTTP calls. They are looked up in libcurl.so.4 before the first
 * call. Each function calls the function of libcurl with the same name without "mpin_". Swift cannot call variadic
 * functions, so for these there is a function for each type of argument. Call all these functions only if
 * mpin_curl_is_available() has returned 1. */
#ifndef MPIN_CURL_H
#define MPIN_CURL_H

#include <curl/curl.h>

/* libmpin exports all names that begin with "mpin_". These functions are not part of its interface, so they are hidden.
 */
#pragma GCC visibility push(hidden)

/* The file name of the library that is loaded. */
#define MPIN_CURL_LIBRARY "libcurl.so.4"

/* Loads and initialises libcurl, once in a process. Returns 1 on success. Safe from every thread. */
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
/* The result of the only transfer of `multi`; CURLE_RECV_ERROR if the transfer has not ended. */
CURLcode mpin_curl_multi_result(CURLM *multi);

struct curl_slist *mpin_curl_slist_append(struct curl_slist *list, const char *line);
void mpin_curl_slist_free_all(struct curl_slist *list);

CURLcode mpin_curl_set_long(CURL *curl, CURLoption option, long value);
CURLcode mpin_curl_set_string(CURL *curl, CURLoption option, const char *value);
CURLcode mpin_curl_set_pointer(CURL *curl, CURLoption option, void *value);
CURLcode mpin_curl_set_data_callback(
    CURL *curl, CURLoption option, size_t (*callback)(char *, size_t, size_t, void *));
/* Makes libcurl open every socket with `callback`, whose first argument is the value of CURLOPT_OPENSOCKETDATA. */
CURLcode mpin_curl_set_socket_callback(
    CURL *curl, curl_socket_t (*callback)(void *, curlsocktype, struct curl_sockaddr *));
static const curl_socket_t mpin_curl_socket_bad = CURL_SOCKET_BAD;
/* The address of the server in the last connection, as text; NULL if there was none. Valid as long as the handle. */
const char *mpin_curl_get_primary_ip(CURL *curl);
CURLcode mpin_curl_get_long(CURL *curl, CURLINFO info, long *value);

/* These functions restrict the URL schemes of a handle to HTTP and HTTPS, or to SMTP and SMTPS. */
CURLcode mpin_curl_set_http_only(CURL *curl);
CURLcode mpin_curl_set_smtp_only(CURL *curl);

/* Lets a call end at its deadline even if a name server does not answer (from libcurl 7.87). */
void mpin_curl_set_quick_exit(CURL *curl);

/* The value of an environment variable, for the choice of a proxy. NULL in a program with more rights than its user, such
 * as sudo, whose environment is the user's. Swift's module of libc lacks secure_getenv(). */
const char *mpin_curl_secure_getenv(const char *name);

#pragma GCC visibility pop

#endif
