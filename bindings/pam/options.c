#include "options.h"

#include <security/pam_ext.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

/* sshd ends a login after 120 seconds (LoginGraceTime). */
enum { USUAL_TIMEOUT = 100, LONGEST_TIMEOUT = 600 };

/* The rest of `word` after "name=", or NULL if it does not begin so. */
static const char *value(const char *word, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

/* A number of seconds in decimal, from 1 to the longest time; 0 if it is
 * anything else. */
static unsigned seconds(const char *text)
{
    unsigned long number = 0;
    if (*text == '\0' || strspn(text, "0123456789") != strlen(text) ||
        strlen(text) > 4)
        return 0;
    number = strtoul(text, NULL, 10);
    return number <= LONGEST_TIMEOUT ? (unsigned)number : 0;
}

static int read_style(const char *text, enum qr_style *style)
{
    static const char *const names[] = {"blocks", "ascii", "none"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i]) == 0) {
            *style = (enum qr_style)i;
            return 0;
        }
    return -1;
}

/* Stores a text that must not be empty. */
static int read_text(const char *text, const char **member)
{
    *member = text;
    return *text ? 0 : -1;
}

static int read_option(const char *word, struct options *options)
{
    const char *text;
    if ((text = value(word, "issuer")))
        return read_text(text, &options->issuer);
    if ((text = value(word, "client_id")))
        return read_text(text, &options->client_id);
    if ((text = value(word, "client_secret_file")))
        return read_text(text, &options->secret_file);
    if ((text = value(word, "users")))
        return read_text(text, &options->users_file);
    if ((text = value(word, "ca_file")))
        return read_text(text, &options->ca_file);
    if ((text = value(word, "qr")))
        return read_style(text, &options->qr);
    if ((text = value(word, "timeout")))
        return (options->timeout = seconds(text)) ? 0 : -1;
    if (strcmp(word, "prompt") && strcmp(word, "noprompt"))
        return -1;
    options->prompt = *word == 'p';
    return 0;
}

/* sshd sends a text to its client only together with a question
 * (https://bugzilla.mindrot.org/show_bug.cgi?id=2876), so the code needs one
 * there. */
static int needs_prompt(pam_handle_t *pamh)
{
    const void *service = NULL;
    return pam_get_item(pamh, PAM_SERVICE, &service) == PAM_SUCCESS &&
           service && strcmp(service, "sshd") == 0;
}

int read_options(pam_handle_t *pamh, int argc, const char **argv,
                 struct options *options)
{
    const struct options usual = {.users_file = "/etc/security/mpin-users",
                                  .timeout = USUAL_TIMEOUT,
                                  .prompt = needs_prompt(pamh)};
    *options = usual;
    for (int i = 0; i < argc; i++)
        if (read_option(argv[i], options)) {
            /* Only its number is logged: it may be a misplaced secret. */
            pam_syslog(pamh, LOG_ERR, "option %d is unknown or malformed",
                       i + 1);
            return -1;
        }
    if (options->issuer && options->client_id)
        return 0;
    pam_syslog(pamh, LOG_ERR, "issuer= or client_id= is missing");
    return -1;
}
