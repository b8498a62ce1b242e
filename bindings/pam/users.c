#include "users.h"

#include <security/pam_ext.h>
#include <string.h>
#include <syslog.h>

enum { LONGEST_NAME = 255 };

/* A part of the map. */
struct text {
    const char *start;
    size_t length;
};

/* A line of the map. Both texts are empty in a line without an entry. */
struct entry {
    struct text user, person;
};

static const char BLANKS[] = " \t";

/* Takes the next word of a line, which begins at *at and ends at `end`. */
static struct text next_word(const char **at, const char *end)
{
    struct text word;
    while (*at < end && strchr(BLANKS, **at))
        ++*at;
    word.start = *at;
    while (*at < end && !strchr(BLANKS, **at))
        ++*at;
    word.length = (size_t)(*at - word.start);
    return word;
}

/* Whether a word is `kind` and then at least one more byte. */
static int begins(struct text word, const char *kind)
{
    const size_t n = strlen(kind);
    return word.length > n && memcmp(word.start, kind, n) == 0;
}

static int has_control(struct text line)
{
    for (size_t i = 0; i < line.length; i++) {
        const unsigned char c = (unsigned char)line.start[i];
        if ((c < ' ' && c != '\t') || c == 127)
            return 1;
    }
    return 0;
}

/* Takes the next line of the map.
 * Returns 1, 0 at the end of the map, or -1 if the line is malformed. */
static int next_entry(const char **map, struct entry *entry)
{
    const char *at = *map, *end = at + strcspn(at, "\n");
    const struct text line = {at, (size_t)(end - at)};
    if (*at == '\0')
        return 0;
    *map = *end ? end + 1 : end;
    memset(entry, 0, sizeof *entry);
    entry->user = next_word(&at, end);
    if (entry->user.length == 0 || *entry->user.start == '#') {
        entry->user.length = 0;
        return 1;
    }
    entry->person = next_word(&at, end);
    if (has_control(line) || next_word(&at, end).length ||
        entry->user.length > LONGEST_NAME)
        return -1;
    return begins(entry->person, "sub:") || begins(entry->person, "email:")
               ? 1
               : -1;
}

int check_map(pam_handle_t *pamh, const char *map)
{
    struct entry entry;
    int line = 1, found;
    while ((found = next_entry(&map, &entry)) == 1)
        line++;
    if (found == 0)
        return 0;
    pam_syslog(pamh, LOG_ERR,
               "line %d of the users is not USER sub:VALUE or USER email:VALUE",
               line);
    return -1;
}

static int is_equal(struct text word, const char *text)
{
    return word.length == strlen(text) &&
           memcmp(word.start, text, word.length) == 0;
}

/* Whether the person is the one in a line of the map. */
static int is_person(struct text word, const struct person *person)
{
    const int is_sub = begins(word, "sub:");
    const char *known = is_sub ? person->sub : person->email;
    const size_t n = is_sub ? strlen("sub:") : strlen("email:");
    const struct text value = {word.start + n, word.length - n};
    return *known && is_equal(value, known);
}

/* Whether the map has a line for the user and the person; NULL is any. */
static int has_entry(const char *map, const char *user,
                     const struct person *person)
{
    struct entry entry;
    while (next_entry(&map, &entry) == 1)
        if (entry.user.length && is_equal(entry.user, user) &&
            (person == NULL || is_person(entry.person, person)))
            return 1;
    return 0;
}

int is_mapped(const char *map, const char *user)
{
    return has_entry(map, user, NULL);
}

int may_log_in(const char *map, const char *user, const struct person *person)
{
    return has_entry(map, user, person);
}

int is_name(const char *user)
{
    const struct text name = {user, strlen(user)};
    return name.length > 0 && name.length <= LONGEST_NAME &&
           !has_control(name) && strpbrk(user, " \t#/") == NULL;
}
