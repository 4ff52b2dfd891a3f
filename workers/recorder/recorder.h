/* The recorder: what an MPI program asks of MPI, and how much it computes between calls, as the
 * operations of docs/trace-format.md, one file a rank.
 *
 * Entry points (generated, and entries.c) call the record functions (record.c), which write through
 * output.c and number handles through handles.c. Only smpi.c (simulated) and real.c with openmpi.c or
 * mpich.c (preloaded) know which MPI library runs; a rank has its own copy of all variables, by
 * privatisation or by being a process. */
#ifndef HAMTUNE_RECORDER_H
#define HAMTUNE_RECORDER_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record_calls.h"

enum operation {
  COMPUTE = 1,
  SEND,
  SSEND,
  RECV,
  ISEND,
  ISSEND,
  IRECV,
  SENDRECV,
  WAIT,
  WAITALL,
  MATCH,
  PROBE,
  WTIME,
  PCONTROL,
  FINALIZE,
  REQUEST_FREE,
  BSEND,
  COMM_DUP = 20,
  COMM_SPLIT,
  COMM_CREATE,
  CART_CREATE,
  CART_SUB,
  COMM_FREE,
  COMM_CREATE_GROUP,
  BARRIER = 32,
  BCAST,
  REDUCE,
  ALLREDUCE,
  GATHER,
  SCATTER,
  ALLGATHER,
  ALLTOALL,
  GATHERV,
  SCATTERV,
  ALLGATHERV,
  ALLTOALLV,
  ALLTOALLW,
  REDUCE_SCATTER,
  REDUCE_SCATTER_BLOCK,
  SCAN,
  EXSCAN,
  NONBLOCKING = 64
};

/* clock.c: the computation between calls. Entry points run between enter and leave, which nest. */
void hamtune_enter(const char *function);
/* As enter, for one that only tells the time: no other rank gets to run before it does. */
void hamtune_enter_clock(const char *function);
void hamtune_leave(void);
/* Whether this entry point records: the outermost one of an active recorder. An MPI error ends the
 * run, because a replay could not end in the same error. */
bool hamtune_recording(const char *function, int result);
void hamtune_add_flops(double flops);
/* Flops since the last operation, which becomes a compute operation before the next one. */
double hamtune_take_flops(void);
bool hamtune_measures(void);
/* All that was measured so far, s. */
double hamtune_computed_seconds(void);
void hamtune_start_recording(void);
void hamtune_end_recording(void);

/* thread_clock.c, or smpi.c: the CPU time of the calling thread, s. Started before it is asked for the
 * first time, by the thread that asks. */
void hamtune_start_clock(void);
void hamtune_stop_clock(void);
double hamtune_thread_seconds(void);

/* output.c */
void hamtune_open_output(const char *directory, int rank);
struct computation {  /* of a rank, as its clock measured it */
  uint64_t stretches; /* between two calls */
  double seconds;     /* all together */
  double empty;       /* what a stretch takes in which nothing is computed, which was taken off each */
};
void hamtune_close_output(struct computation computed);
void hamtune_append(const char *file, const void *data, size_t size);
void put_operation(int code);
/* A computation of its own. SimGrid rounds the end of each to its precision, so that a replay of two
 * as one would end at another time than the program. */
void put_computation(double flops);
void put_number(uint64_t value);
void put_signed(int64_t value);
void put_peer(int rank);
void put_tag(int tag);
int hamtune_type_size(MPI_Datatype datatype); /* refuses 2 GiB and more */
void put_size(MPI_Datatype datatype);
/* Leaves the reason where the capture finds it, says it, and ends the whole run. */
_Noreturn void hamtune_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* handles.c: communicators and open requests by their numbers in the trace. */
struct open_request {
  MPI_Request handle;
  int64_t slot;       /* -1: a persistent request that is not active */
  int64_t *others;    /* more slots that one request completes; freed with it */
  int other_count;
  int start;          /* operation that starts a persistent request, 0 for others */
  bool wildcard;      /* a receive from any source or with any tag */
  bool receives;      /* a message */
  bool cancelled;     /* MPI_Cancel was called since the start */
  int in_vain;        /* whether it ends without a message then: 1, 0, or -1 if only its end tells */
  int count, size, peer, tag;
  uint64_t comm;
  struct resent *resent; /* smpi_persistent.c: of a persistent send, freed with it */
};
uint64_t hamtune_communicator(MPI_Comm comm);
void hamtune_new_communicator(MPI_Comm comm);
void hamtune_forget_communicator(MPI_Comm comm);
struct open_request *hamtune_new_request(MPI_Request handle);
struct open_request *hamtune_find_request(MPI_Request handle);
void hamtune_forget_request(struct open_request *request);
struct probed_message {
  MPI_Message handle;
  int peer, tag, bytes; /* MPI_UNDEFINED: too many for an int */
  uint64_t comm;
  int64_t slot; /* of the receive that the trace has for it; -1: none yet */
};
void hamtune_new_message(struct probed_message message);
/* One of this communicator that has no receive yet; null where there is none. */
struct probed_message *hamtune_unclaimed_message(uint64_t comm);
/* The message is forgotten. Its peer is MPI_PROC_NULL if no probe gave it. */
struct probed_message hamtune_take_message(MPI_Message handle);
int64_t hamtune_take_slot(void);
void hamtune_free_slot(int64_t slot);

/* neighbour_messages.c: the messages of a collective of neighbours, on a communicator made for this, with
 * the largest tag that every library allows. */
enum { NEIGHBOUR_TAG = 32767 };
struct neighbours { /* of the calling rank, in the order of the blocks in its buffers */
  int in, out;
  int *sources, *targets;
  bool grid; /* Cartesian: those down and up along each axis */
};
/* Which block the message of the source in this place goes to. Where the neighbours down and up are the
 * same rank, what it sends down comes from above. */
int hamtune_block(const struct neighbours *with, int place);
struct block_lengths {
  const int *counts; /* by message; null: the one count for each */
  int count;
  MPI_Datatype type;
};
/* Null request: of a blocking form. */
void hamtune_put_exchange(const struct neighbours *with, struct block_lengths sent,
                          struct block_lengths received, MPI_Comm comm, const MPI_Request *request);

/* scratch.c: memory of the current call, valid until the next call asks for the same kind. */
MPI_Status *hamtune_statuses(int count);
int64_t *hamtune_slots(int count);
MPI_Request *hamtune_requests(int count, const MPI_Request *requests);

/* smpi_requests.c: a send that nobody waits for goes on, to its end before that of the rank. Nothing in real.c. */
void hamtune_free_send(MPI_Request handle);
void hamtune_finish_sends(void);

/* smpi_persistent.c, or nothing in real.c: what a persistent send is started with, and, around a call that
 * completes requests, the requests of its starts in place of its own. */
void hamtune_keep_send(struct open_request *request, const void *buf, MPI_Datatype type,
                       MPI_Comm comm);
void hamtune_drop_send(struct open_request *request);
void hamtune_lend(int count, MPI_Request *requests, const MPI_Request *before);
void hamtune_take_back(int count, MPI_Request *requests, const MPI_Request *before);
void hamtune_f_lend(int count, MPI_Fint *requests, const MPI_Request *before);
void hamtune_f_take_back(int count, MPI_Fint *requests, const MPI_Request *before);

/* fortran.c: what Fortran hands over, as C sees it. */
void *hamtune_f_binding(const char *name);
const void *hamtune_f_buffer(const void *buffer);
bool hamtune_f_ignored(const MPI_Fint *status);
MPI_Fint *hamtune_f_statuses(int count);
const MPI_Status *hamtune_f_received(int count, const MPI_Fint *statuses);
const MPI_Request *hamtune_f_requests(int count, const MPI_Fint *requests);
const MPI_Datatype *hamtune_f_types(int which, MPI_Comm comm, const MPI_Fint *types);
int hamtune_f_index(MPI_Fint index);
const int *hamtune_f_indices(MPI_Fint count, const MPI_Fint *indices);

/* smpi.c, or openmpi.c and mpich.c */
struct fortran_layout {
  const void *in_place, *status_ignore, *statuses_ignore;
  const void *in_place_f08, *status_ignore_f08, *statuses_ignore_f08; /* null: as those above */
  int status_size; /* in integers */
};
struct fortran_layout hamtune_fortran(void);
_Noreturn void hamtune_abort(void);
/* What the recording must tell beside its operations, told when it starts. */
void hamtune_describe_run(const char *directory, int rank, double speed);
void hamtune_check_library(void);  /* before anything is asked of it */
void hamtune_check_wrappers(void); /* once the recording has a directory */
extern const char *const hamtune_call_names[]; /* of functions that are recorded; written by generate.py */
/* Whether this is the thread of the program that computes and calls MPI. */
bool hamtune_my_thread(void);
/* Whether ranks make the communicator of those with whom they share a host without asking anybody. */
bool hamtune_splits_types_alone(void);
/* The level of threads that a program asked MPI_Init_thread for, and was given. */
void hamtune_grant_threads(int required, int *provided);
/* smpi_run.c, or nothing in real.c: a run whose time is simulated learns what the rank computed, s, and
 * lets it pass before other ranks hear of it. */
void hamtune_computed(double seconds);
void hamtune_let_pass(void);
/* Around what may let other ranks run, or asks for the time, before MPI_Init and after MPI_Finalize. */
void hamtune_enter_outside(void);
void hamtune_leave_outside(void);
/* What MPI_Wtime says, s. */
double hamtune_wtime(void);
/* What the capture sees of the run while it lasts. */
void hamtune_tell_call(const char *function);
void hamtune_tell_operation(void);
void hamtune_tell_return(void);
void hamtune_tell_end(void);

/* A program that declares its flops calls this beside smpi_execute_flops (hamtune_app.h). */
void hamtune_record_flops(double flops);

#endif
