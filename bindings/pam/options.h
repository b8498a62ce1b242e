/* What the line of a service in /etc/pam.d says after "pam_mpin.so". */
#ifndef PAM_MPIN_OPTIONS_H
#define PAM_MPIN_OPTIONS_H

#include <security/pam_modules.h>

enum qr_style { QR_BLOCKS, QR_ASCII, QR_NONE };

struct options {
    /** The provider, and this machine's registration there. */
    const char *issuer, *client_id;
    /** Path of a file with the client's secret; NULL: a public client. */
    const char *secret_file;
    /** Path of the file that says who may log in as whom. */
    const char *users_file;
    /** PEM file of the authorities to trust; NULL: the system's. */
    const char *ca_file;
    /** How long a login may take, in seconds. */
    unsigned timeout;
    /** 1: a login waits for the Enter key after it has shown the code. */
    int prompt;
    enum qr_style qr;
};

/** Reads the options. Logs what is wrong with them.
 *
 * Returns: 0, or -1 if an option is unknown, malformed or missing.
 */
int read_options(pam_handle_t *pamh, int argc, const char **argv,
                 struct options *options);

#endif
