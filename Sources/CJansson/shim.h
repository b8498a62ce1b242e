#ifndef MPIN_CJANSSON_SHIM_H
#define MPIN_CJANSSON_SHIM_H

#include <jansson.h>

#endif
