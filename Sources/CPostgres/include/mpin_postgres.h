/* libpq without linking it: the functions that MPinStore calls. They are looked up in libpq.so.5 before the first call,
 * so only a server that keeps state in PostgreSQL needs the library. Each function calls the function of libpq with the
 * same name without "mpin_". Call all these functions only if mpin_PQ_is_available() has returned 1. */
#ifndef MPIN_POSTGRES_H
#define MPIN_POSTGRES_H

#include <postgresql/libpq-fe.h>
/* Swift's own module of the C library does not have it. */
#include <sys/epoll.h>

/* The file name of the library that is loaded. Pipelines need version 14 or later, whose file name is the same. */
#define MPIN_POSTGRES_LIBRARY "libpq.so.5"

/* Loads libpq, once in a process. Returns 1 on success. Safe from every thread. */
int mpin_PQ_is_available(void);

PQconninfoOption *mpin_PQconninfoParse(const char *text, char **error);
void mpin_PQconninfoFree(PQconninfoOption *options);
void mpin_PQfreemem(void *memory);

PGconn *mpin_PQconnectdb(const char *text);
void mpin_PQfinish(PGconn *connection);
ConnStatusType mpin_PQstatus(const PGconn *connection);
char *mpin_PQerrorMessage(const PGconn *connection);
int mpin_PQsocket(const PGconn *connection);
int mpin_PQsetnonblocking(PGconn *connection, int is_nonblocking);
int mpin_PQenterPipelineMode(PGconn *connection);
/* Makes the connection set `has_warned` to 1 at each warning of SQLSTATE 01000, and drop all notices, which libpq would write
 * to stderr. `has_warned` must live as long as the connection. */
void mpin_PQwatchWarnings(PGconn *connection, int *has_warned);

int mpin_PQsendPrepare(PGconn *connection, const char *name, const char *sql);
int mpin_PQsendQueryPrepared(
    PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats);
int mpin_PQsendQueryParams(
    PGconn *connection, const char *sql, int count, const char *const *values, const int *lengths, const int *formats);
int mpin_PQpipelineSync(PGconn *connection);
int mpin_PQflush(PGconn *connection);
int mpin_PQconsumeInput(PGconn *connection);
int mpin_PQisBusy(PGconn *connection);

PGresult *mpin_PQgetResult(PGconn *connection);
void mpin_PQclear(PGresult *result);
ExecStatusType mpin_PQresultStatus(const PGresult *result);
/* The SQLSTATE of an error, five characters; NULL if there is none. */
const char *mpin_PQresultState(const PGresult *result);
char *mpin_PQresultErrorMessage(const PGresult *result);
/* The number of rows that a statement changed, as text; empty for other statements. */
char *mpin_PQcmdTuples(PGresult *result);
int mpin_PQntuples(const PGresult *result);
int mpin_PQnfields(const PGresult *result);
char *mpin_PQgetvalue(const PGresult *result, int row, int column);
int mpin_PQgetlength(const PGresult *result, int row, int column);
int mpin_PQgetisnull(const PGresult *result, int row, int column);

#endif
