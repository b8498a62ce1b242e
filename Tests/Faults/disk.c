/* Replaces functions of the C library, so that a system call on a file of
 * one folder fails, is done only half, or kills or stops the process. */
#define _GNU_SOURCE

#include "disk.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 4096 };

static char folder[256];
static int calls, armed_at;
static enum disk_fault armed;
/* For each file descriptor: whether its file is in `folder`. */
static char is_ours[MAX_FILES];

void disk_arm(const char *in, int at, enum disk_fault fault)
{
    strncpy(folder, in, sizeof folder - 1);
    calls = 0;
    armed_at = at;
    armed = fault;
}

int disk_calls(void)
{
    return calls;
}

static int is_in_folder(const char *path)
{
    return folder[0] && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_our_file(int file)
{
    return folder[0] && file >= 0 && file < MAX_FILES && is_ours[file];
}

/* Counts a system call and returns its fault; DISK_GOOD if it has none.
 * Kills or stops the process if the fault is to happen before the call. */
static enum disk_fault next(void)
{
    if (++calls != armed_at)
        return DISK_GOOD;
    if (armed == DISK_KILL_BEFORE)
        kill(getpid(), SIGKILL);
    if (armed == DISK_STOP)
        raise(SIGSTOP);
    return armed;
}

/* Whether a call with this fault fails instead of being made. Sets errno. */
static int fails(enum disk_fault fault)
{
    switch (fault) {
    case DISK_FULL: errno = ENOSPC; return 1;
    case DISK_IO_ERROR: errno = EIO; return 1;
    case DISK_INTERRUPTED: errno = EINTR; return 1;
    case DISK_QUOTA: errno = EDQUOT; return 1;
    case DISK_READ_ONLY: errno = EROFS; return 1;
    default: return 0;
    }
}

static void after(enum disk_fault fault)
{
    if (fault == DISK_KILL_AFTER)
        kill(getpid(), SIGKILL);
}

/* Defines `real`, the C library's own function with this name. */
#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) \
        *(void **)&real = dlsym(RTLD_NEXT, #name)

/* Makes a system call, with its fault if it has one. If the fault lets the
 * call fail, the function that uses this macro returns -1; otherwise `result`
 * is the result of the call. */
#define PASS(is_counted, call) \
    do { \
        enum disk_fault fault = (is_counted) ? next() : DISK_GOOD; \
        if (fails(fault)) \
            return -1; \
        result = (call); \
        after(fault); \
    } while (0)

typedef int (*open_type)(const char *, int, ...);

static int open_with(open_type real, const char *path, int flags, mode_t mode)
{
    int result;
    PASS(is_in_folder(path), real(path, flags, mode));
    if (result >= 0 && result < MAX_FILES)
        is_ours[result] = is_in_folder(path) != 0;
    return result;
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;
    va_end(list);
    REAL(open);
    return open_with(real, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;
    va_end(list);
    REAL(open64);
    return open_with(real, path, flags, mode);
}

int close(int file)
{
    int result;
    REAL(close);
    const int ours = is_our_file(file);
    enum disk_fault fault = ours ? next() : DISK_GOOD;
    if (ours)
        is_ours[file] = 0;
    /* Closes the file in any case, as the system does, even if close()
     * reports an error. */
    result = real(file);
    after(fault);
    return fails(fault) ? -1 : result;
}

ssize_t read(int file, void *bytes, size_t n)
{
    ssize_t result;
    REAL(read);
    if (!is_our_file(file))
        return real(file, bytes, n);
    enum disk_fault fault = next();
    if (fails(fault))
        return -1;
    result = real(file, bytes, fault == DISK_SHORT && n > 1 ? n / 2 : n);
    after(fault);
    return result;
}

ssize_t write(int file, const void *bytes, size_t n)
{
    ssize_t result;
    REAL(write);
    if (!is_our_file(file))
        return real(file, bytes, n);
    enum disk_fault fault = next();
    if (fails(fault))
        return -1;
    result = real(file, bytes, fault == DISK_SHORT && n > 1 ? n / 2 : n);
    after(fault);
    return result;
}

int fsync(int file)
{
    int result;
    REAL(fsync);
    PASS(is_our_file(file), real(file));
    return result;
}

int flock(int file, int operation)
{
    int result;
    REAL(flock);
    PASS(is_our_file(file), real(file, operation));
    return result;
}

int fstat(int file, struct stat *status)
{
    int result;
    REAL(fstat);
    PASS(is_our_file(file), real(file, status));
    return result;
}

int stat(const char *path, struct stat *status)
{
    int result;
    REAL(stat);
    PASS(is_in_folder(path), real(path, status));
    return result;
}

int access(const char *path, int mode)
{
    int result;
    REAL(access);
    PASS(is_in_folder(path), real(path, mode));
    return result;
}

int rename(const char *from, const char *to)
{
    int result;
    REAL(rename);
    PASS(is_in_folder(from), real(from, to));
    return result;
}

int link(const char *from, const char *to)
{
    int result;
    REAL(link);
    PASS(is_in_folder(from), real(from, to));
    return result;
}

int unlink(const char *path)
{
    int result;
    REAL(unlink);
    PASS(is_in_folder(path), real(path));
    return result;
}
