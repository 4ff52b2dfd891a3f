/* Ranks that draw in turns have the numbers of a process of their own: those are its arguments, and what it
 * prints where it is compiled with ALONE. */
#include <stdio.h>
#include <stdlib.h>
#ifndef ALONE
#include <mpi.h>
#endif

enum { DRAWS = 16 };

static double draw(int step)
{
  static char table[64], *before;
  static unsigned short state[3] = {1, 2, 3}, parameters[7] = {1, 2, 3, 4, 5, 6, 7};
  switch (step) {
  case 0: return rand();
  case 1: return (double)random();
  case 2: srand(42); return rand();
  case 3: before = initstate(7, table, sizeof table); return (double)random();
  case 4: setstate(before); return (double)random();
  case 5: srandom(5); return (double)random();
  case 6: return drand48();
  case 7: srand48(1); return drand48();
  case 8: return (double)lrand48();
  case 9: return (double)mrand48();
  case 10: return erand48(state);
  case 11: return (double)nrand48(state);
  case 12: return (double)jrand48(state);
  case 13: return *seed48(state);
  case 14: return (double)lrand48();
  default: lcong48(parameters); return (double)lrand48();
  }
}

int main(int argc, char **argv)
{
#ifdef ALONE
  (void)argc;
  (void)argv;
  for (int step = 0; step < DRAWS; step++)
    printf("%.17g\n", draw(step));
#else
  MPI_Init(&argc, &argv);
  for (int step = 0; step < DRAWS; step++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (draw(step) != atof(argv[1 + step]))
      MPI_Abort(MPI_COMM_WORLD, step);
  }
  MPI_Finalize();
#endif
  return 0;
}
