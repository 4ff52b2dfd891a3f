/* Entry points that calls.txt cannot describe, in C and in Fortran. */
#include "recorder.h"

void mpi_init_(MPI_Fint *ierr);
void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr);
void mpi_finalize_(MPI_Fint *ierr);
double mpi_wtime_(void);
void mpi_pcontrol_(MPI_Fint *level);

static void initialised(int result)
{
  if (result == MPI_SUCCESS)
    hamtune_start_recording();
  hamtune_leave();
}

int MPI_Init(int *argc, char ***argv)
{
  hamtune_enter("MPI_Init");
  const int result = PMPI_Init(argc, argv);
  initialised(result);
  return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  hamtune_enter("MPI_Init_thread");
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  initialised(result);
  hamtune_grant_threads(required, provided);
  return result;
}

void mpi_init_(MPI_Fint *ierr)
{
  static void (*binding)(MPI_Fint *);
  *(void **)&binding = hamtune_f_binding("mpi_init_");
  hamtune_enter("MPI_Init");
  binding(ierr);
  initialised(*ierr);
}

void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr)
{
  static void (*binding)(MPI_Fint *, MPI_Fint *, MPI_Fint *);
  *(void **)&binding = hamtune_f_binding("mpi_init_thread_");
  hamtune_enter("MPI_Init_thread");
  binding(required, provided, ierr);
  initialised(*ierr);
  hamtune_grant_threads(*required, provided);
}

static void finalising(void)
{
  hamtune_enter("MPI_Finalize");
  if (hamtune_recording("MPI_Finalize", MPI_SUCCESS))
    hamtune_end_recording();
  hamtune_finish_sends();
}

int MPI_Finalize(void)
{
  finalising();
  const int result = PMPI_Finalize();
  hamtune_leave();
  return result;
}

void mpi_finalize_(MPI_Fint *ierr)
{
  static void (*binding)(MPI_Fint *);
  *(void **)&binding = hamtune_f_binding("mpi_finalize_");
  finalising();
  binding(ierr);
  hamtune_leave();
}

static void record_wtime(void)
{
  if (hamtune_recording("MPI_Wtime", MPI_SUCCESS))
    put_operation(WTIME);
}

double MPI_Wtime(void)
{
  hamtune_enter_clock("MPI_Wtime");
  record_wtime();
  const double now = hamtune_wtime();
  hamtune_leave();
  return now;
}

double mpi_wtime_(void)
{
  return MPI_Wtime();
}

/* MPI_Pcontrol is a word to the profiler, which is this one: libraries need not have it (SMPI stops
 * with an error), so it is not passed on. */
int MPI_Pcontrol(const int level, ...)
{
  hamtune_enter("MPI_Pcontrol");
  if (hamtune_recording("MPI_Pcontrol", MPI_SUCCESS)) {
    put_operation(PCONTROL);
    put_signed(level);
  }
  hamtune_leave();
  return MPI_SUCCESS;
}

void mpi_pcontrol_(MPI_Fint *level)
{
  MPI_Pcontrol(*level);
}
