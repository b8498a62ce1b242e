/* A new folder for the files of a test. It is removed at the end. */
#ifndef STORE_H
#define STORE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char store_folder[] = "/tmp/mpin-c-test-XXXXXX";

static int store_open(void)
{
    return mkdtemp(store_folder) == NULL ? -1 : 0;
}

/* Returns the path of a file in the folder. The last eight paths stay valid. */
static inline const char *store_path(const char *name)
{
    static char paths[8][128];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", store_folder, name);
    return path;
}

static void store_close(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", store_folder);
    if (system(command) != 0)
        perror(store_folder);
}

#endif
