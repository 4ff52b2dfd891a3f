/* Open MPI: Fortran's special arguments are variables of its library. Its Fortran bindings call
 * PMPI functions, so that only the Fortran entry points see a Fortran program. */
#include "recorder.h"

#ifdef OPEN_MPI

#include <dlfcn.h>

struct fortran_layout hamtune_fortran(void)
{
  static struct fortran_layout layout;
  if (layout.status_size == 0)
    layout = (struct fortran_layout){
        .in_place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_"),
        .status_ignore = dlsym(RTLD_DEFAULT, "mpi_fortran_status_ignore_"),
        .statuses_ignore = dlsym(RTLD_DEFAULT, "mpi_fortran_statuses_ignore_"),
        .status_size = (int)(sizeof(MPI_Status) / sizeof(MPI_Fint)),
    };
  return layout;
}

#endif
