/* The bad disk of disk.c, for programs that are linked with it. */
#ifndef DISK_H
#define DISK_H

enum disk_fault {
    DISK_GOOD,
    DISK_FULL,
    DISK_IO_ERROR,
    DISK_INTERRUPTED,
    DISK_QUOTA,
    DISK_READ_ONLY,
    /* Only half of the bytes are read or written. */
    DISK_SHORT,
    /* SIGKILL before the call, or after it. */
    DISK_KILL_BEFORE,
    DISK_KILL_AFTER,
    /* SIGSTOP before the call. */
    DISK_STOP,
    DISK_FAULTS
};

/* From now on, the system call number `at` (the first is 1) on a file in
 * `folder` has that fault. */
void disk_arm(const char *folder, int at, enum disk_fault fault);

/* The number of system calls on files in the folder since then. */
int disk_calls(void);

#endif
