#ifndef MPIN_CSQLITE_SHIM_H
#define MPIN_CSQLITE_SHIM_H

#include <sqlite3.h>

#endif
