/* The one header that a program includes to declare its computation instead of doing it.
 *
 * Two builds come from one source:
 *   real      (any MPI)                              blocks run, results are verified;
 *   declared  (SMPI, -DHAMTUNE_DECLARE_FLOPS)        blocks are skipped and their cost is declared.
 *
 * A block is written once:
 *
 *     HAMTUNE_BLOCK(2.0 * n, dot = dot_product(n, x, y));
 *
 * Where message sizes depend on what is computed, HAMTUNE_NEEDED(flops, statement) runs the
 * statement in both builds and declares it too.
 *
 * HAMTUNE_ITERATION() stands at the start of every iteration of the main loop. It leaves a mark of
 * level 1 (MPI_Pcontrol) in the trace, so that the loop can be cut short. */
#ifndef HAMTUNE_APP_H
#define HAMTUNE_APP_H

#include <mpi.h>
#include <stddef.h>

#ifdef SMPI_H

/* SMPI has no MPI_Pcontrol but the recorder's, where that is linked into the program. */
extern void hamtune_record_flops(double flops) __attribute__((weak));

#define HAMTUNE_ITERATION()             \
  do {                                  \
    if (hamtune_record_flops != NULL)   \
      MPI_Pcontrol(1);                  \
  } while (0)

#else

#define HAMTUNE_ITERATION() MPI_Pcontrol(1)

#endif

#ifdef HAMTUNE_DECLARE_FLOPS

#include <smpi/smpi.h>

enum { HAMTUNE_DECLARED = 1 };

static inline void hamtune_compute(double flops)
{
  if (flops <= 0.0)
    return;
  smpi_execute_flops(flops);
  if (hamtune_record_flops != NULL)
    hamtune_record_flops(flops);
}

#else

enum { HAMTUNE_DECLARED = 0 };

static inline void hamtune_compute(double flops)
{
  (void)flops;
}

#endif

/* Runs the statement, or declares that it costs `flops` operations. The dead branch is compiled in
 * both builds, so neither mode can rot. */
#define HAMTUNE_BLOCK(flops, ...) \
  do {                            \
    if (HAMTUNE_DECLARED) {       \
      hamtune_compute(flops);     \
    } else {                      \
      __VA_ARGS__;                \
    }                             \
  } while (0)

#define HAMTUNE_NEEDED(flops, ...) \
  do {                             \
    hamtune_compute(flops);        \
    __VA_ARGS__;                   \
  } while (0)

#endif
