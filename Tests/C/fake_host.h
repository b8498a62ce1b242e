/* The fake server (fake_server.h) as an MFA server, for programs in C++ and,
 * built as a shared library, in Python. */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_HOST_URL "https://mfa.example.com"
#define FAKE_HOST_ANSWER 4096

/* NULL if memory is short. */
void *fake_host_new(void);
void fake_host_free(void *host);
/* The HTTP status of an answer, which goes into `answer`, of FAKE_HOST_ANSWER
 * bytes; `user` is whom a signing key is made for. */
int fake_host_serve(void *host, const char *method, const char *url,
                    const char *body, const char *user, char *answer);
/* The server secret, 128 bytes, for who checks a signature. */
void fake_host_secret(const void *host, uint8_t *secret);

#ifdef __cplusplus
}
#endif

#endif
