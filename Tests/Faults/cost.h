/* The limits of what an answer may cost, however bad it is. */
#ifndef COST_H
#define COST_H

#include <sys/resource.h>

/* The time of this process, which does one thing at a time. Other work of a
 * busy machine is not counted. */
static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* A sanitizer keeps freed memory and needs twice as much for itself. */
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
