/* mpind does not link hiredis, because most servers keep their state in a file and do not need it. */
#include "mpin_redis.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

/* X(function): the list of all hiredis functions that are called here. */
#define FUNCTIONS(X) \
    X(redisConnectWithTimeout) X(redisConnectUnixWithTimeout) X(redisFree) X(redisFreeKeepFd) \
    X(redisReaderCreate) X(redisReaderFree) X(redisReaderFeed) X(redisReaderGetReply) X(freeReplyObject)

#define MEMBER(name) __typeof__(name) *name;
static struct { FUNCTIONS(MEMBER) } redis;
#undef MEMBER

static pthread_once_t loading = PTHREAD_ONCE_INIT;
static int is_available;

static void load(void) {
    void *library = dlopen(MPIN_REDIS_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return;
#define FIND(name) \
    *(void **)&redis.name = dlsym(library, #name); \
    if (!redis.name) return;
    FUNCTIONS(FIND)
#undef FIND
    is_available = 1;
}

int mpin_redis_is_available(void) {
    pthread_once(&loading, load);
    return is_available;
}

/* Without these, a machine that has vanished would be noticed only after minutes, or by the first request of a connection
 * that was not used for a while. On a socket of another kind the settings fail, and are not needed. */
static void prepare(int descriptor, int milliseconds) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
    setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
    setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &(int){1}, sizeof(int));
    setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &(int){1}, sizeof(int));
}

int mpin_redis_connect(const char *host, int port, const char *path, int milliseconds, char *error, size_t size) {
    struct timeval time = {milliseconds / 1000, milliseconds % 1000 * 1000};
    redisContext *context =
        path ? redis.redisConnectUnixWithTimeout(path, time) : redis.redisConnectWithTimeout(host, port, time);
    if (!context || context->err) {
        snprintf(error, size, "%s", context ? context->errstr : "no memory");
        if (context) redis.redisFree(context);
        return -1;
    }
    int descriptor = redis.redisFreeKeepFd(context);
    prepare(descriptor, milliseconds);
    return descriptor;
}

redisReader *mpin_redisReaderCreate(void) { return redis.redisReaderCreate(); }
void mpin_redisReaderFree(redisReader *reader) { redis.redisReaderFree(reader); }
int mpin_redisReaderFeed(redisReader *reader, const char *bytes, size_t count) {
    return redis.redisReaderFeed(reader, bytes, count);
}
int mpin_redisReaderGetReply(redisReader *reader, redisReply **reply) {
    return redis.redisReaderGetReply(reader, (void **)reply);
}
void mpin_freeReplyObject(redisReply *reply) { redis.freeReplyObject(reply); }
