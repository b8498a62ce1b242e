#ifndef MPIN_CJANSSON_SHIM_H
#define MPIN_CJANSSON_SHIM_H

#include <jansson.h>
/* The size of what jansson frees; Swift's Glibc leaves it out. */
#include <malloc.h>

#endif
