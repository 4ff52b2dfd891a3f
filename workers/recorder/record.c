/* The record functions: one operation, or none, from the arguments of a successful call. */
#include "recorder.h"

enum { IN_PLACE = 1, DOES_NOT_COMMUTE = 2, DERIVED = 4 };

static void put_comm(MPI_Comm comm)
{
  put_number(hamtune_communicator(comm));
}

static void put_count(int count)
{
  put_number((uint64_t)count);
}

static void put_message(MPI_Comm comm, int peer, int tag, int count, MPI_Datatype datatype)
{
  put_comm(comm);
  put_peer(peer);
  put_tag(tag);
  put_count(count);
  put_size(datatype);
}

static bool is_wildcard(int source, int tag)
{
  return source == MPI_ANY_SOURCE || (tag == MPI_ANY_TAG && source != MPI_PROC_NULL);
}

/* A message that a matched probe has found is nobody else's, though it is received later: where another
 * receive or probe of the communicator comes in between, a receive of it comes before that. */
static void claim_probed(uint64_t comm)
{
  struct probed_message *message = hamtune_unclaimed_message(comm);
  if (message == NULL) /* there is one at most, as the next probe comes here, too */
    return;
  if (message->bytes == MPI_UNDEFINED)
    hamtune_refuse("another receive between MPI_Mprobe and MPI_Mrecv of 2 GiB or more is not supported in a trace");
  message->slot = hamtune_take_slot();
  put_operation(IRECV);
  put_number((uint64_t)message->slot);
  put_number(comm);
  put_peer(message->peer);
  put_tag(message->tag);
  put_count(message->bytes);
  put_count(1);
}

/* Blocking point-to-point. */

static void message(int code, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm)
{
  if (peer == MPI_PROC_NULL)
    return;
  if (code == RECV)
    claim_probed(hamtune_communicator(comm));
  put_operation(code);
  put_message(comm, peer, tag, count, datatype);
}

void record_send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
  (void)buf;
  message(SEND, count, datatype, dest, tag, comm);
}

void record_ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
  (void)buf;
  message(SSEND, count, datatype, dest, tag, comm);
}

void record_bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm)
{
  (void)buf;
  message(BSEND, count, datatype, dest, tag, comm);
}

/* The buffer takes the message at once, so the request has nothing to wait for. */
void record_ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Request request)
{
  (void)request;
  record_bsend(buf, count, datatype, dest, tag, comm);
}

void record_recv(const void *buf, int count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Status status)
{
  (void)buf;
  const bool wildcard = is_wildcard(source, tag);
  message(RECV, count, datatype, wildcard ? status.MPI_SOURCE : source,
          wildcard ? status.MPI_TAG : tag, comm);
}

void record_sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                     int sendtag, const void *recvbuf, int recvcount, MPI_Datatype recvtype,
                     int source, int recvtag, MPI_Comm comm, MPI_Status status)
{
  (void)sendbuf;
  (void)recvbuf;
  if (dest == MPI_PROC_NULL && source == MPI_PROC_NULL)
    return;
  const bool wildcard = is_wildcard(source, recvtag);
  claim_probed(hamtune_communicator(comm));
  put_operation(SENDRECV);
  put_message(comm, dest, sendtag, sendcount, sendtype);
  put_peer(wildcard ? status.MPI_SOURCE : source);
  put_tag(wildcard ? status.MPI_TAG : recvtag);
  put_count(recvcount);
  put_size(recvtype);
}

void record_sendrecv_replace(const void *buf, int count, MPI_Datatype datatype, int dest,
                             int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status status)
{
  record_sendrecv(buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag, comm,
                  status);
}

void record_probe(int source, int tag, MPI_Comm comm, MPI_Status status)
{
  if (source == MPI_PROC_NULL)
    return;
  const bool wildcard = is_wildcard(source, tag);
  claim_probed(hamtune_communicator(comm));
  put_operation(PROBE);
  put_comm(comm);
  put_peer(wildcard ? status.MPI_SOURCE : source);
  put_tag(wildcard ? status.MPI_TAG : tag);
}

void record_iprobe(int source, int tag, MPI_Comm comm, int flag, MPI_Status status)
{
  if (flag)
    record_probe(source, tag, comm, status);
}

/* Requests. */

static void start(struct open_request *request, int code)
{
  request->slot = hamtune_take_slot();
  put_operation(code);
  put_number((uint64_t)request->slot);
}

static void start_message(struct open_request *request, int code)
{
  if (code == IRECV)
    claim_probed(request->comm);
  if (code == BSEND)
    put_operation(code);
  else
    start(request, code);
  put_number(request->comm);
  put_peer(request->peer);
  put_tag(request->tag);
  put_count(request->count);
  put_count(request->size);
}

static struct open_request *describe(MPI_Request handle, int count, MPI_Datatype datatype, int peer,
                                     int tag, MPI_Comm comm)
{
  struct open_request *request = hamtune_new_request(handle);
  request->comm = hamtune_communicator(comm);
  request->peer = peer;
  request->tag = tag;
  request->count = count;
  request->size = hamtune_type_size(datatype); /* now: the type may be freed before a start */
  return request;
}

static struct open_request *immediate(int code, int count, MPI_Datatype datatype, int peer, int tag,
                                      MPI_Comm comm, MPI_Request handle)
{
  if (peer == MPI_PROC_NULL)
    return NULL;
  struct open_request *request = describe(handle, count, datatype, peer, tag, comm);
  start_message(request, code);
  return request;
}

void record_isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request request)
{
  (void)buf;
  immediate(ISEND, count, datatype, dest, tag, comm, request);
}

void record_issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Request request)
{
  (void)buf;
  immediate(ISSEND, count, datatype, dest, tag, comm, request);
}

void record_irecv(const void *buf, int count, MPI_Datatype datatype, int source, int tag,
                  MPI_Comm comm, MPI_Request handle)
{
  (void)buf;
  struct open_request *request = immediate(IRECV, count, datatype, source, tag, comm, handle);
  if (request == NULL)
    return;
  request->receives = true;
  request->wildcard = is_wildcard(source, tag);
}

static struct open_request *persistent(int code, int count, MPI_Datatype datatype, int peer,
                                       int tag, MPI_Comm comm, MPI_Request handle)
{
  struct open_request *request = describe(handle, count, datatype, peer, tag, comm);
  request->start = code;
  return request;
}

static void persistent_send(int code, const void *buf, int count, MPI_Datatype datatype, int dest,
                            int tag, MPI_Comm comm, MPI_Request handle)
{
  struct open_request *made = persistent(code, count, datatype, dest, tag, comm, handle);
  if (dest != MPI_PROC_NULL)
    hamtune_keep_send(made, buf, datatype, comm);
}

void record_send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request request)
{
  persistent_send(ISEND, buf, count, datatype, dest, tag, comm, request);
}

void record_ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                       MPI_Comm comm, MPI_Request request)
{
  persistent_send(ISSEND, buf, count, datatype, dest, tag, comm, request);
}

void record_bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                       MPI_Comm comm, MPI_Request request)
{
  persistent_send(BSEND, buf, count, datatype, dest, tag, comm, request);
}

void record_recv_init(const void *buf, int count, MPI_Datatype datatype, int source, int tag,
                      MPI_Comm comm, MPI_Request request)
{
  (void)buf;
  struct open_request *made = persistent(IRECV, count, datatype, source, tag, comm, request);
  made->receives = true;
  made->wildcard = is_wildcard(source, tag);
}

void record_start(MPI_Request handle)
{
  struct open_request *request = hamtune_find_request(handle);
  if (request == NULL || request->peer == MPI_PROC_NULL)
    return;
  start_message(request, request->start);
}

void record_startall(int count, const MPI_Request *requests)
{
  for (int i = 0; i < count; i++)
    record_start(requests[i]);
}

static struct open_request *active(MPI_Request handle)
{
  struct open_request *request = hamtune_find_request(handle);
  return request != NULL && request->slot >= 0 ? request : NULL;
}

/* A receive that is cancelled before anything came is in the trace one of a message from nobody,
 * which its match says. A send that is taken back may have been anyone's message: no trace has it. */

static void put_receive_in_vain(const struct open_request *request)
{
  if (!request->receives)
    hamtune_refuse("a send that MPI_Cancel takes back is not supported in a trace");
  put_operation(MATCH);
  put_number((uint64_t)request->slot);
  put_peer(MPI_PROC_NULL);
  put_tag(0);
}

void record_request_free(MPI_Request handle)
{
  struct open_request *request = hamtune_find_request(handle);
  if (request == NULL)
    return;
  if (request->slot >= 0) {
    if (request->cancelled && request->in_vain < 0)
      hamtune_refuse("MPI_Request_free of a request that MPI_Cancel was called for, and that is "
                     "not over, is not supported in a trace");
    if (request->cancelled && request->in_vain > 0)
      put_receive_in_vain(request);
    put_operation(REQUEST_FREE);
    put_number((uint64_t)request->slot);
    hamtune_free_slot(request->slot);
  }
  hamtune_forget_request(request);
}

/* Matched probes. The message is received from whom and with the tag that the probe found, where it is
 * handed over, as a long one is on its way only then. */

void record_mprobe(int source, int tag, MPI_Comm comm, MPI_Message message, MPI_Status status)
{
  if (source == MPI_PROC_NULL)
    return;
  record_probe(source, tag, comm, status);
  int bytes = 0;
  PMPI_Get_count(&status, MPI_BYTE, &bytes);
  hamtune_new_message((struct probed_message){message, status.MPI_SOURCE, status.MPI_TAG, bytes,
                                              hamtune_communicator(comm), -1});
}

void record_improbe(int source, int tag, MPI_Comm comm, int flag, MPI_Message message,
                    MPI_Status status)
{
  if (flag)
    record_mprobe(source, tag, comm, message, status);
}

void record_mrecv(const void *buf, int count, MPI_Datatype datatype, MPI_Message message,
                  MPI_Status status)
{
  (void)buf;
  (void)status;
  const struct probed_message found = hamtune_take_message(message);
  if (found.peer == MPI_PROC_NULL)
    return;
  if (found.slot >= 0) {
    put_operation(WAIT);
    put_number((uint64_t)found.slot);
    hamtune_free_slot(found.slot);
    return;
  }
  put_operation(RECV);
  put_number(found.comm);
  put_peer(found.peer);
  put_tag(found.tag);
  put_count(count);
  put_size(datatype);
}

void record_imrecv(const void *buf, int count, MPI_Datatype datatype, MPI_Message message,
                   MPI_Request handle)
{
  (void)buf;
  const struct probed_message found = hamtune_take_message(message);
  if (found.peer == MPI_PROC_NULL)
    return;
  struct open_request *request = hamtune_new_request(handle);
  request->comm = found.comm;
  request->peer = found.peer;
  request->tag = found.tag;
  request->count = count;
  request->size = hamtune_type_size(datatype);
  if (found.slot >= 0)
    request->slot = found.slot;
  else
    start_message(request, IRECV);
}

/* Completion. A request that is unknown or not active completes without an operation. */

static bool ended_in_vain(const struct open_request *request, const MPI_Status *status)
{
  int cancelled = request->in_vain;
  if (request->cancelled && cancelled < 0)
    PMPI_Test_cancelled(status, &cancelled);
  return request->cancelled && cancelled > 0;
}

static void put_match(const struct open_request *request, const MPI_Status *status)
{
  if (ended_in_vain(request, status)) {
    put_receive_in_vain(request);
    return;
  }
  if (!request->wildcard)
    return;
  put_operation(MATCH);
  put_number((uint64_t)request->slot);
  put_peer(status->MPI_SOURCE);
  put_tag(status->MPI_TAG);
}

/* Frees the slots of a request and adds them to a list of those that the call completes. */
static int64_t *complete(struct open_request *request, int64_t *slots)
{
  *slots++ = request->slot;
  for (int i = 0; i < request->other_count; i++)
    *slots++ = request->others[i];
  for (const int64_t *freed = slots - 1 - request->other_count; freed < slots; freed++)
    hamtune_free_slot(*freed);
  request->slot = -1;
  request->cancelled = false;
  if (request->start == 0)
    hamtune_forget_request(request);
  return slots;
}

static void put_waitall(const int64_t *slots, const int64_t *end)
{
  put_operation(WAITALL);
  put_number((uint64_t)(end - slots));
  while (slots < end)
    put_number((uint64_t)*slots++);
}

void record_wait(MPI_Request handle, MPI_Status status)
{
  struct open_request *request = active(handle);
  if (request == NULL)
    return;
  put_match(request, &status);
  int64_t *slots = hamtune_slots(1 + request->other_count);
  const int64_t *end = complete(request, slots);
  if (end > slots + 1) {
    put_waitall(slots, end);
    return;
  }
  put_operation(WAIT);
  put_number((uint64_t)*slots);
}

void record_test(MPI_Request request, int flag, MPI_Status status)
{
  if (flag)
    record_wait(request, status);
}

void record_waitany(int count, const MPI_Request *requests, int index, MPI_Status status)
{
  (void)count;
  if (index != MPI_UNDEFINED)
    record_wait(requests[index], status);
}

void record_testany(int count, const MPI_Request *requests, int index, int flag, MPI_Status status)
{
  if (flag)
    record_waitany(count, requests, index, status);
}

/* Status i belongs to the request indices[i], or to request i when there are no indices. A library
 * may use one handle for several requests, so each is done with before the next is looked up. */
static void completed(int count, const int *indices, const MPI_Request *requests,
                      const MPI_Status *statuses)
{
  int most = 0;
  for (int i = 0; i < count; i++) {
    const struct open_request *request = active(requests[indices ? indices[i] : i]);
    most += request != NULL ? 1 + request->other_count : 0;
  }
  int64_t *slots = hamtune_slots(most), *end = slots;
  for (int i = 0; i < count; i++) {
    struct open_request *request = active(requests[indices ? indices[i] : i]);
    if (request == NULL)
      continue;
    put_match(request, &statuses[i]);
    end = complete(request, end);
  }
  if (end > slots)
    put_waitall(slots, end);
}

void record_waitall(int count, const MPI_Request *requests, const MPI_Status *statuses)
{
  completed(count, NULL, requests, statuses);
}

void record_testall(int count, const MPI_Request *requests, int flag, const MPI_Status *statuses)
{
  if (flag)
    completed(count, NULL, requests, statuses);
}

void record_waitsome(int incount, const MPI_Request *requests, int outcount, const int *indices,
                     const MPI_Status *statuses)
{
  (void)incount;
  if (outcount != MPI_UNDEFINED)
    completed(outcount, indices, requests, statuses);
}

/* Communicators. */

void record_comm_dup(MPI_Comm comm, MPI_Comm newcomm)
{
  put_operation(COMM_DUP);
  put_comm(comm);
  hamtune_new_communicator(newcomm);
}

void record_comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm newcomm)
{
  (void)info;
  record_comm_dup(comm, newcomm);
}

void record_comm_split(MPI_Comm comm, int color, int key, MPI_Comm newcomm)
{
  put_operation(COMM_SPLIT);
  put_comm(comm);
  put_signed(color == MPI_UNDEFINED ? -1 : color);
  put_signed(key);
  hamtune_new_communicator(newcomm);
}

static void create(int code, MPI_Comm comm, MPI_Group group, MPI_Comm newcomm)
{
  MPI_Group whole;
  int size = 0;
  PMPI_Comm_group(comm, &whole);
  PMPI_Group_size(group, &size);
  put_operation(code);
  put_comm(comm);
  put_count(size);
  for (int i = 0; i < size; i++) {
    int rank = MPI_UNDEFINED;
    PMPI_Group_translate_ranks(group, 1, &i, whole, &rank);
    put_count(rank);
  }
  PMPI_Group_free(&whole);
  hamtune_new_communicator(newcomm);
}

/* A communicator that its members make by themselves. */
static void create_alone(MPI_Comm comm, MPI_Comm newcomm)
{
  MPI_Group members;
  PMPI_Comm_group(newcomm, &members);
  create(COMM_CREATE_GROUP, comm, members, newcomm);
  PMPI_Group_free(&members);
}

/* A split by what the ranks share: the new communicator's first rank tells the parts apart. */
void record_comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm newcomm)
{
  (void)split_type;
  (void)info;
  if (hamtune_splits_types_alone()) {
    if (newcomm != MPI_COMM_NULL)
      create_alone(comm, newcomm);
    return;
  }
  int color = MPI_UNDEFINED;
  if (newcomm != MPI_COMM_NULL) {
    MPI_Group whole, part;
    const int first = 0;
    PMPI_Comm_group(comm, &whole);
    PMPI_Comm_group(newcomm, &part);
    PMPI_Group_translate_ranks(part, 1, &first, whole, &color);
    PMPI_Group_free(&part);
    PMPI_Group_free(&whole);
  }
  record_comm_split(comm, color, key, newcomm);
}

void record_comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm newcomm)
{
  create(COMM_CREATE, comm, group, newcomm);
}

/* Those call it that are in the group; others get no communicator and can do nothing with it. */
void record_comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm newcomm)
{
  (void)tag;
  if (newcomm != MPI_COMM_NULL)
    create(COMM_CREATE_GROUP, comm, group, newcomm);
}

void record_cart_create(MPI_Comm comm, int ndims, const int *dims, const int *periods, int reorder,
                        MPI_Comm newcomm)
{
  if (ndims == 0) { /* a grid of one rank, which has no extents to tell */
    if (newcomm != MPI_COMM_NULL)
      create_alone(comm, newcomm);
    return;
  }
  put_operation(CART_CREATE);
  put_comm(comm);
  put_count(ndims);
  for (int i = 0; i < ndims; i++) {
    put_count(dims[i]);
    put_count(periods[i] != 0);
  }
  put_count(reorder != 0);
  hamtune_new_communicator(newcomm);
}

void record_cart_sub(MPI_Comm comm, const int *remain_dims, MPI_Comm newcomm)
{
  int dims = 0;
  PMPI_Cartdim_get(comm, &dims);
  if (dims == 0) { /* of a grid of one rank, which has no extents to tell */
    record_comm_dup(comm, newcomm);
    return;
  }
  put_operation(CART_SUB);
  put_comm(comm);
  put_count(dims);
  for (int i = 0; i < dims; i++)
    put_count(remain_dims[i] != 0);
  hamtune_new_communicator(newcomm);
}

void record_comm_free(MPI_Comm comm)
{
  put_operation(COMM_FREE);
  put_comm(comm);
  hamtune_forget_communicator(comm);
}

/* Collectives. The last argument of each is null for the blocking form. */

static void collective(int code, MPI_Comm comm, const MPI_Request *handle)
{
  if (handle == NULL)
    put_operation(code);
  else
    start(hamtune_new_request(*handle), code + NONBLOCKING);
  put_comm(comm);
}

static int rank_in(MPI_Comm comm)
{
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

static int size_of(MPI_Comm comm)
{
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

static int in_place(const void *buffer)
{
  return buffer == MPI_IN_PLACE ? IN_PLACE : 0;
}

/* SMPI reduces what is of a derived datatype by another algorithm. */
static bool is_derived(MPI_Datatype datatype)
{
  int integers = 0, addresses = 0, datatypes = 0, combiner = MPI_COMBINER_NAMED;
  PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner);
  return combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_DUP;
}

static void put_reduction(const void *sendbuf, MPI_Datatype datatype, MPI_Op op)
{
  int commutes = 1;
  PMPI_Op_commutative(op, &commutes);
  put_count(in_place(sendbuf) | (commutes ? 0 : DOES_NOT_COMMUTE) |
            (is_derived(datatype) ? DERIVED : 0));
}

/* Arguments that do not matter here may be anything, so they are recorded as 0. */
static void put_block(bool matters, int count, MPI_Datatype datatype)
{
  put_count(matters ? count : 0);
  if (matters)
    put_size(datatype);
  else
    put_count(0);
}

static void put_type(bool matters, MPI_Datatype datatype)
{
  if (matters)
    put_size(datatype);
  else
    put_count(0);
}

static void put_counts(int entries, const int *counts)
{
  for (int i = 0; i < entries; i++)
    put_count(counts == NULL ? 0 : counts[i]);
}

void record_barrier(MPI_Comm comm, const MPI_Request *request)
{
  collective(BARRIER, comm, request);
}

void record_bcast(const void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  const MPI_Request *request)
{
  (void)buffer;
  collective(BCAST, comm, request);
  put_count(root);
  put_block(true, count, datatype);
}

void record_reduce(const void *sendbuf, const void *recvbuf, int count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, const MPI_Request *request)
{
  (void)recvbuf;
  collective(REDUCE, comm, request);
  put_count(root);
  put_block(true, count, datatype);
  put_reduction(sendbuf, datatype, op);
}

static void reduction(int code, const void *sendbuf, int count, MPI_Datatype datatype, MPI_Op op,
                      MPI_Comm comm, const MPI_Request *request)
{
  collective(code, comm, request);
  put_block(true, count, datatype);
  put_reduction(sendbuf, datatype, op);
}

void record_allreduce(const void *sendbuf, const void *recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, const MPI_Request *request)
{
  (void)recvbuf;
  reduction(ALLREDUCE, sendbuf, count, datatype, op, comm, request);
}

void record_reduce_scatter_block(const void *sendbuf, const void *recvbuf, int recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 const MPI_Request *request)
{
  (void)recvbuf;
  reduction(REDUCE_SCATTER_BLOCK, sendbuf, recvcount, datatype, op, comm, request);
}

void record_scan(const void *sendbuf, const void *recvbuf, int count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, const MPI_Request *request)
{
  (void)recvbuf;
  reduction(SCAN, sendbuf, count, datatype, op, comm, request);
}

void record_exscan(const void *sendbuf, const void *recvbuf, int count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, const MPI_Request *request)
{
  (void)recvbuf;
  reduction(EXSCAN, sendbuf, count, datatype, op, comm, request);
}

void record_reduce_scatter(const void *sendbuf, const void *recvbuf, const int *recvcounts,
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                           const MPI_Request *request)
{
  (void)recvbuf;
  const int size = size_of(comm);
  collective(REDUCE_SCATTER, comm, request);
  put_size(datatype);
  put_reduction(sendbuf, datatype, op);
  put_count(size);
  put_counts(size, recvcounts);
}

void record_gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, const void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   const MPI_Request *request)
{
  (void)recvbuf;
  collective(GATHER, comm, request);
  put_count(root);
  put_block(!in_place(sendbuf), sendcount, sendtype);
  put_block(rank_in(comm) == root, recvcount, recvtype);
  put_count(in_place(sendbuf));
}

void record_scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, const void *recvbuf,
                    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    const MPI_Request *request)
{
  (void)sendbuf;
  collective(SCATTER, comm, request);
  put_count(root);
  put_block(rank_in(comm) == root, sendcount, sendtype);
  put_block(!in_place(recvbuf), recvcount, recvtype);
  put_count(in_place(recvbuf));
}

void record_gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, const void *recvbuf,
                    const int *recvcounts, const int *displs, MPI_Datatype recvtype, int root,
                    MPI_Comm comm, const MPI_Request *request)
{
  (void)recvbuf;
  (void)displs;
  const bool here = rank_in(comm) == root;
  const int entries = here ? size_of(comm) : 0;
  collective(GATHERV, comm, request);
  put_count(root);
  put_block(!in_place(sendbuf), sendcount, sendtype);
  put_type(here, recvtype);
  put_count(in_place(sendbuf));
  put_count(entries);
  put_counts(entries, recvcounts);
}

void record_scatterv(const void *sendbuf, const int *sendcounts, const int *displs,
                     MPI_Datatype sendtype, const void *recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, const MPI_Request *request)
{
  (void)sendbuf;
  (void)displs;
  const bool here = rank_in(comm) == root;
  const int entries = here ? size_of(comm) : 0;
  collective(SCATTERV, comm, request);
  put_count(root);
  put_type(here, sendtype);
  put_block(!in_place(recvbuf), recvcount, recvtype);
  put_count(in_place(recvbuf));
  put_count(entries);
  put_counts(entries, sendcounts);
}

static void exchange(int code, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     const MPI_Request *request)
{
  collective(code, comm, request);
  put_block(!in_place(sendbuf), sendcount, sendtype);
  put_block(true, recvcount, recvtype);
  put_count(in_place(sendbuf));
}

void record_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                      const void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      const MPI_Request *request)
{
  (void)recvbuf;
  exchange(ALLGATHER, sendbuf, sendcount, sendtype, recvcount, recvtype, comm, request);
}

void record_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, const void *recvbuf,
                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     const MPI_Request *request)
{
  (void)recvbuf;
  exchange(ALLTOALL, sendbuf, sendcount, sendtype, recvcount, recvtype, comm, request);
}

void record_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                       const void *recvbuf, const int *recvcounts, const int *displs,
                       MPI_Datatype recvtype, MPI_Comm comm, const MPI_Request *request)
{
  (void)recvbuf;
  (void)displs;
  const int size = size_of(comm);
  collective(ALLGATHERV, comm, request);
  put_block(!in_place(sendbuf), sendcount, sendtype);
  put_size(recvtype);
  put_count(in_place(sendbuf));
  put_count(size);
  put_counts(size, recvcounts);
}

void record_alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls,
                      MPI_Datatype sendtype, const void *recvbuf, const int *recvcounts,
                      const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                      const MPI_Request *request)
{
  (void)sdispls;
  (void)recvbuf;
  (void)rdispls;
  const int size = size_of(comm);
  collective(ALLTOALLV, comm, request);
  put_type(!in_place(sendbuf), sendtype);
  put_size(recvtype);
  put_count(in_place(sendbuf));
  put_count(size);
  put_counts(size, in_place(sendbuf) ? NULL : sendcounts);
  put_counts(size, recvcounts);
}

static void put_bytes(int entries, const int *counts, const MPI_Datatype *types)
{
  for (int i = 0; i < entries; i++) {
    const int size = counts[i] > 0 ? hamtune_type_size(types[i]) : 0;
    put_number((uint64_t)counts[i] * (uint64_t)size);
  }
}

void record_alltoallw(const void *sendbuf, const int *sendcounts, const int *sdispls,
                      const MPI_Datatype *sendtypes, const void *recvbuf, const int *recvcounts,
                      const int *rdispls, const MPI_Datatype *recvtypes, MPI_Comm comm,
                      const MPI_Request *request)
{
  (void)sdispls;
  (void)recvbuf;
  (void)rdispls;
  const int size = size_of(comm);
  collective(ALLTOALLW, comm, request);
  put_count(in_place(sendbuf));
  put_count(size);
  if (in_place(sendbuf))
    put_counts(size, NULL);
  else
    put_bytes(size, sendcounts, sendtypes);
  put_bytes(size, recvcounts, recvtypes);
}
