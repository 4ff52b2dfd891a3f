/* One small function for each feature of MPI-3.1, by chapter of the standard. Run with the names of those to
 * run, on an even number of ranks of at least 4. Each checks what it got. gallery.py says what becomes of each in
 * a capture. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 4096 };
static int rank, size, right, left;
static int data[MANY], more[MANY];
static MPI_Status status;
#define WORLD MPI_COMM_WORLD

static void check(int holds)
{
  if (holds)
    return;
  fprintf(stderr, "rank %d got something else\n", rank);
  exit(3);
}

/* 3: point to point. */

static void standard_send(void)
{
  if (rank % 2 == 0) {
    MPI_Send(data, 100, MPI_INT, right, 1, WORLD);
    MPI_Send(data, MANY, MPI_INT, right, 2, WORLD);
  } else {
    MPI_Recv(more, 100, MPI_INT, left, 1, WORLD, &status);
    MPI_Recv(more, MANY, MPI_INT, left, 2, WORLD, MPI_STATUS_IGNORE);
    check(more[7] == left + 7);
  }
}

static void buffered_send(void)
{
  const int bytes = 400 + MPI_BSEND_OVERHEAD;
  void *buffer = malloc((size_t)bytes);
  int detached = 0;
  MPI_Buffer_attach(buffer, bytes);
  MPI_Bsend(data, 100, MPI_INT, right, 1, WORLD);
  MPI_Recv(more, 100, MPI_INT, left, 1, WORLD, &status);
  MPI_Buffer_detach(&buffer, &detached);
  free(buffer);
  check(more[0] == left);
}

static void synchronous_send(void)
{
  if (rank % 2 == 0)
    MPI_Ssend(data, 10, MPI_INT, right, 1, WORLD);
  else
    MPI_Recv(more, 10, MPI_INT, left, 1, WORLD, &status);
}

static void ready_send(void)
{
  MPI_Request request;
  if (rank % 2 == 1)
    MPI_Irecv(more, 10, MPI_INT, left, 1, WORLD, &request);
  MPI_Barrier(WORLD);
  if (rank % 2 == 0)
    MPI_Rsend(data, 10, MPI_INT, right, 1, WORLD);
  else
    MPI_Wait(&request, &status);
}

static void send_and_receive(void)
{
  MPI_Sendrecv(data, 50, MPI_INT, right, 1, more, 50, MPI_INT, left, 1, WORLD, &status);
  check(more[3] == left + 3);
}

static void send_and_receive_in_place(void)
{
  more[0] = rank;
  MPI_Sendrecv_replace(more, 50, MPI_INT, right, 1, left, 1, WORLD, &status);
  check(more[0] == left);
}

static void null_process(void)
{
  MPI_Sendrecv(data, 5, MPI_INT, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 1, more, 5, MPI_INT,
               rank > 0 ? rank - 1 : MPI_PROC_NULL, 1, WORLD, &status);
}

/* One after the other: on another network they would else come in another order. */
static void any_source(void)
{
  if (rank > 1)
    MPI_Recv(more, 1, MPI_INT, 0, 0, WORLD, &status);
  if (rank > 0)
    MPI_Send(data, 10, MPI_INT, 0, rank, WORLD);
  for (int i = 1; rank == 0 && i < size; i++) {
    MPI_Recv(more, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
    check(status.MPI_SOURCE == status.MPI_TAG && more[0] == status.MPI_SOURCE);
    if (i + 1 < size)
      MPI_Send(data, 1, MPI_INT, i + 1, 0, WORLD);
  }
  MPI_Barrier(WORLD); /* what is sent after it is not for these receives */
}

static void probe(void)
{
  int count = 0;
  if (rank % 2 == 0)
    MPI_Send(data, 9, MPI_INT, right, 4, WORLD);
  else {
    MPI_Probe(left, 4, WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    check(count == 9);
    MPI_Recv(more, count, MPI_INT, left, 4, WORLD, &status);
  }
}

static void immediate_probe(void)
{
  int flag = 0;
  if (rank % 2 == 0)
    MPI_Send(data, 9, MPI_INT, right, 4, WORLD);
  else {
    while (!flag)
      MPI_Iprobe(left, 4, WORLD, &flag, &status);
    MPI_Recv(more, 9, MPI_INT, left, 4, WORLD, &status);
  }
}

static void matched_probe(void)
{
  MPI_Message message;
  if (rank % 2 == 0)
    MPI_Send(data, 9, MPI_INT, right, 4, WORLD);
  else {
    MPI_Mprobe(left, 4, WORLD, &message, &status);
    MPI_Mrecv(more, 9, MPI_INT, &message, &status);
    check(more[8] == left + 8);
  }
}

static void matched_immediate_receive(void)
{
  MPI_Message message;
  MPI_Request request;
  if (rank % 2 == 0)
    MPI_Send(data, 9, MPI_INT, right, 4, WORLD);
  else {
    MPI_Mprobe(left, 4, WORLD, &message, &status);
    MPI_Imrecv(more, 9, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
  }
}

static void exchange(MPI_Request *requests, int count)
{
  MPI_Irecv(more, count, MPI_INT, left, 3, WORLD, &requests[0]);
  MPI_Isend(data, count, MPI_INT, right, 3, WORLD, &requests[1]);
}

static void immediate(void)
{
  MPI_Request requests[2];
  exchange(requests, 1000);
  MPI_Wait(&requests[0], &status);
  MPI_Wait(&requests[1], &status);
}

static void wait_all(void)
{
  MPI_Request requests[2];
  exchange(requests, 1000);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void wait_any(void)
{
  MPI_Request requests[2];
  int index;
  exchange(requests, 1000);
  for (int i = 0; i < 2; i++)
    MPI_Waitany(2, requests, &index, &status);
  check(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
}

static void wait_some(void)
{
  MPI_Request requests[2];
  int done, indices[2];
  exchange(requests, 1000);
  for (int ended = 0; ended < 2; ended += done)
    MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
}

static void test(void)
{
  MPI_Request requests[2];
  exchange(requests, 10);
  for (int i = 0, flag = 0; i < 2; i++, flag = 0)
    while (!flag)
      MPI_Test(&requests[i], &flag, &status);
}

static void test_all(void)
{
  MPI_Request requests[2];
  int flag = 0;
  exchange(requests, 10);
  while (!flag)
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
}

static void test_any(void)
{
  MPI_Request requests[2];
  int index, flag;
  exchange(requests, 10);
  for (int ended = 0; ended < 2; ended += flag)
    MPI_Testany(2, requests, &index, &flag, &status);
}

static void test_some(void)
{
  MPI_Request requests[2];
  int done, indices[2];
  exchange(requests, 10);
  for (int ended = 0; ended < 2; ended += done)
    MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
}

static void persistent(void)
{
  MPI_Request requests[2];
  MPI_Recv_init(more, 100, MPI_INT, left, 3, WORLD, &requests[0]);
  MPI_Send_init(data, 100, MPI_INT, right, 3, WORLD, &requests[1]);
  for (int i = 0; i < 3; i++) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void request_free(void)
{
  MPI_Request request;
  MPI_Isend(data, 10, MPI_INT, right, 3, WORLD, &request);
  MPI_Request_free(&request);
  MPI_Recv(more, 10, MPI_INT, left, 3, WORLD, &status);
}

static void cancel(void)
{
  MPI_Request request;
  MPI_Irecv(more, 10, MPI_INT, left, 99, WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
}

/* 4: datatypes. */

static void typed_exchange(MPI_Datatype type, int count)
{
  MPI_Type_commit(&type);
  MPI_Sendrecv(data, count, type, right, 1, more, count, type, left, 1, WORLD, &status);
  MPI_Type_free(&type);
}

static void contiguous_type(void)
{
  MPI_Datatype type;
  MPI_Type_contiguous(10, MPI_INT, &type);
  typed_exchange(type, 5);
}

static void vector_type(void)
{
  MPI_Datatype type;
  MPI_Type_vector(10, 2, 4, MPI_INT, &type);
  typed_exchange(type, 3);
}

static void indexed_type(void)
{
  MPI_Datatype type;
  const int lengths[] = {1, 3}, places[] = {0, 5};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
  typed_exchange(type, 4);
}

static void struct_type(void)
{
  MPI_Datatype type;
  const int lengths[] = {2, 1};
  const MPI_Aint places[] = {0, 16};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, types, &type);
  typed_exchange(type, 4);
}

static void subarray_type(void)
{
  MPI_Datatype type;
  const int sizes[] = {8, 8}, part[] = {2, 3}, starts[] = {1, 1};
  MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &type);
  typed_exchange(type, 1);
}

static void resized_type(void)
{
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, 16, &type);
  typed_exchange(type, 10);
}

static void empty_type(void)
{
  MPI_Datatype type;
  int one[MANY], none[MANY] = {0}, got[MANY];
  MPI_Type_contiguous(0, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < size; i++)
    one[i] = 1;
  MPI_Sendrecv(data, 5, type, right, 1, got, 0, MPI_INT, left, 1, WORLD, &status);
  MPI_Bcast(data, 3, type, 0, WORLD);
  MPI_Alltoallv(data, one, none, type, got, none, none, MPI_INT, WORLD);
  MPI_Alltoallv(data, none, none, MPI_INT, got, one, none, type, WORLD);
  MPI_Type_free(&type);
}

static void pack(void)
{
  char packed[100];
  int at = 0, one = rank, got = -1;
  MPI_Pack(&one, 1, MPI_INT, packed, sizeof packed, &at, WORLD);
  MPI_Sendrecv_replace(packed, at, MPI_PACKED, right, 1, left, 1, WORLD, &status);
  at = 0;
  MPI_Unpack(packed, sizeof packed, &at, &got, 1, MPI_INT, WORLD);
  check(got == left);
}

static void vector_broadcast(void)
{
  MPI_Datatype type;
  MPI_Type_vector(64, 1, 4, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Bcast(more, 8, type, 0, WORLD);
  MPI_Type_free(&type);
}

/* 5: collectives. */

static void barrier(void) { MPI_Barrier(WORLD); }
static void broadcast(void) { MPI_Bcast(more, MANY, MPI_INT, size - 1, WORLD); }
static void gather(void) { MPI_Gather(data, 8, MPI_INT, more, 8, MPI_INT, 1, WORLD); }
static void scatter(void) { MPI_Scatter(data, 8, MPI_INT, more, 8, MPI_INT, 1, WORLD); }
static void allgather(void) { MPI_Allgather(data, 8, MPI_INT, more, 8, MPI_INT, WORLD); }
static void alltoall(void) { MPI_Alltoall(data, 8, MPI_INT, more, 8, MPI_INT, WORLD); }
static void reduce(void) { MPI_Reduce(data, more, 500, MPI_INT, MPI_MAX, 0, WORLD); }
static void scan(void) { MPI_Scan(data, more, 500, MPI_INT, MPI_SUM, WORLD); }
static void exscan(void) { MPI_Exscan(data, more, 500, MPI_INT, MPI_SUM, WORLD); }

static void allreduce(void)
{
  MPI_Allreduce(data, more, 500, MPI_INT, MPI_SUM, WORLD);
  check(more[0] == size * (size - 1) / 2);
}

static void reduce_scatter_block(void)
{
  MPI_Reduce_scatter_block(data, more, 10, MPI_INT, MPI_SUM, WORLD);
}

static int counts[MANY], places[MANY], total;

static void uneven(void)
{
  total = 0;
  for (int i = 0; i < size; i++) {
    counts[i] = 3 + i;
    places[i] = total;
    total += counts[i];
  }
}

static void gatherv(void)
{
  uneven();
  MPI_Gatherv(data, counts[rank], MPI_INT, more, counts, places, MPI_INT, 0, WORLD);
}

static void scatterv(void)
{
  uneven();
  MPI_Scatterv(data, counts, places, MPI_INT, more, counts[rank], MPI_INT, 0, WORLD);
}

static void allgatherv(void)
{
  uneven();
  MPI_Allgatherv(data, counts[rank], MPI_INT, more, counts, places, MPI_INT, WORLD);
}

static void reduce_scatter(void)
{
  uneven();
  MPI_Reduce_scatter(data, more, counts, MPI_INT, MPI_SUM, WORLD);
}

static void alltoallv(void)
{
  uneven();
  int own[64], at[64];
  for (int i = 0; i < size; i++) {
    own[i] = counts[rank];
    at[i] = i * counts[rank];
  }
  MPI_Alltoallv(data, own, at, MPI_INT, more, counts, places, MPI_INT, WORLD);
}

static void alltoallw(void)
{
  MPI_Datatype types[64];
  int ones[64], at[64];
  for (int i = 0; i < size; i++) {
    types[i] = MPI_INT;
    ones[i] = 1;
    at[i] = 4 * i;
  }
  MPI_Alltoallw(data, ones, at, types, more, ones, at, types, WORLD);
}

static void in_place(void)
{
  MPI_Allreduce(MPI_IN_PLACE, more, 10, MPI_INT, MPI_SUM, WORLD);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, more, 4, MPI_INT, WORLD);
}

static void add(void *in, void *out, int *count, MPI_Datatype *type)
{
  (void)type;
  for (int i = 0; i < *count; i++)
    ((int *)out)[i] += ((int *)in)[i];
}

static void own_operator(void)
{
  MPI_Op op;
  MPI_Op_create(add, 0, &op);
  MPI_Allreduce(data, more, 100, MPI_INT, op, WORLD);
  MPI_Op_free(&op);
}

/* The largest value and who has it: SMPI has datatypes of 8, 16 and 32 bytes for it. */
static void pairs(void)
{
  const MPI_Datatype types[] = {MPI_2INT, MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT};
  for (int each = 0; each < 4; each++) {
    MPI_Reduce(data, more, 3, types[each], MPI_MAXLOC, 0, WORLD);
    MPI_Allreduce(data, more, 3, types[each], MPI_MINLOC, WORLD);
  }
}

static void leave(void *in, void *out, int *count, MPI_Datatype *type)
{
  (void)in;
  (void)out;
  (void)count;
  (void)type;
}

/* Of the same sizes, but derived: SMPI takes another algorithm. */
static void reduction_of_types(void)
{
  MPI_Op op;
  MPI_Op_create(leave, 1, &op);
  for (int doubles = 1; doubles <= 4; doubles++) {
    MPI_Datatype type;
    MPI_Type_contiguous(doubles, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Reduce(data, more, 3, type, op, 0, WORLD);
    MPI_Allreduce(data, more, 3, type, op, WORLD);
    MPI_Type_free(&type);
  }
  MPI_Op_free(&op);
}

static void nonblocking_collectives(void)
{
  MPI_Request requests[3];
  static int third[MANY];
  MPI_Ibarrier(WORLD, &requests[0]);
  MPI_Iallreduce(data, more, 100, MPI_INT, MPI_SUM, WORLD, &requests[1]);
  MPI_Ibcast(third, 100, MPI_INT, 0, WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

/* 6: groups, contexts, communicators. */

static void duplicate(void)
{
  MPI_Comm comm;
  MPI_Comm_dup(WORLD, &comm);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
}

static void split(void)
{
  MPI_Comm comm;
  MPI_Comm_split(WORLD, rank % 2, -rank, &comm);
  MPI_Allreduce(data, more, 10, MPI_INT, MPI_SUM, comm);
  MPI_Comm_free(&comm);
}

static void split_type(void)
{
  MPI_Comm comm;
  MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
}

static MPI_Group evens(void)
{
  MPI_Group all, group;
  int every[1][3] = {{0, size - 1, 2}};
  MPI_Comm_group(WORLD, &all);
  MPI_Group_range_incl(all, 1, every, &group);
  MPI_Group_free(&all);
  return group;
}

static void of_group(void)
{
  MPI_Comm comm;
  MPI_Group group = evens();
  MPI_Comm_create(WORLD, group, &comm);
  MPI_Group_free(&group);
  if (comm != MPI_COMM_NULL) {
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
  }
}

static void of_group_alone(void)
{
  MPI_Comm comm;
  MPI_Group group = evens();
  if (rank % 2 == 0) {
    MPI_Comm_create_group(WORLD, group, 5, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&group);
}

static void duplicate_later(void)
{
  MPI_Comm comm;
  MPI_Request request;
  MPI_Comm_idup(WORLD, &comm, &request);
  MPI_Wait(&request, &status);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
}

static void intercommunicator(void)
{
  MPI_Comm half, both;
  MPI_Comm_split(WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 7, &both);
  MPI_Barrier(both);
}

static void attributes(void)
{
  int key, *found = NULL, flag = 0;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(WORLD, key, data);
  MPI_Comm_get_attr(WORLD, key, &found, &flag);
  check(flag && found == data);
  MPI_Comm_delete_attr(WORLD, key);
}

/* 7: topologies. */

static void cartesian(void)
{
  int dims[2] = {0, 0}, periods[2] = {1, 0}, before, after;
  MPI_Comm grid;
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(WORLD, 2, dims, periods, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &before, &after);
  MPI_Sendrecv(data, 10, MPI_INT, after, 1, more, 10, MPI_INT, before, 1, grid, &status);
  MPI_Comm_free(&grid);
}

static void cartesian_part(void)
{
  int dims[2] = {2, size / 2}, periods[2] = {0, 0}, kept[2] = {0, 1};
  MPI_Comm grid, line;
  MPI_Cart_create(WORLD, 2, dims, periods, 0, &grid);
  MPI_Cart_sub(grid, kept, &line);
  MPI_Allreduce(data, more, 10, MPI_INT, MPI_SUM, line);
  MPI_Comm_free(&line);
  MPI_Comm_free(&grid);
}

static MPI_Comm ring(void)
{
  MPI_Comm comm;
  int sources[2] = {left, right}, targets[2] = {left, right};
  MPI_Dist_graph_create_adjacent(WORLD, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comm);
  return comm;
}

static void graph(void)
{
  MPI_Comm comm = ring();
  MPI_Comm_free(&comm);
}

static void neighbours(void)
{
  MPI_Comm comm = ring();
  MPI_Neighbor_alltoall(data, 4, MPI_INT, more, 4, MPI_INT, comm);
  check(more[0] == left + 4 || size == 2);
  MPI_Comm_free(&comm);
}

static void neighbours_of_types(void)
{
  MPI_Comm comm = ring();
  const int ones[2] = {1, 1};
  const MPI_Aint at[2] = {0, 4};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Neighbor_alltoallw(data, ones, at, types, more, ones, at, types, comm);
}

/* 8 to 13: the environment, threads, processes, one-sided, files. */

static void clocks(void)
{
  const double begin = MPI_Wtime();
  MPI_Barrier(WORLD);
  check(MPI_Wtime() > begin && MPI_Wtick() > 0);
}

static void error_handler(void)
{
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(WORLD);
}

static void failing_call(void)
{
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  MPI_Send(data, 1, MPI_INT, size + 5, 0, WORLD);
}

static void abort_of_all(void) { MPI_Abort(WORLD, 5); }
static void info(void) { MPI_Info made; MPI_Info_create(&made); MPI_Info_free(&made); }
static void pcontrol(void) { MPI_Pcontrol(1); }

static void *call_barrier(void *nothing)
{
  MPI_Barrier(WORLD);
  return nothing;
}

static void second_thread(void)
{
  pthread_t thread;
  pthread_create(&thread, NULL, call_barrier, NULL);
  pthread_join(thread, NULL);
}

static void spawn(void)
{
  MPI_Comm children;
  MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, WORLD, &children, MPI_ERRCODES_IGNORE);
}

static void window(void)
{
  MPI_Win made;
  MPI_Win_create(data, 4, 4, MPI_INFO_NULL, WORLD, &made);
}

static void shared_window(void)
{
  MPI_Win made;
  void *base;
  MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, WORLD, &base, &made);
}

static void dynamic_window(void)
{
  MPI_Win made;
  MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &made);
}

static void file(void)
{
  MPI_File made;
  MPI_File_open(WORLD, "x", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &made);
}

static void generalised_request(void)
{
  MPI_Request request;
  MPI_Grequest_start(NULL, NULL, NULL, NULL, &request);
}

#define FEATURE(NAME) {#NAME, NAME}
static const struct {
  const char *name;
  void (*run)(void);
} features[] = {
    FEATURE(standard_send), FEATURE(buffered_send), FEATURE(synchronous_send), FEATURE(ready_send),
    FEATURE(send_and_receive), FEATURE(send_and_receive_in_place), FEATURE(null_process),
    FEATURE(any_source), FEATURE(probe), FEATURE(immediate_probe), FEATURE(matched_probe),
    FEATURE(matched_immediate_receive), FEATURE(immediate), FEATURE(wait_all), FEATURE(wait_any),
    FEATURE(wait_some), FEATURE(test), FEATURE(test_all), FEATURE(test_any), FEATURE(test_some),
    FEATURE(persistent), FEATURE(request_free), FEATURE(cancel), FEATURE(contiguous_type),
    FEATURE(vector_type), FEATURE(indexed_type), FEATURE(struct_type), FEATURE(subarray_type),
    FEATURE(resized_type), FEATURE(empty_type), FEATURE(pack), FEATURE(vector_broadcast),
    FEATURE(barrier), FEATURE(broadcast), FEATURE(gather), FEATURE(scatter), FEATURE(allgather),
    FEATURE(alltoall), FEATURE(reduce), FEATURE(allreduce), FEATURE(scan), FEATURE(exscan),
    FEATURE(reduce_scatter_block), FEATURE(gatherv), FEATURE(scatterv), FEATURE(allgatherv),
    FEATURE(reduce_scatter), FEATURE(alltoallv), FEATURE(alltoallw), FEATURE(in_place),
    FEATURE(own_operator), FEATURE(pairs), FEATURE(reduction_of_types),
    FEATURE(nonblocking_collectives), FEATURE(duplicate), FEATURE(split), FEATURE(split_type),
    FEATURE(of_group), FEATURE(of_group_alone), FEATURE(duplicate_later),
    FEATURE(intercommunicator), FEATURE(attributes), FEATURE(cartesian), FEATURE(cartesian_part),
    FEATURE(graph), FEATURE(neighbours), FEATURE(neighbours_of_types), FEATURE(clocks),
    FEATURE(error_handler), FEATURE(failing_call), FEATURE(abort_of_all), FEATURE(info),
    FEATURE(pcontrol), FEATURE(second_thread), FEATURE(spawn), FEATURE(window),
    FEATURE(shared_window), FEATURE(dynamic_window), FEATURE(file), FEATURE(generalised_request),
};

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  for (int i = 0; i < MANY; i++)
    data[i] = rank + i;
  for (int i = 1; i < argc; i++)
    for (size_t at = 0; at < sizeof features / sizeof *features; at++)
      if (strcmp(argv[i], features[at].name) == 0)
        features[at].run();
  MPI_Finalize();
  return 0;
}
