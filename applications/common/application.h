/* What the built-in programs share: arguments, errors, memory, the report at the end. */
#ifndef HAMTUNE_APPLICATION_H
#define HAMTUNE_APPLICATION_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit status of a program. */
enum { APP_OK = 0, APP_VERIFICATION_FAILED = 1, APP_WRONG_USE = 2 };

typedef struct {
  const char *program;  /* "cg" */
  const char *size;     /* class or extent, for people */
  int ranks;
  double seconds;       /* of the timed part, the slowest rank */
  double operations;    /* of the timed part, as the benchmark's rules count them, or 0 */
  bool verified;        /* ignored when the computation was declared */
} AppResult;

/* Prints the report on the calling rank (call it on rank 0) and returns the exit status. */
int app_report(const AppResult *result);

/* The same for a run whose result NPB does not tell: not the iterations of the class. */
int app_report_unknown(const AppResult *result);

/* Says on rank 0 what is wrong with the way the program was started, finalizes MPI and returns
 * APP_WRONG_USE. Every rank calls it: arguments and rank counts are the same everywhere. */
int app_wrong_use(const char *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The index in `classes` of the class given as the first argument; -1 if there is no such class.
 * `iterations` becomes the second argument, from 1 to 1,000,000, or 0 when there is none. */
int app_class_and_iterations(int argc, char **argv, const char *classes, int *iterations);

/* A kernel of NPB: classes S, W, A, B, on a power of two of ranks. */
typedef struct {
  const char *name;
  int (*most_ranks)(int index);
  int (*run)(int index, int rank, int ranks); /* returns the exit status of this rank */
} AppKernel;

/* Runs a kernel: everything between main's braces. */
int app_kernel_main(const AppKernel *kernel, int argc, char **argv);

/* Tells a recorder that an iteration of the main loop begins (MPI_Pcontrol level 1) or that the
 * last one has ended (level 0). */
void app_iteration_begins(void);
void app_iterations_end(void);

/* A stretch of consecutive indices. */
typedef struct {
  int first;
  int count;
} AppRange;

/* Part `index` when `total` items are cut into `parts`; the first parts are one longer. */
AppRange app_cut(int total, int parts, int index);

/* log2(value) of a power of two, else -1. */
int app_log2(int value);

/* Memory for `count` items that is not touched: a declared run never pays for its arrays.
 * Ends the run with a message when there is none. */
void *app_allocate(size_t count, size_t size);

#endif
