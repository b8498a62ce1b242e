/* libmpin does not link cjose, for the reasons for which it does not link libcurl: a program without sessions needs no
 * cjose, and a binary that is distributed uses the one of the system, which gets the system's security updates. */
#include "mpin_jose.h"

#include <cjose/cjose.h>
#include <dlfcn.h>
#include <pthread.h>

/* X(function): the list of all functions of cjose that are called here. */
#define FUNCTIONS(X) X(jwk_import) X(jwk_release) X(jws_import) X(jws_verify) X(jws_release)

#define MEMBER(name) __typeof__(cjose_##name) *name;
static struct { FUNCTIONS(MEMBER) } cjose_functions;
#undef MEMBER

static pthread_once_t loading = PTHREAD_ONCE_INIT;
static int is_available;

/* Loads cjose and looks up its functions. It is never unloaded, because OpenSSL under it cannot be. */
static void load(void) {
    void *library = dlopen(MPIN_JOSE_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return;
#define FIND(name) \
    *(void **)&cjose_functions.name = dlsym(library, "cjose_" #name); \
    if (!cjose_functions.name) return;
    FUNCTIONS(FIND)
#undef FIND
    is_available = 1;
}

enum mpin_jose_verdict mpin_jose_verify(const char *token, size_t token_len, const char *jwk, size_t jwk_len) {
    pthread_once(&loading, load);
    if (!is_available) return MPIN_JOSE_UNAVAILABLE;
    cjose_err error;
    cjose_jwk_t *key = cjose_functions.jwk_import(jwk, jwk_len, &error);
    if (!key) return MPIN_JOSE_INVALID;
    enum mpin_jose_verdict verdict = MPIN_JOSE_INVALID;
    cjose_jws_t *signature = cjose_functions.jws_import(token, token_len, &error);
    if (signature) {
        if (cjose_functions.jws_verify(signature, key, &error)) verdict = MPIN_JOSE_VALID;
        cjose_functions.jws_release(signature);
    }
    cjose_functions.jwk_release(key);
    return verdict;
}
