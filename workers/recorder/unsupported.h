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

/* Where a recording under a real MPI can tell more than a capture. */
#define HAMTUNE_WAY_OUT "record the program where it runs instead: hamtune recorder --help"

#define UNSUPPORTED_UNDER_SMPI(C_NAME, FORTRAN_NAME)                              \
  void C_NAME(void);                                                              \
  void C_NAME(void)                                                               \
  {                                                                               \
    hamtune_refuse("%s is not supported under SMPI; " HAMTUNE_WAY_OUT, #C_NAME);  \
  }                                                                               \
  void FORTRAN_NAME(void);                                                        \
  void FORTRAN_NAME(void)                                                         \
  {                                                                               \
    C_NAME();                                                                     \
  }

#define UNSUPPORTED_C(C_NAME) UNSUPPORTED_AS(C_NAME, #C_NAME)

/* In C, there with counts of 64 bits too where it has any, in Fortran, and in its module mpi_f08. */
#define UNSUPPORTED(C_NAME, FORTRAN_NAME)                        \
  UNSUPPORTED_AS(C_NAME, #C_NAME)                                \
  UNSUPPORTED_AS(C_NAME##_c, #C_NAME "_c")                       \
  UNSUPPORTED_AS(FORTRAN_NAME, #C_NAME)                          \
  UNSUPPORTED_AS(FORTRAN_NAME##f08_, #C_NAME)

#endif
