/* The functions of mpin.h with their parameters, each wrapped in a function
 * with the same signature. functions.py makes the list from the header. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <mpin.h>

/* The kinds of parameters. */
enum kind {
    SDK = 1,
    USER,
    SESSION,
    RESPONSE,  /* the answer that http_execute fills */
    DATA,      /* the place for the data of storage_get */
    MADE,      /* out: handles */
    BUFFER,    /* out: text */
    COUNT,     /* out: the size of a text, or a number of things */
    NUMBER,    /* out */
    OCTETS,    /* out: bytes of a fixed number */
    STRUCTURE, /* out: begins with its size */
    CONFIG,
    TEXT,
    SECRET, /* a PIN */
    BYTES,
    LENGTH, /* the length of the bytes before it */
    INTEGER
};

union value {
    void *pointer;
    size_t size;
    int64_t number;
};

enum { PARAMETERS = 8 };

struct function {
    const char *name;
    mpin_status (*call)(const union value *);
    int count;
    struct parameter {
        enum kind kind;
        const char *name;
    } parameters[PARAMETERS];
};

#include "functions.inc"

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

#endif
