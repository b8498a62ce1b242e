/*
 * What GMP, libsodium and Swift need from a system, for a module that has none. Its only import is a source of random
 * bytes; everything that cannot happen ends in a trap.
 */
#include <stddef.h>
#include <stdlib.h>

/* Fills `count` bytes with random ones: crypto.getRandomValues. */
__attribute__((import_module("mpin"), import_name("random"))) void mpin_random(void *bytes, size_t count);

int sodium_init(void) { return 0; }
void randombytes_buf(void *bytes, size_t count) { mpin_random(bytes, count); }
/* The seed of Swift's hash tables. */
void arc4random_buf(void *bytes, size_t count) { mpin_random(bytes, count); }

void sodium_misuse(void) { __builtin_trap(); }
int raise(int signal) { __builtin_trap(); }
void __gmp_divide_by_zero(void) { __builtin_trap(); }
void __gmp_overflow_in_mpz(void) { __builtin_trap(); }
void __gmp_assert_fail(const char *file, int line, const char *text) { __builtin_trap(); }

/* GMP's allocation. Its own file needs stdio for a message. */
static void *allocated(void *bytes) {
    if (!bytes) __builtin_trap();
    return bytes;
}
static void *gmp_allocate(size_t count) { return allocated(malloc(count)); }
static void *gmp_reallocate(void *bytes, size_t old, size_t count) { return allocated(realloc(bytes, count)); }
static void gmp_free(void *bytes, size_t count) { free(bytes); }
void *__gmp_default_allocate(size_t count) { return gmp_allocate(count); }
void *(*__gmp_allocate_func)(size_t) = gmp_allocate;
void *(*__gmp_reallocate_func)(void *, size_t, size_t) = gmp_reallocate;
void (*__gmp_free_func)(void *, size_t) = gmp_free;

/* What GMP has for large numbers. mpz_jacobi names it, but four limbs never reach it (the thresholds of gmp-mparam.h). */
#define NEVER(name) \
    void name(void) { __builtin_trap(); }
NEVER(__gmpn_toom22_mul)
NEVER(__gmpn_toom32_mul)
NEVER(__gmpn_toom33_mul)
NEVER(__gmpn_toom42_mul)
NEVER(__gmpn_toom43_mul)
NEVER(__gmpn_toom44_mul)
NEVER(__gmpn_toom53_mul)
NEVER(__gmpn_toom63_mul)
NEVER(__gmpn_toom6h_mul)
NEVER(__gmpn_toom8h_mul)
NEVER(__gmpn_toom2_sqr)
NEVER(__gmpn_toom3_sqr)
NEVER(__gmpn_toom4_sqr)
NEVER(__gmpn_toom6_sqr)
NEVER(__gmpn_toom8_sqr)
NEVER(__gmpn_mul_fft)
NEVER(__gmpn_mul_fft_full)
NEVER(__gmpn_nussbaumer_mul)
NEVER(__gmpn_mu_div_qr)
NEVER(__gmpn_mu_div_qr_itch)
NEVER(__gmpn_dcpi1_div_qr)
NEVER(__gmpn_hgcd_itch)
NEVER(__gmpn_hgcd_jacobi)
NEVER(__gmpn_hgcd_matrix_init)
NEVER(__gmpn_hgcd_matrix_adjust)
NEVER(__gmpn_hgcd_matrix_update_q)
NEVER(__gmpn_hgcd_matrix_mul)
NEVER(__gmpn_hgcd_matrix_mul_1)
