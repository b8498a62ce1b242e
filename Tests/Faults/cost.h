/* Limits on the time and memory that any answer may cost. */
#ifndef COST_H
#define COST_H

#include <sys/resource.h>

/* The processor time of this process, which does one thing at a time. The
 * time of other programs on a busy machine is not counted. */
static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* The most memory that the process has used, in KiB. 0 with a sanitizer, which
 * keeps freed memory and needs more itself. */
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
