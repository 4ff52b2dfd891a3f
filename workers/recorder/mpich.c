/* MPICH and its kin: variables of the library point at Fortran's special arguments. Its bindings for
 * mpif.h and the module mpi call the plain C functions; those of mpi_f08 partly PMPI functions. */
#include "recorder.h"

#ifdef MPICH_VERSION

#include <dlfcn.h>

static const void *pointed_at(const char *name)
{
  void *const *variable = dlsym(RTLD_DEFAULT, name);
  return variable != NULL ? *variable : NULL;
}

struct fortran_layout hamtune_fortran(void)
{
  static struct fortran_layout layout;
  if (layout.status_size == 0)
    layout = (struct fortran_layout){
        .in_place = pointed_at("MPIR_F_MPI_IN_PLACE"),
        .status_ignore = pointed_at("MPI_F_STATUS_IGNORE"),
        .statuses_ignore = pointed_at("MPI_F_STATUSES_IGNORE"),
        .in_place_f08 = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_IN_PLACE"),
        .status_ignore_f08 = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUS_IGNORE_OBJ"),
        .statuses_ignore_f08 = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"),
        .status_size = (int)(sizeof(MPI_Status) / sizeof(MPI_Fint)),
    };
  return layout;
}

#endif
