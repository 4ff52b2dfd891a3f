/* Matched probes, which SMPI lacks. A message that a probe matches is received at once, for nobody else may
 * get it, and handed over when it is asked for; the trace has the receive then, as under a real MPI. */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

struct held {
  MPI_Status status;
  int size; /* of the bytes that follow */
  MPI_Fint number; /* in Fortran */
  struct held *next;
  char bytes[];
};

static struct held *all; /* few */
static MPI_Fint next_number = 1;

static int take(MPI_Comm comm, const MPI_Status *found, MPI_Message *message)
{
  int size = 0;
  PMPI_Get_count(found, MPI_BYTE, &size);
  struct held *held = malloc(sizeof *held + (size_t)size + 1);
  if (held == NULL)
    hamtune_refuse("out of memory while recording");
  held->size = size;
  held->number = next_number++;
  held->next = all;
  all = held;
  *message = held;
  return PMPI_Recv(held->bytes, size, MPI_BYTE, found->MPI_SOURCE, found->MPI_TAG, comm,
                   &held->status);
}

static void drop(struct held *held)
{
  struct held **at = &all;
  while (*at != held)
    at = &(*at)->next;
  *at = held->next;
  free(held);
}

static void give(MPI_Status *status, const MPI_Status *found)
{
  if (status != MPI_STATUS_IGNORE)
    *status = *found;
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
  hamtune_enter("MPI_Mprobe");
  MPI_Status found;
  *message = MPI_MESSAGE_NO_PROC;
  int result = PMPI_Probe(source, tag, comm, &found);
  if (result == MPI_SUCCESS && source != MPI_PROC_NULL)
    result = take(comm, &found, message);
  if (hamtune_recording("MPI_Mprobe", result))
    record_mprobe(source, tag, comm, *message, found);
  give(status, &found);
  hamtune_leave();
  return result;
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                MPI_Status *status)
{
  hamtune_enter("MPI_Improbe");
  MPI_Status found;
  *message = MPI_MESSAGE_NO_PROC;
  int result = PMPI_Iprobe(source, tag, comm, flag, &found);
  if (result == MPI_SUCCESS && *flag && source != MPI_PROC_NULL)
    result = take(comm, &found, message);
  if (hamtune_recording("MPI_Improbe", result))
    record_improbe(source, tag, comm, *flag, *message, found);
  if (*flag)
    give(status, &found);
  hamtune_leave();
  return result;
}

static int hand_over(struct held *held, void *buffer, int count, MPI_Datatype type)
{
  int size = 0, position = 0;
  PMPI_Type_size(type, &size);
  if ((int64_t)count * size < held->size)
    return MPI_ERR_TRUNCATE;
  return size == 0 ? MPI_SUCCESS
                   : PMPI_Unpack(held->bytes, held->size, &position, buffer, held->size / size,
                                 type, MPI_COMM_SELF);
}

int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
  hamtune_enter("MPI_Mrecv");
  struct held *held = *message;
  MPI_Status received = {.MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG};
  int result = MPI_SUCCESS;
  if (held != NULL) {
    result = hand_over(held, buf, count, datatype);
    received = held->status;
  }
  if (hamtune_recording("MPI_Mrecv", result))
    record_mrecv(buf, count, datatype, *message, received);
  if (held != NULL)
    drop(held);
  *message = MPI_MESSAGE_NULL;
  give(status, &received);
  hamtune_leave();
  return result;
}

/* In Fortran a message is a number, and a status has the layout of C's. */

void mpi_mprobe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *message,
                 MPI_Fint *status, MPI_Fint *ierr);
void mpi_improbe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *flag,
                  MPI_Fint *message, MPI_Fint *status, MPI_Fint *ierr);
void mpi_mrecv_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *message,
                MPI_Fint *status, MPI_Fint *ierr);

static MPI_Status *c_status(MPI_Fint *status)
{
  return hamtune_f_ignored(status) ? MPI_STATUS_IGNORE : (MPI_Status *)status;
}

static MPI_Fint number_of(MPI_Message message)
{
  return message == NULL ? 0 : ((struct held *)message)->number;
}

void mpi_mprobe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *message,
                 MPI_Fint *status, MPI_Fint *ierr)
{
  MPI_Message found;
  *ierr = MPI_Mprobe(*source, *tag, PMPI_Comm_f2c(*comm), &found, c_status(status));
  *message = number_of(found);
}

void mpi_improbe_(MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *flag,
                  MPI_Fint *message, MPI_Fint *status, MPI_Fint *ierr)
{
  MPI_Message found;
  *ierr = MPI_Improbe(*source, *tag, PMPI_Comm_f2c(*comm), flag, &found, c_status(status));
  *message = number_of(found);
}

void mpi_mrecv_(void *buf, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *message,
                MPI_Fint *status, MPI_Fint *ierr)
{
  struct held *held = all;
  while (held != NULL && held->number != *message)
    held = held->next;
  MPI_Message found = held;
  *ierr = MPI_Mrecv(buf, *count, PMPI_Type_f2c(*datatype), &found, c_status(status));
  *message = 0;
}
