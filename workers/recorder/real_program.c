/* Whether the program that the recorder is preloaded into calls it: a call that goes past it would be missing
 * in the trace, and nobody would notice. */
#include "recorder.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_VERSION = 1 << 14 }; /* some 8 KiB in MPICH, whichever library mpi.h is of */

#ifdef OPEN_MPI
static const char kBuiltWith[] = "Open MPI";
static const char *const kOthers[] = {"MPICH", "MVAPICH", "Intel(R) MPI"};
#else
static const char kBuiltWith[] = "MPICH or a relative of it";
static const char *const kOthers[] = {"Open MPI"};
#endif

/* Handles of one library lead another one astray, so nothing may be asked of it that takes one. */
void hamtune_check_library(void)
{
  static char library[LONGEST_VERSION];
  int length = 0;
  PMPI_Get_library_version(library, &length);
  for (size_t at = 0; at < sizeof kOthers / sizeof *kOthers; at++) {
    if (strstr(library, kOthers[at]) == NULL)
      continue;
    fprintf(stderr,
            "hamtune-recorder: the recorder was built with %s, and the program runs under %.*s; build one with "
            "the program's own mpicc: hamtune recorder build --mpicc\n",
            kBuiltWith, (int)strcspn(library, ",\r\n"), library);
    _exit(EXIT_FAILURE);
  }
}

/* The file that defines a function, unless it is that of the recorder. A program that takes the address of a
 * function may have a place of its own for it, which is no definition. */
static const char *other_definition(const char *function, const void *recorder)
{
  void *const found = dlsym(RTLD_DEFAULT, function);
  Dl_info place;
  const ElfW(Sym) *symbol = NULL;
  if (found == NULL || dladdr1(found, &place, (void **)&symbol, RTLD_DL_SYMENT) == 0)
    return NULL;
  if (place.dli_fbase == recorder || symbol == NULL || symbol->st_shndx == SHN_UNDEF)
    return NULL;
  return place.dli_fname;
}

void hamtune_check_wrappers(void)
{
  Dl_info recorder;
  if (dladdr(hamtune_call_names, &recorder) == 0)
    return;
  for (const char *const *name = hamtune_call_names; *name != NULL; name++) {
    const char *const file = other_definition(*name, recorder.dli_fbase);
    if (file != NULL)
      hamtune_refuse("%s is defined in %s too (a profiler?), so that the recorder does not see its calls; "
                     "record the program without that",
                     *name, file);
  }
}
