/* SMPI's MPI_Testany sees only requests whose message is under way: not a send that was buffered, and not a
 * collective. Where there is nothing else it says that no request is active, and a program that waits for
 * its sends would ask for ever. These are tested one by one. */
#include "recorder.h"

void mpi_testany_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag,
                  MPI_Fint *status, MPI_Fint *ierr);

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
