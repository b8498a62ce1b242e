/* The number of heap allocations of the process: the bench counts what an operation allocates. */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

/* Allocations of all kinds since the start of the process. For one thread. */
unsigned long mpin_bench_allocations(void);

#endif
