/* What the recorder must know of a real MPI library, into whose programs it is preloaded: each rank
 * is a process, and the recording must tell what it is a recording of. */
#include "recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mpi_init_f08_(MPI_Fint *ierr);
void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr);
void mpi_finalize_f08_(MPI_Fint *ierr);
void mpi_pcontrol_f08_(MPI_Fint *level);
double mpi_wtime_f08_(void);

static pthread_t thread;

bool hamtune_my_thread(void)
{
  return pthread_equal(thread, pthread_self());
}

/* The library does what it does, and its time is the time. */

void hamtune_grant_threads(int required, int *provided)
{
  (void)required;
  (void)provided;
}

void hamtune_computed(double seconds)
{
  (void)seconds;
}

void hamtune_let_pass(void)
{
}

void hamtune_enter_outside(void)
{
}

void hamtune_leave_outside(void)
{
}

double hamtune_wtime(void)
{
  return PMPI_Wtime();
}

void hamtune_tell_call(const char *function)
{
  (void)function;
}

void hamtune_tell_operation(void)
{
}

void hamtune_tell_return(void)
{
}

void hamtune_tell_end(void)
{
}

/* SMPI has none. Recorded as if it blocked: the request completes without an operation. */
void record_comm_idup(MPI_Comm comm, MPI_Comm newcomm, MPI_Request request)
{
  (void)request;
  if (newcomm == MPI_COMM_NULL)
    hamtune_refuse("MPI_Comm_idup of a library that gives the communicator only later is not "
                   "supported in a trace");
  record_comm_dup(comm, newcomm);
}

/* What is known to be over was waited for; the request itself lives on until a call that ends it. */
void record_get_status(MPI_Request request, int flag, MPI_Status status)
{
  record_test(request, flag, status);
}

/* A receive is settled at once. */
void record_cancel(MPI_Request handle)
{
  struct open_request *request = hamtune_find_request(handle);
  if (request == NULL || request->slot < 0)
    return;
  MPI_Status status;
  int done = 0;
  request->cancelled = true;
  request->in_vain = -1;
  PMPI_Request_get_status(handle, &done, &status);
  if (done)
    PMPI_Test_cancelled(&status, &request->in_vain);
}

void hamtune_abort(void)
{
  PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  _Exit(EXIT_FAILURE);
}

/* Lines `ranks`, `speed` and `library`, then the command line as the kernel gives it. */
void hamtune_describe_run(const char *directory, int rank, double speed)
{
  thread = pthread_self();
  if (speed <= 0)
    hamtune_refuse("HAMTUNE_RECORD_HOST_SPEED must be the speed of a core in flop/s (2e9 or 2Gf), "
                   "as hamtune-host-speed prints it");
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0, ranks = 0;
  PMPI_Get_library_version(library, &length);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  library[strcspn(library, "\r\n")] = '\0';
  char path[4200], text[MPI_MAX_LIBRARY_VERSION_STRING + 100], command[1 << 16];
  snprintf(path, sizeof path, "%s/rank-%d.run", directory, rank);
  const int size = snprintf(text, sizeof text, "ranks %d\nspeed %.17g\nlibrary %s\n", ranks, speed,
                            library);
  hamtune_append(path, text, (size_t)size);
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? -1 : read(fd, command, sizeof command);
  if (got > 0)
    hamtune_append(path, command, (size_t)got);
  if (fd >= 0)
    close(fd);
}

bool hamtune_splits_types_alone(void)
{
  return false;
}

/* Real libraries have persistent sends right. */

void hamtune_keep_send(struct open_request *request, const void *buf, MPI_Datatype type,
                       MPI_Comm comm)
{
  (void)request, (void)buf, (void)type, (void)comm;
}

void hamtune_drop_send(struct open_request *request)
{
  (void)request;
}

void hamtune_lend(int count, MPI_Request *requests, const MPI_Request *before)
{
  (void)count, (void)requests, (void)before;
}

void hamtune_finish_sends(void)
{
}

void hamtune_take_back(int count, MPI_Request *requests, const MPI_Request *before)
{
  (void)count, (void)requests, (void)before;
}

void hamtune_f_lend(int count, MPI_Fint *requests, const MPI_Request *before)
{
  (void)count, (void)requests, (void)before;
}

void hamtune_f_take_back(int count, MPI_Fint *requests, const MPI_Request *before)
{
  (void)count, (void)requests, (void)before;
}

/* The module mpi_f08 makes the error code optional. The plain C functions behind these do the same
 * in every library. */

static void give(MPI_Fint *ierr, int result)
{
  if (ierr != NULL)
    *ierr = result;
}

void mpi_init_f08_(MPI_Fint *ierr)
{
  give(ierr, MPI_Init(NULL, NULL));
}

void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr)
{
  give(ierr, MPI_Init_thread(NULL, NULL, *required, provided));
}

void mpi_finalize_f08_(MPI_Fint *ierr)
{
  give(ierr, MPI_Finalize());
}

void mpi_pcontrol_f08_(MPI_Fint *level)
{
  MPI_Pcontrol(*level);
}

double mpi_wtime_f08_(void)
{
  return MPI_Wtime();
}
