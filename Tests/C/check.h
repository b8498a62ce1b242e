/* The checks of the C tests: count, print what failed, go on. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <string.h>

static int checks, failures;

/* Checks a condition; the arguments after it are printed if it does not hold,
 * like those of printf. */
#define CHECK(condition, ...)                                                  \
    do {                                                                       \
        checks++;                                                              \
        if (!(condition)) {                                                    \
            failures++;                                                        \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);    \
            fprintf(stderr, __VA_ARGS__);                                      \
            fputc('\n', stderr);                                               \
        }                                                                      \
    } while (0)

/* Checks a result of the library. */
#define CHECK_STATUS(call, expected)                                           \
    check_status((int)(call), (expected), #call, __FILE__, __LINE__)

static inline void check_status(int got, int expected, const char *call,
                                const char *file, int line)
{
    checks++;
    if (got == expected)
        return;
    failures++;
    fprintf(stderr, "%s:%d: %s gave %d, not %d\n", file, line, call, got,
            expected);
}

/* The last line of a test program. */
static int report(const char *name)
{
    printf("%s: %d passed, %d failed\n", name, checks - failures, failures);
    return failures ? 1 : 0;
}

#endif
