/* The time of a whole program, from the end of MPI_Init to the beginning of MPI_Finalize; preloaded.
 *
 * Rank 0 prints it: that of the slowest rank, after a barrier at the start. Fortran's entry points are
 * here too: in Open MPI they call PMPI functions and none of C's below. In MPICH they do call these,
 * so that a program may begin twice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void mpi_init_(MPI_Fint *ierr);
void mpi_init_thread_(MPI_Fint *wanted, MPI_Fint *provided, MPI_Fint *ierr);
void mpi_finalize_(MPI_Fint *ierr);
void mpi_init_f08_(MPI_Fint *ierr);
void mpi_init_thread_f08_(MPI_Fint *wanted, MPI_Fint *provided, MPI_Fint *ierr);
void mpi_finalize_f08_(MPI_Fint *ierr);

static int is_begun;
static double begun;

static void begin(void)
{
  if (is_begun)
    return;
  is_begun = 1;
  PMPI_Barrier(MPI_COMM_WORLD);
  begun = PMPI_Wtime();
}

int MPI_Init(int *argc, char ***argv)
{
  const int result = PMPI_Init(argc, argv);
  begin();
  return result;
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
  const int result = PMPI_Init_thread(argc, argv, wanted, provided);
  begin();
  return result;
}

int MPI_Finalize(void)
{
  double mine = PMPI_Wtime() - begun, slowest = 0.0;
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("whole %.9f\n", slowest);
  return PMPI_Finalize();
}

/* The library's own, which may prepare more for Fortran than MPI_Init does. */
static void *binding_of(const char *name)
{
  void *binding = dlsym(RTLD_NEXT, name);
  if (binding == NULL) {
    fprintf(stderr, "this MPI library has no %s\n", name);
    abort();
  }
  return binding;
}

void mpi_init_(MPI_Fint *ierr)
{
  void (*binding)(MPI_Fint *);
  *(void **)&binding = binding_of("mpi_init_");
  binding(ierr);
  begin();
}

void mpi_init_thread_(MPI_Fint *wanted, MPI_Fint *provided, MPI_Fint *ierr)
{
  void (*binding)(MPI_Fint *, MPI_Fint *, MPI_Fint *);
  *(void **)&binding = binding_of("mpi_init_thread_");
  binding(wanted, provided, ierr);
  begin();
}

/* The others do what C does. The module mpi_f08 makes the error code optional. */

static void give(MPI_Fint *ierr, int result)
{
  if (ierr != NULL)
    *ierr = result;
}

void mpi_finalize_(MPI_Fint *ierr)
{
  give(ierr, MPI_Finalize());
}

void mpi_init_f08_(MPI_Fint *ierr)
{
  give(ierr, MPI_Init(NULL, NULL));
}

void mpi_init_thread_f08_(MPI_Fint *wanted, MPI_Fint *provided, MPI_Fint *ierr)
{
  give(ierr, MPI_Init_thread(NULL, NULL, *wanted, provided));
}

void mpi_finalize_f08_(MPI_Fint *ierr)
{
  give(ierr, MPI_Finalize());
}
