/* What a rank under SMPI has of a process: its end, and the arguments of a Fortran program.
 *
 * SMPI's header gives C and C++ an exit that ends the rank alone; Fortran's STOP, and what was compiled without
 * that header, ask the C library, which would end all ranks: many a program stops after MPI_FINALIZE.
 *
 * SMPI gives the arguments to the library of Fortran that it is linked to, and each rank has one of its own
 * (workers/capture_run.py).
 *
 * Hidden from all but the program, as the clocks are (smpi_clocks.c). */
#include "recorder.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef exit

#define OF_LIBRARY __attribute__((weak, visibility("hidden")))

_Noreturn void smpi_exit(int status);
_Noreturn void _gfortran_stop_numeric(int code, bool quiet);
_Noreturn void _gfortran_stop_string(const char *text, size_t length, bool quiet);
_Noreturn void _gfortran_exit_i4(const int32_t *status);
_Noreturn void _gfortran_exit_i8(const int64_t *status);

OF_LIBRARY _Noreturn void exit(int status)
{
  smpi_exit(status);
}

/* At once, as gfortran's library says it: standard error has no other buffer. */
static void say_stop(const char *text, size_t length)
{
  char line[512] = "STOP ";
  const size_t begun = strlen(line), room = sizeof line - begun - 1;
  const size_t said = length < room ? length : room;
  memcpy(line + begun, text, said);
  line[begun + said] = '\n';
  if (write(STDERR_FILENO, line, begun + said + 1) < 0)
    return; /* nobody listens */
}

OF_LIBRARY _Noreturn void _gfortran_stop_numeric(int code, bool quiet)
{
  char text[32];
  const int length = snprintf(text, sizeof text, "%d", code);
  if (!quiet)
    say_stop(text, (size_t)length);
  exit(code);
}

OF_LIBRARY _Noreturn void _gfortran_stop_string(const char *text, size_t length, bool quiet)
{
  if (!quiet && text != NULL)
    say_stop(text, length);
  exit(EXIT_SUCCESS);
}

OF_LIBRARY _Noreturn void _gfortran_exit_i4(const int32_t *status)
{
  exit(status == NULL ? EXIT_SUCCESS : *status);
}

OF_LIBRARY _Noreturn void _gfortran_exit_i8(const int64_t *status)
{
  exit(status == NULL ? EXIT_SUCCESS : (int)*status);
}

/* The function of the library that SMPI itself is linked to. */
static void *of_smpi(const char *name)
{
  static void *everybody;
  if (everybody == NULL)
    everybody = dlopen(NULL, RTLD_LAZY);
  return dlsym(everybody, name);
}

int32_t _gfortran_iargc(void);
OF_LIBRARY int32_t _gfortran_iargc(void)
{
  int32_t (*asked)(void);
  *(void **)&asked = of_smpi("_gfortran_iargc");
  return asked();
}

#define ASK_SMPI(NAME, PARAMETERS, GIVEN)  \
  void NAME PARAMETERS;                    \
  OF_LIBRARY void NAME PARAMETERS          \
  {                                        \
    void(*asked) PARAMETERS;               \
    *(void **)&asked = of_smpi(#NAME);     \
    asked GIVEN;                           \
  }

ASK_SMPI(_gfortran_getarg_i4, (const int32_t *at, char *text, size_t room), (at, text, room))
ASK_SMPI(_gfortran_getarg_i8, (const int64_t *at, char *text, size_t room), (at, text, room))
ASK_SMPI(_gfortran_get_command_i4,
         (char *text, int32_t *length, int32_t *status, size_t room), (text, length, status, room))
ASK_SMPI(_gfortran_get_command_i8,
         (char *text, int64_t *length, int64_t *status, size_t room), (text, length, status, room))
ASK_SMPI(_gfortran_get_command_argument_i4,
         (const int32_t *at, char *text, int32_t *length, int32_t *status, size_t room),
         (at, text, length, status, room))
ASK_SMPI(_gfortran_get_command_argument_i8,
         (const int64_t *at, char *text, int64_t *length, int64_t *status, size_t room),
         (at, text, length, status, room))
