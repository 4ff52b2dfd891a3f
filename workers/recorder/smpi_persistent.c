/* Persistent sends, which SMPI has wrong: a small send is over before it is received, and if its request is
 * started again by then, SMPI takes the first message for the second, by which receives match. They may
 * match too early, or never. So each start is here a message of a request of its own, which waits and tests
 * are lent in place of the persistent one. */
#include "recorder.h"

#include <stdlib.h>

struct resent {
  const void *buf;
  MPI_Datatype type;
  MPI_Comm comm;
  MPI_Request message; /* of the last start */
};

static int alive; /* of all requests with a `resent` */

/* The program may free its own type before a start. SMPI has the copy of a vector wrong: it takes the bytes
 * from block to block for elements. A type of one element keeps that alive. */
static MPI_Datatype kept_type(MPI_Datatype type)
{
  MPI_Datatype kept = type;
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED)
    PMPI_Type_dup(type, &kept);
  else
    PMPI_Type_contiguous(1, type, &kept);
  PMPI_Type_commit(&kept);
  return kept;
}

void hamtune_keep_send(struct open_request *request, const void *buf, MPI_Datatype type,
                       MPI_Comm comm)
{
  struct resent *resent = malloc(sizeof *resent);
  if (resent == NULL)
    hamtune_refuse("out of memory while recording");
  *resent = (struct resent){buf, kept_type(type), comm, MPI_REQUEST_NULL};
  request->resent = resent;
  alive++;
}

void hamtune_drop_send(struct open_request *request)
{
  struct resent *resent = request->resent;
  if (resent == NULL)
    return;
  if (resent->message != MPI_REQUEST_NULL)
    hamtune_free_send(resent->message);
  PMPI_Type_free(&resent->type);
  free(resent);
  request->resent = NULL;
  alive--;
}

static int send(const struct open_request *request)
{
  struct resent *resent = request->resent;
  int (*const start)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
      request->start == ISSEND ? PMPI_Issend : PMPI_Isend;
  if (request->start == BSEND)
    return PMPI_Bsend(resent->buf, request->count, resent->type, request->peer, request->tag,
                      resent->comm);
  return start(resent->buf, request->count, resent->type, request->peer, request->tag,
               resent->comm, &resent->message);
}

static int start(MPI_Request handle)
{
  const struct open_request *request = hamtune_find_request(handle);
  if (request != NULL && request->start != 0 && request->peer == MPI_PROC_NULL)
    return MPI_SUCCESS; /* SMPI looks for nobody's mailbox */
  return request != NULL && request->resent != NULL ? send(request) : PMPI_Start(&handle);
}

static int start_all(int count, const MPI_Request *requests)
{
  int result = MPI_SUCCESS;
  for (int i = 0; i < count && result == MPI_SUCCESS; i++)
    result = start(requests[i]);
  return result;
}

int MPI_Start(MPI_Request *request)
{
  hamtune_enter("MPI_Start");
  const MPI_Request handle = *request;
  const int result = start(handle);
  if (hamtune_recording("MPI_Start", result))
    record_start(handle);
  hamtune_leave();
  return result;
}

int MPI_Startall(int count, MPI_Request requests[])
{
  hamtune_enter("MPI_Startall");
  const int result = start_all(count, requests);
  if (hamtune_recording("MPI_Startall", result))
    record_startall(count, requests);
  hamtune_leave();
  return result;
}

void mpi_start_(MPI_Fint *request, MPI_Fint *ierr);
void mpi_startall_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *ierr);

void mpi_start_(MPI_Fint *request, MPI_Fint *ierr)
{
  MPI_Request handle = PMPI_Request_f2c(*request);
  *ierr = MPI_Start(&handle);
}

void mpi_startall_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *ierr)
{
  hamtune_enter("MPI_Startall");
  const MPI_Request *handles = hamtune_f_requests(*count, requests);
  *ierr = start_all(*count, handles);
  if (hamtune_recording("MPI_Startall", *ierr))
    record_startall(*count, handles);
  hamtune_leave();
}

/* Lending. What the call leaves of a message's request is the message's again. */

static struct resent *lent(MPI_Request handle)
{
  struct open_request *request = alive > 0 ? hamtune_find_request(handle) : NULL;
  return request == NULL ? NULL : request->resent;
}

void hamtune_lend(int count, MPI_Request *requests, const MPI_Request *before)
{
  for (int i = 0; alive > 0 && i < count; i++) {
    const struct resent *resent = lent(before[i]);
    if (resent != NULL)
      requests[i] = resent->message;
  }
}

void hamtune_take_back(int count, MPI_Request *requests, const MPI_Request *before)
{
  for (int i = 0; alive > 0 && i < count; i++) {
    struct resent *resent = lent(before[i]);
    if (resent == NULL)
      continue;
    resent->message = requests[i];
    requests[i] = before[i];
  }
}

void hamtune_f_lend(int count, MPI_Fint *requests, const MPI_Request *before)
{
  for (int i = 0; alive > 0 && i < count; i++) {
    const struct resent *resent = lent(before[i]);
    if (resent != NULL)
      requests[i] = PMPI_Request_c2f(resent->message);
  }
}

void hamtune_f_take_back(int count, MPI_Fint *requests, const MPI_Request *before)
{
  for (int i = 0; alive > 0 && i < count; i++) {
    struct resent *resent = lent(before[i]);
    if (resent == NULL)
      continue;
    resent->message = PMPI_Request_f2c(requests[i]);
    requests[i] = PMPI_Request_c2f(before[i]);
  }
}
