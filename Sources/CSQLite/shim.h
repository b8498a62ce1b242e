#ifndef MPIN_CSQLITE_SHIM_H
#define MPIN_CSQLITE_SHIM_H

#include <sqlite3.h>

/// Lets a connection obey nothing that a file brings with it: no triggers, no views, no functions with side effects in its
/// schema. And no statement can write into the schema's own tables. Returns SQLITE_OK, or the code of what is not possible.
/// Swift cannot call sqlite3_db_config, because its arguments vary.
static inline int mpin_sqlite3_distrust_file(sqlite3 *connection) {
    static const int settings[][2] = {
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
    };
    for (unsigned i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        int found = -1;
        int status = sqlite3_db_config(connection, settings[i][0], settings[i][1], &found);
        if (status != SQLITE_OK) return status;
        if (found != settings[i][1]) return SQLITE_ERROR;
    }
    return SQLITE_OK;
}

#endif
