/* Measures the time and the memory that an answer costs. The tests check that
 * both stay small, however bad the answer is. */
#ifndef COST_H
#define COST_H

#include <sys/resource.h>

/* Returns the processor time of this process, which does one thing at a
 * time. Other work of a busy machine is not counted in it. */
static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Returns the largest memory so far in KiB. With a sanitizer it returns 0,
 * because a sanitizer keeps freed memory and needs twice as much for itself. */
static long peak_kib(void)
{
#ifdef SANITIZED
    return 0;
#endif
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

#endif
