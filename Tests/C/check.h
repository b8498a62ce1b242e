/* The checks of the tests in C. Each check is counted. If it fails, it is
 * printed, and the test continues. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <string.h>

/* A program is one test. Its checks are counted as cases. The failures that
 * it causes on purpose, such as a cut answer or a full disk, are counted as
 * faults. */
static int checks, faults, failures;

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

/* Checks that a call of the library returns `expected`. */
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

/* Prints the last line of a test program, which Tests/count.awk reads, and
 * returns the exit status of the program. */
static inline int report(const char *name)
{
    if (failures)
        printf("%s: %d of %d checks failed: 0 passed, 1 failed\n", name,
               failures, checks);
    else if (faults)
        printf("%s: %d cases, %d faults: 1 passed, 0 failed\n", name, checks,
               faults);
    else
        printf("%s: %d cases: 1 passed, 0 failed\n", name, checks);
    return failures ? 1 : 0;
}

#endif
