/* Definitions of functions that end the run with their name. They share a name with the real ones,
 * not their parameters, which is why mpi.h must not be included beside this. */
#ifndef HAMTUNE_UNSUPPORTED_H
#define HAMTUNE_UNSUPPORTED_H

_Noreturn void hamtune_refuse(const char *format, ...);

#define UNSUPPORTED_AS(NAME, SHOWN)                              \
  void NAME(void);                                               \
  void NAME(void)                                                \
  {                                                              \
    hamtune_refuse("%s is not supported in a trace", SHOWN);     \
  }

#define UNSUPPORTED_C(C_NAME) UNSUPPORTED_AS(C_NAME, #C_NAME)

/* In C, in Fortran, and in Fortran's module mpi_f08. */
#define UNSUPPORTED(C_NAME, FORTRAN_NAME)                        \
  UNSUPPORTED_AS(C_NAME, #C_NAME)                                \
  UNSUPPORTED_AS(FORTRAN_NAME, #C_NAME)                          \
  UNSUPPORTED_AS(FORTRAN_NAME##f08_, #C_NAME)

#endif
