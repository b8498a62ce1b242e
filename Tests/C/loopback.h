/* An HTTP server on a loopback port. It gives every request the same answer,
 * or no answer, so that its callers wait. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include "client_settings.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_STALLED 64

struct loopback {
    const char *answer; /* JSON; NULL: no answer */
    pthread_mutex_t mutex;
    char request[4096]; /* the last one; loopback_request() reads it */
    int listener;
    int stalled[MAX_STALLED], stalled_count;
    char url[64];
    pthread_t thread;
};

static void loopback_answer(struct loopback *server, int peer)
{
    char request[4096], head[160];
    const ssize_t got = read(peer, request, sizeof request - 1);
    if (got <= 0)
        return;
    request[got] = '\0';
    pthread_mutex_lock(&server->mutex);
    memcpy(server->request, request, (size_t)got + 1);
    pthread_mutex_unlock(&server->mutex);
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                     strlen(server->answer));
    if (write(peer, head, (size_t)n) == n &&
        write(peer, server->answer, strlen(server->answer)) > 0)
        shutdown(peer, SHUT_WR);
}

/* Returns the last request that has arrived since the previous call of this
 * function; empty if there was none. */
static inline const char *loopback_request(struct loopback *server)
{
    static char request[sizeof server->request];
    pthread_mutex_lock(&server->mutex);
    memcpy(request, server->request, sizeof request);
    *server->request = '\0';
    pthread_mutex_unlock(&server->mutex);
    return request;
}

/* Returns the number of callers that wait for an answer. */
static inline int loopback_stalled(struct loopback *server)
{
    pthread_mutex_lock(&server->mutex);
    const int count = server->stalled_count;
    pthread_mutex_unlock(&server->mutex);
    return count;
}

static void *loopback_run(void *argument)
{
    struct loopback *server = argument;
    int peer;
    while ((peer = accept(server->listener, NULL, NULL)) >= 0) {
        if (server->answer == NULL && server->stalled_count < MAX_STALLED) {
            pthread_mutex_lock(&server->mutex);
            server->stalled[server->stalled_count++] = peer;
            pthread_mutex_unlock(&server->mutex);
            continue;
        }
        if (server->answer)
            loopback_answer(server, peer);
        close(peer);
    }
    return NULL;
}

/* Starts a server and writes its base URL to `url`. Returns 0, or -1 after
 * an error. */
static int loopback_start(struct loopback *server, const char *answer)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    memset(server, 0, sizeof *server);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->answer = answer;
    pthread_mutex_init(&server->mutex, NULL);
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (server->listener < 0 ||
        bind(server->listener, (struct sockaddr *)&address, size) != 0 ||
        listen(server->listener, 16) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&address, &size) != 0)
        return -1;
    snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d",
             ntohs(address.sin_port));
    return pthread_create(&server->thread, NULL, loopback_run, server);
}

static void loopback_stop(struct loopback *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
    pthread_mutex_destroy(&server->mutex);
    while (server->stalled_count > 0)
        close(server->stalled[--server->stalled_count]);
}

#endif
