/* Fetches the client settings of a backend twice; in between, a child process
 * frees its copy of the sdk. Prints the resulting status as one word.
 *
 *     probe URL CA_FILE [PINNED_KEYS] */
#include <mpin.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void free_in_child(mpin_sdk *sdk)
{
    pid_t child = fork();
    if (child == 0) {
        mpin_sdk_free(sdk);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    char store[64];
    mpin_sdk *sdk = NULL;
    mpin_config config = {0};
    if (argc < 3)
        return fputs("usage: probe URL CA_FILE [PINNED_KEYS]\n", stderr), 2;
    snprintf(store, sizeof store, "/tmp/mpin-probe-%d", (int)getpid());
    config.size = sizeof config;
    config.storage_path = store;
    config.storage_passphrase = "none is stored";
    config.ca_file = argv[2];
    config.pinned_keys = argc > 3 ? argv[3] : NULL;
    config.timeout_ms = 2000;
    mpin_status status = mpin_sdk_new(&sdk);
    if (status == MPIN_OK)
        status = mpin_sdk_init(sdk, &config);
    if (status == MPIN_OK)
        status = mpin_sdk_set_backend(sdk, argv[1], NULL);
    if (status == MPIN_OK) {
        free_in_child(sdk);
        status = mpin_sdk_set_backend(sdk, argv[1], NULL);
    }
    puts(mpin_status_name(status));
    mpin_sdk_free(sdk);
    return 0;
}
