/* hiredis without linking it: the functions that MPinStore calls. They are looked up in libhiredis.so.0.14 before the
 * first call, so only a server that uses Redis needs the library. Call all these functions only if
 * mpin_redis_is_available() has returned 1. */
#ifndef MPIN_REDIS_H
#define MPIN_REDIS_H

#include <hiredis/hiredis.h>

/* The file name of the library that is loaded. Versions from 1.0 on have other structures. */
#define MPIN_REDIS_LIBRARY "libhiredis.so.0.14"

/* Loads hiredis, once in a process. Returns 1 on success. Safe from every thread. */
int mpin_redis_is_available(void);

/* Connects to a host and port, or to the socket at `path` if that is not NULL. Waits at most `milliseconds`, the look-up
 * of the name not included. Returns a socket that does not block, which the caller closes, or -1. Then `error`, of
 * `size` bytes, says why. */
int mpin_redis_connect(const char *host, int port, const char *path, int milliseconds, char *error, size_t size);

redisReader *mpin_redisReaderCreate(void);
void mpin_redisReaderFree(redisReader *reader);
int mpin_redisReaderFeed(redisReader *reader, const char *bytes, size_t count);
/* Sets `reply` to NULL if no whole reply has come yet. The caller frees a reply by mpin_freeReplyObject. */
int mpin_redisReaderGetReply(redisReader *reader, redisReply **reply);
void mpin_freeReplyObject(redisReply *reply);

#endif
