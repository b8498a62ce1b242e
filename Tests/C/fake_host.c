/* See fake_host.h. */
#include "fake_host.h"

#include "fake_server.h"

void *fake_host_new(void)
{
    struct fake *server = malloc(sizeof *server);
    if (server) {
        fake_open(server);
        server->mfa = FAKE_HOST_URL;
        server->customer = "customer";
        server->permits = 0;
        server->mailed = 1;
    }
    return server;
}

void fake_host_free(void *host)
{
    if (host)
        fake_close(host);
    free(host);
}

int fake_host_serve(void *host, const char *method, const char *url,
                    const char *body, const char *user, char *answer)
{
    struct fake *server = host;
    struct fake_answer a;
    *answer = '\0';
    if (strncmp(url, FAKE_HOST_URL, strlen(FAKE_HOST_URL)) != 0)
        return 404;
    server->user = user;
    fake_serve(server, &a, method, url + strlen(FAKE_HOST_URL), body);
    memcpy(answer, a.body, sizeof a.body);
    return a.status;
}

void fake_host_secret(const void *host, uint8_t *secret)
{
    fake_secret(host, secret);
}
