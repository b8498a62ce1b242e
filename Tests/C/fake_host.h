/* Makes the fake server (fake_server.h) available as an MFA server for C++
 * programs and, as a shared library, for Python. */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_HOST_URL "https://mfa.example.com"
#define FAKE_HOST_ANSWER 4096

/* Makes a fake server. NULL if there is not enough memory. */
void *fake_host_new(void);
void fake_host_free(void *host);
/* Answers a request and returns the HTTP status. `answer` gets the body; it
 * must have FAKE_HOST_ANSWER bytes. `user` is the user for whom a signing
 * key is made. */
int fake_host_serve(void *host, const char *method, const char *url,
                    const char *body, const char *user, char *answer);
/* Writes the server secret, 128 bytes, with which signatures can be
 * verified. */
void fake_host_secret(const void *host, uint8_t *secret);

#ifdef __cplusplus
}
#endif

#endif
