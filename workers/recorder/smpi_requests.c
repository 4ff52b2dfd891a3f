/* Calls on requests that SMPI has wrong.
 *
 * MPI_Testany sees only requests whose message is under way: not a send that was buffered, and not a
 * collective. Where there is nothing else it says that no request is active, and a program that waits for
 * its sends would ask for ever. These are tested one by one. MPI_Waitany dies of a send to nobody.
 * MPI_Request_free takes a long send from the receiver who is in the midst of it. */
#include "recorder.h"

#include <stdlib.h>

void mpi_testany_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag,
                  MPI_Fint *status, MPI_Fint *ierr);
void mpi_waitany_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *status,
                  MPI_Fint *ierr);
void mpi_request_free_(MPI_Fint *request, MPI_Fint *ierr);

static bool overlooked(MPI_Request handle)
{
  if (handle == MPI_REQUEST_NULL)
    return false;
  const struct open_request *request = hamtune_find_request(handle);
  if (request == NULL)
    return true; /* with nobody: complete from the start */
  return request->slot >= 0 && !request->receives;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
  hamtune_enter("MPI_Testany");
  if (status == MPI_STATUS_IGNORE)
    status = hamtune_statuses(1);
  const MPI_Request *before = hamtune_requests(count, requests);
  hamtune_lend(count, requests, before);
  int result = PMPI_Testany(count, requests, index, flag, status);
  const bool found = *flag && *index != MPI_UNDEFINED;
  for (int at = 0; at < count && !found && result == MPI_SUCCESS; at++) {
    if (!overlooked(before[at]))
      continue;
    result = PMPI_Test(&requests[at], flag, status);
    *index = *flag ? at : MPI_UNDEFINED;
    if (*flag)
      break;
  }
  hamtune_take_back(count, requests, before);
  if (hamtune_recording("MPI_Testany", result))
    record_testany(count, before, *index, *flag, *status);
  hamtune_leave();
  return result;
}

void mpi_testany_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag,
                  MPI_Fint *status, MPI_Fint *ierr)
{
  static void (*any)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
  static void (*one)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
  if (any == NULL) {
    *(void **)&any = hamtune_f_binding("mpi_testany_");
    *(void **)&one = hamtune_f_binding("mpi_test_");
  }
  hamtune_enter("MPI_Testany");
  if (hamtune_f_ignored(status))
    status = hamtune_f_statuses(1);
  const MPI_Request *before = hamtune_f_requests(*count, requests);
  hamtune_f_lend(*count, requests, before);
  any(count, requests, index, flag, status, ierr);
  const bool found = *flag && *index != MPI_UNDEFINED;
  for (MPI_Fint at = 0; at < *count && !found && *ierr == MPI_SUCCESS; at++) {
    if (!overlooked(before[at]))
      continue;
    one(&requests[at], flag, status, ierr);
    *index = *flag ? at + 1 : MPI_UNDEFINED;
    if (*flag)
      break;
  }
  hamtune_f_take_back(*count, requests, before);
  if (hamtune_recording("MPI_Testany", *ierr))
    record_testany(*count, before, hamtune_f_index(*index), *flag,
                   *hamtune_f_received(1, status));
  hamtune_leave();
}

/* The place of a request that was complete from the start; -1 where there is none. */
static int with_nobody(int count, const MPI_Request *requests)
{
  for (int at = 0; at < count; at++)
    if (requests[at] != MPI_REQUEST_NULL && hamtune_find_request(requests[at]) == NULL)
      return at;
  return -1;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
  hamtune_enter("MPI_Waitany");
  if (status == MPI_STATUS_IGNORE)
    status = hamtune_statuses(1);
  const MPI_Request *before = hamtune_requests(count, requests);
  hamtune_lend(count, requests, before);
  const int at = with_nobody(count, before);
  int result;
  if (at >= 0) {
    result = PMPI_Wait(&requests[at], status);
    *index = at;
  } else {
    result = PMPI_Waitany(count, requests, index, status);
  }
  hamtune_take_back(count, requests, before);
  if (hamtune_recording("MPI_Waitany", result))
    record_waitany(count, before, *index, *status);
  hamtune_leave();
  return result;
}

void mpi_waitany_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *status,
                  MPI_Fint *ierr)
{
  static void (*any)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
  static void (*one)(MPI_Fint *, MPI_Fint *, MPI_Fint *);
  if (any == NULL) {
    *(void **)&any = hamtune_f_binding("mpi_waitany_");
    *(void **)&one = hamtune_f_binding("mpi_wait_");
  }
  hamtune_enter("MPI_Waitany");
  if (hamtune_f_ignored(status))
    status = hamtune_f_statuses(1);
  const MPI_Request *before = hamtune_f_requests(*count, requests);
  hamtune_f_lend(*count, requests, before);
  const int at = with_nobody(*count, before);
  if (at >= 0) {
    one(&requests[at], status, ierr);
    *index = at + 1;
  } else {
    any(count, requests, index, status, ierr);
  }
  hamtune_f_take_back(*count, requests, before);
  if (hamtune_recording("MPI_Waitany", *ierr))
    record_waitany(*count, before, hamtune_f_index(*index), *hamtune_f_received(1, status));
  hamtune_leave();
}

/* Sends that the program is done with and that may be under way. */
static MPI_Request *freed;
static int freed_count, freed_capacity;

void hamtune_free_send(MPI_Request handle)
{
  if (freed_count == freed_capacity) {
    freed_capacity = 2 * freed_capacity + 16;
    freed = realloc(freed, (size_t)freed_capacity * sizeof *freed);
    if (freed == NULL)
      hamtune_refuse("out of memory while recording");
  }
  freed[freed_count++] = handle;
}

void hamtune_finish_sends(void)
{
  PMPI_Waitall(freed_count, freed, MPI_STATUSES_IGNORE);
  freed_count = 0;
}

int MPI_Request_free(MPI_Request *request)
{
  hamtune_enter("MPI_Request_free");
  const MPI_Request before = *request;
  const struct open_request *open = hamtune_find_request(before);
  int result = MPI_SUCCESS;
  if (open != NULL && open->slot >= 0 && open->start == 0 && !open->receives) {
    hamtune_free_send(before);
    *request = MPI_REQUEST_NULL;
  } else {
    result = PMPI_Request_free(request);
  }
  if (hamtune_recording("MPI_Request_free", result))
    record_request_free(before);
  hamtune_leave();
  return result;
}

void mpi_request_free_(MPI_Fint *request, MPI_Fint *ierr)
{
  MPI_Request handle = PMPI_Request_f2c(*request);
  *ierr = MPI_Request_free(&handle);
  if (*ierr == MPI_SUCCESS)
    *request = PMPI_Request_c2f(handle);
}
