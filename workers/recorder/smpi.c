/* What the recorder must know of SMPI: the program is a library that SMPI opens once a rank, so
 * references inside it find the recorder first, and dlsym(RTLD_NEXT) finds libsimgrid. */
#include "recorder.h"
#include "unsupported.h"

#include <dlfcn.h>
#include <stdlib.h>

#undef exit

void smpi_execute_flops_(double *flops);
void mpi_query_thread_(MPI_Fint *provided, MPI_Fint *ierr);
void mpi_is_thread_main_(MPI_Fint *flag, MPI_Fint *ierr);

static int granted = MPI_THREAD_SINGLE;

extern int mpi_in_place_, mpi_status_ignore_, mpi_statuses_ignore_;

struct fortran_layout hamtune_fortran(void)
{
  return (struct fortran_layout){
      .in_place = &mpi_in_place_,
      .status_ignore = &mpi_status_ignore_,
      .statuses_ignore = &mpi_statuses_ignore_,
      .status_size = MPI_STATUS_SIZE,
  };
}

/* All ranks are one process. */
void hamtune_abort(void)
{
  _Exit(EXIT_FAILURE);
}

/* The program is built with the recorder, which comes before all else in it. */

void hamtune_check_library(void)
{
}

void hamtune_check_wrappers(void)
{
}

bool hamtune_splits_types_alone(void)
{
  return true;
}

/* Ranks have no memory in common that could be written to at once: what serialises calls is SMPI itself. */
void hamtune_grant_threads(int required, int *provided)
{
  if (required == MPI_THREAD_MULTIPLE)
    hamtune_refuse("MPI_THREAD_MULTIPLE is not supported under SMPI; " HAMTUNE_WAY_OUT);
  granted = required;
  if (provided != NULL)
    *provided = granted;
}

int MPI_Query_thread(int *provided)
{
  *provided = granted;
  return MPI_SUCCESS;
}

int MPI_Is_thread_main(int *flag)
{
  *flag = hamtune_my_thread();
  return MPI_SUCCESS;
}

void mpi_query_thread_(MPI_Fint *provided, MPI_Fint *ierr)
{
  *ierr = MPI_Query_thread(provided);
}

void mpi_is_thread_main_(MPI_Fint *flag, MPI_Fint *ierr)
{
  *ierr = MPI_Is_thread_main(flag);
}

/* Under SMPI a program declares its computation by executing it, so this is where it is recorded;
 * hamtune_record_flops only tells that the program has declared. */

void smpi_execute_flops(double flops)
{
  static void (*next)(double);
  if (next == NULL)
    *(void **)&next = dlsym(RTLD_NEXT, "smpi_execute_flops");
  hamtune_enter("smpi_execute_flops");
  next(flops);
  if (hamtune_recording("smpi_execute_flops", MPI_SUCCESS))
    put_computation(flops);
  else
    hamtune_add_flops(flops);
  hamtune_leave();
}

void smpi_execute_flops_(double *flops)
{
  smpi_execute_flops(*flops);
}

void hamtune_record_flops(double flops)
{
  (void)flops;
  if (hamtune_measures())
    hamtune_refuse("the program declares its flops; they must not be measured as well");
}
