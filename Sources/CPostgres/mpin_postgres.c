/* mpind does not link libpq, which brings Kerberos and LDAP along. Most servers keep their state in a file and need none
 * of these. */
#include "mpin_postgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* X(function): the list of all libpq functions that are called here. */
#define FUNCTIONS(X) \
    X(PQconninfoParse) X(PQconninfoFree) X(PQfreemem) X(PQconnectdb) X(PQfinish) X(PQstatus) X(PQerrorMessage) \
    X(PQsocket) X(PQsetnonblocking) X(PQenterPipelineMode) X(PQsetNoticeReceiver) X(PQsendPrepare) \
    X(PQsendQueryPrepared) X(PQsendQueryParams) X(PQpipelineSync) X(PQflush) X(PQconsumeInput) X(PQisBusy) \
    X(PQgetResult) X(PQclear) X(PQresultStatus) X(PQresultErrorField) X(PQresultErrorMessage) X(PQcmdTuples) \
    X(PQntuples) X(PQnfields) X(PQgetvalue) X(PQgetlength) X(PQgetisnull)

#define MEMBER(name) __typeof__(name) *name;
static struct { FUNCTIONS(MEMBER) } pq;
#undef MEMBER

static pthread_once_t loading = PTHREAD_ONCE_INIT;
static int is_available;

/* Loads libpq and looks up its functions. A libpq that is too old to have them all is not used. */
static void load(void) {
    void *library = dlopen(MPIN_POSTGRES_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return;
#define FIND(name) \
    *(void **)&pq.name = dlsym(library, #name); \
    if (!pq.name) return;
    FUNCTIONS(FIND)
#undef FIND
    is_available = 1;
}

int mpin_PQ_is_available(void) {
    pthread_once(&loading, load);
    return is_available;
}

PQconninfoOption *mpin_PQconninfoParse(const char *text, char **error) { return pq.PQconninfoParse(text, error); }
void mpin_PQconninfoFree(PQconninfoOption *options) { pq.PQconninfoFree(options); }
void mpin_PQfreemem(void *memory) { pq.PQfreemem(memory); }

PGconn *mpin_PQconnectdb(const char *text) { return pq.PQconnectdb(text); }
void mpin_PQfinish(PGconn *connection) { pq.PQfinish(connection); }
ConnStatusType mpin_PQstatus(const PGconn *connection) { return pq.PQstatus(connection); }
char *mpin_PQerrorMessage(const PGconn *connection) { return pq.PQerrorMessage(connection); }
int mpin_PQsocket(const PGconn *connection) { return pq.PQsocket(connection); }
int mpin_PQsetnonblocking(PGconn *connection, int is_nonblocking) {
    return pq.PQsetnonblocking(connection, is_nonblocking);
}
int mpin_PQenterPipelineMode(PGconn *connection) { return pq.PQenterPipelineMode(connection); }

static void watch(void *has_warned, const PGresult *notice) {
    const char *state = pq.PQresultErrorField(notice, PG_DIAG_SQLSTATE);
    if (state && strcmp(state, "01000") == 0) *(int *)has_warned = 1;
}

void mpin_PQwatchWarnings(PGconn *connection, int *has_warned) {
    pq.PQsetNoticeReceiver(connection, watch, has_warned);
}

int mpin_PQsendPrepare(PGconn *connection, const char *name, const char *sql) {
    return pq.PQsendPrepare(connection, name, sql, 0, NULL);
}

/* Results are wanted in binary form. */
int mpin_PQsendQueryPrepared(
    PGconn *connection, const char *name, int count, const char *const *values, const int *lengths,
    const int *formats) {
    return pq.PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1);
}

int mpin_PQsendQueryParams(
    PGconn *connection, const char *sql, int count, const char *const *values, const int *lengths,
    const int *formats) {
    return pq.PQsendQueryParams(connection, sql, count, NULL, values, lengths, formats, 1);
}

int mpin_PQpipelineSync(PGconn *connection) { return pq.PQpipelineSync(connection); }
int mpin_PQflush(PGconn *connection) { return pq.PQflush(connection); }
int mpin_PQconsumeInput(PGconn *connection) { return pq.PQconsumeInput(connection); }
int mpin_PQisBusy(PGconn *connection) { return pq.PQisBusy(connection); }

PGresult *mpin_PQgetResult(PGconn *connection) { return pq.PQgetResult(connection); }
void mpin_PQclear(PGresult *result) { pq.PQclear(result); }
ExecStatusType mpin_PQresultStatus(const PGresult *result) { return pq.PQresultStatus(result); }
const char *mpin_PQresultState(const PGresult *result) { return pq.PQresultErrorField(result, PG_DIAG_SQLSTATE); }
char *mpin_PQresultErrorMessage(const PGresult *result) { return pq.PQresultErrorMessage(result); }
char *mpin_PQcmdTuples(PGresult *result) { return pq.PQcmdTuples(result); }
int mpin_PQntuples(const PGresult *result) { return pq.PQntuples(result); }
int mpin_PQnfields(const PGresult *result) { return pq.PQnfields(result); }
char *mpin_PQgetvalue(const PGresult *result, int row, int column) { return pq.PQgetvalue(result, row, column); }
int mpin_PQgetlength(const PGresult *result, int row, int column) { return pq.PQgetlength(result, row, column); }
int mpin_PQgetisnull(const PGresult *result, int row, int column) { return pq.PQgetisnull(result, row, column); }
