/* Functions that communicate and have no operation in a trace: a call of one is named and ends the
 * run. Calls that need a window, a file, a graph or a message handle are covered by the calls that
 * make one. The definitions share a name with the real ones, not their parameters, which is why
 * mpi.h is not included here. */
#include <stdlib.h>

_Noreturn void hamtune_refuse(const char *format, ...);

#define UNSUPPORTED(C_NAME, FORTRAN_NAME)                        \
  int C_NAME(void);                                              \
  void FORTRAN_NAME(void);                                       \
  int C_NAME(void)                                               \
  {                                                              \
    hamtune_refuse("%s is not supported in a trace", #C_NAME);   \
  }                                                              \
  void FORTRAN_NAME(void)                                        \
  {                                                              \
    hamtune_refuse("%s is not supported in a trace", #C_NAME);   \
  }

#define UNSUPPORTED_C(C_NAME)                                    \
  int C_NAME(void);                                              \
  int C_NAME(void)                                               \
  {                                                              \
    hamtune_refuse("%s is not supported in a trace", #C_NAME);   \
  }

/* One-sided. */
UNSUPPORTED(MPI_Win_create, mpi_win_create_)
UNSUPPORTED(MPI_Win_create_dynamic, mpi_win_create_dynamic_)
UNSUPPORTED(MPI_Win_allocate, mpi_win_allocate_)
UNSUPPORTED(MPI_Win_allocate_shared, mpi_win_allocate_shared_)
UNSUPPORTED(MPI_Put, mpi_put_)
UNSUPPORTED(MPI_Get, mpi_get_)
UNSUPPORTED(MPI_Accumulate, mpi_accumulate_)
UNSUPPORTED(MPI_Get_accumulate, mpi_get_accumulate_)
UNSUPPORTED(MPI_Fetch_and_op, mpi_fetch_and_op_)
UNSUPPORTED(MPI_Compare_and_swap, mpi_compare_and_swap_)
UNSUPPORTED(MPI_Rput, mpi_rput_)
UNSUPPORTED(MPI_Rget, mpi_rget_)
UNSUPPORTED(MPI_Raccumulate, mpi_raccumulate_)
UNSUPPORTED(MPI_Rget_accumulate, mpi_rget_accumulate_)

/* Files. */
UNSUPPORTED(MPI_File_open, mpi_file_open_)
UNSUPPORTED(MPI_File_delete, mpi_file_delete_)

/* Processes and intercommunicators. */
UNSUPPORTED(MPI_Comm_spawn, mpi_comm_spawn_)
UNSUPPORTED(MPI_Comm_spawn_multiple, mpi_comm_spawn_multiple_)
UNSUPPORTED(MPI_Comm_accept, mpi_comm_accept_)
UNSUPPORTED(MPI_Comm_connect, mpi_comm_connect_)
UNSUPPORTED(MPI_Comm_join, mpi_comm_join_)
UNSUPPORTED(MPI_Intercomm_create, mpi_intercomm_create_)
UNSUPPORTED(MPI_Intercomm_merge, mpi_intercomm_merge_)

/* Communicators that a trace cannot describe. */
UNSUPPORTED(MPI_Comm_split_type, mpi_comm_split_type_)
UNSUPPORTED(MPI_Comm_create_group, mpi_comm_create_group_)
UNSUPPORTED(MPI_Comm_idup, mpi_comm_idup_)
UNSUPPORTED(MPI_Graph_create, mpi_graph_create_)
UNSUPPORTED(MPI_Dist_graph_create, mpi_dist_graph_create_)
UNSUPPORTED(MPI_Dist_graph_create_adjacent, mpi_dist_graph_create_adjacent_)

/* Neighbourhood collectives. */
UNSUPPORTED(MPI_Neighbor_allgather, mpi_neighbor_allgather_)
UNSUPPORTED(MPI_Neighbor_allgatherv, mpi_neighbor_allgatherv_)
UNSUPPORTED(MPI_Neighbor_alltoall, mpi_neighbor_alltoall_)
UNSUPPORTED(MPI_Neighbor_alltoallv, mpi_neighbor_alltoallv_)
UNSUPPORTED(MPI_Neighbor_alltoallw, mpi_neighbor_alltoallw_)
UNSUPPORTED(MPI_Ineighbor_allgather, mpi_ineighbor_allgather_)
UNSUPPORTED(MPI_Ineighbor_allgatherv, mpi_ineighbor_allgatherv_)
UNSUPPORTED(MPI_Ineighbor_alltoall, mpi_ineighbor_alltoall_)
UNSUPPORTED(MPI_Ineighbor_alltoallv, mpi_ineighbor_alltoallv_)
UNSUPPORTED(MPI_Ineighbor_alltoallw, mpi_ineighbor_alltoallw_)

/* Requests and messages with a life of their own. */
UNSUPPORTED(MPI_Cancel, mpi_cancel_)
UNSUPPORTED(MPI_Grequest_start, mpi_grequest_start_)
UNSUPPORTED(MPI_Mprobe, mpi_mprobe_)
UNSUPPORTED(MPI_Improbe, mpi_improbe_)

/* SMPI's own ways to pass simulated time that say no flops. */
UNSUPPORTED_C(smpi_execute)
UNSUPPORTED_C(smpi_execute_benched)
UNSUPPORTED_C(smpi_execute_flops_benched)
UNSUPPORTED_C(smpi_sample_cond)
UNSUPPORTED_C(smpi_execute_)
UNSUPPORTED_C(smpi_execute_benched_)
UNSUPPORTED_C(smpi_execute_flops_benched_)
