#define _GNU_SOURCE

#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <security/pam_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

/* Whether only root can write. */
static int is_of_root(const struct stat *status)
{
    const mode_t others = S_IWGRP | S_IWOTH;
    return status->st_uid == 0 &&
           ((status->st_mode & others) == 0 ||
            (S_ISDIR(status->st_mode) && status->st_mode & S_ISVTX));
}

/* Whether all folders above the file are of root. `path` has no links in it,
 * and is cut from the end. */
static int are_folders_of_root(char *path)
{
    struct stat status;
    char *slash;
    while ((slash = strrchr(path, '/')) != NULL && slash != path) {
        *slash = '\0';
        if (lstat(path, &status) || !is_of_root(&status))
            return 0;
    }
    return stat("/", &status) == 0 && is_of_root(&status);
}

/* Opens the file, or returns -1 and the reason. */
static int open_trusted(const char *path, mode_t forbidden, const char **reason)
{
    char real[PATH_MAX];
    struct stat status;
    int file = -1;
    *reason = "cannot be opened";
    if (*path != '/' || realpath(path, real) == NULL)
        return -1;
    file = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 || fstat(file, &status))
        goto refused;
    *reason = "is no file";
    if (!S_ISREG(status.st_mode))
        goto refused;
    *reason = "may be read or written by others than root";
    if (!is_of_root(&status) || status.st_mode & forbidden)
        goto refused;
    *reason = "is in a folder that others than root may change";
    if (are_folders_of_root(real))
        return file;
refused:
    if (file >= 0)
        close(file);
    return -1;
}

/* Reads at most `size` bytes. Returns how many there were, -1 on failure. */
static ssize_t read_all(int file, char *text, size_t size)
{
    size_t n = 0;
    while (n < size) {
        const ssize_t more = read(file, text + n, size - n);
        if (more == 0)
            break;
        if (more > 0)
            n += (size_t)more;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)n;
}

char *read_trusted(pam_handle_t *pamh, const char *path, mode_t forbidden,
                   size_t most)
{
    const char *reason = NULL;
    char *text = NULL;
    ssize_t n = -1;
    const int file = open_trusted(path, forbidden, &reason);
    if (file >= 0) {
        /* One byte more than is allowed shows that there is more, and one is
         * for the NUL. */
        reason = "is too large or unreadable, or contains a NUL";
        text = calloc(1, most + 2);
        if (text)
            n = read_all(file, text, most + 1);
        close(file);
    }
    if (n >= 0 && (size_t)n <= most && strlen(text) == (size_t)n)
        return text;
    pam_syslog(pamh, LOG_ERR, "%s %s", path, reason);
    if (text) {
        explicit_bzero(text, most + 2);
        free(text);
    }
    return NULL;
}

void free_text(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}
