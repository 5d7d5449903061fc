/* A driver for dbt v2 that hands on to that of the wheel adbc-driver-spark (LIBRARY): dbt names
   host and port as other drivers do, that one takes a uri. The statements that dbt sends go into
   the file SPARK_CDC_ADBC_LOG, a zero after each. Built by tests/dbt_v2.py. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t (*Init)(int, void *, void *);
typedef uint8_t (*SetOption)(void *, const char *, const char *, void *);
typedef uint8_t (*SetQuery)(void *, const char *, void *);

/* The head of ADBC's table of functions, of which two are replaced. */
struct Driver {
    void *until_database_new[5];
    SetOption database_set_option;
    void *until_statement_set_option[21];
    SetQuery statement_set_sql_query;
};

static SetOption set_option;
static SetQuery set_query;
static char host[256] = "localhost", port[16] = "15002";

static uint8_t renamed(void *database, const char *key, const char *value, void *error) {
    char uri[300];
    if (strcmp(key, "spark.host") == 0) snprintf(host, sizeof host, "%s", value);
    else if (strcmp(key, "spark.port") == 0) snprintf(port, sizeof port, "%s", value);
    else if (strncmp(key, "spark.", 6) == 0) return 0;
    else return set_option(database, key, value, error);
    snprintf(uri, sizeof uri, "sc://%s:%s", host, port);
    return set_option(database, "uri", uri, error);
}

static uint8_t logged(void *statement, const char *sql, void *error) {
    const char *path = getenv("SPARK_CDC_ADBC_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fwrite(sql, 1, strlen(sql) + 1, file);
        fclose(file);
    }
    return set_query(statement, sql, error);
}

uint8_t AdbcDriverInit(int version, void *driver, void *error) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    Init init = library ? (Init)dlsym(library, "AdbcDriverInit") : NULL;
    if (!init) {
        fprintf(stderr, "%s\n", dlerror());
        return 10; /* ADBC_STATUS_IO */
    }
    uint8_t status = init(version, driver, error);
    if (status == 0) {
        struct Driver *table = driver;
        set_option = table->database_set_option;
        table->database_set_option = renamed;
        set_query = table->statement_set_sql_query;
        table->statement_set_sql_query = logged;
    }
    return status;
}
