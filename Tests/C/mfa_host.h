/* The written MFA server (mfa_server.h) for a program in C++. */
#ifndef MFA_HOST_H
#define MFA_HOST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MFA_HOST_URL "https://mfa.example.com"
#define MFA_HOST_ANSWER 16384

void mfa_host_start(void);
/* The number of checks of the server itself that failed. */
int mfa_host_stop(void);
/* The HTTP status of an answer, which goes into `answer`; `user` is whom a
 * signing key is made for. */
int mfa_host_serve(
    const char *url, const char *body, const char *user, char *answer,
    size_t answer_len);

#ifdef __cplusplus
}
#endif

#endif
