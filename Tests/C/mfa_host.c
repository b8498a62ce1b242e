/* The written MFA server (mfa_server.h) for a program in C++. */
#include "mfa_server.h"

#include "mfa_host.h"

void mfa_host_start(void)
{
    mfa_start();
}

int mfa_host_stop(void)
{
    mfa_stop();
    return failures;
}

int mfa_host_serve(const char *url, const char *body, const char *user,
                   char *answer, size_t answer_len)
{
    static char out[ANSWER];
    *out = '\0';
    mfa.user = user;
    snprintf(mfa.url, sizeof mfa.url, "%s", url);
    snprintf(mfa.request, sizeof mfa.request, "%s", body);
    const int status = mfa_serve(out);
    CHECK(strlen(out) < answer_len, "%zu bytes", strlen(out));
    snprintf(answer, answer_len, "%s", out);
    return status;
}
