/*
 * The part of libsodium's <sodium.h> that the modules contain. system.c has the last two functions.
 */
#include <stddef.h>
#include <stdint.h>

#include <sodium/crypto_auth_hmacsha256.h>
#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>

int sodium_init(void);
void randombytes_buf(void *bytes, size_t count);
