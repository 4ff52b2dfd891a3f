/* As unsupported.c: what SMPI does not have. Under a real MPI these are recorded (real_calls.txt). */
#include "unsupported.h"

/* It has MPI_Cancel, but who waits for a cancelled receive ends the whole run. */
UNSUPPORTED(MPI_Cancel, mpi_cancel_)
UNSUPPORTED(MPI_Comm_idup, mpi_comm_idup_)
UNSUPPORTED(MPI_Graph_create, mpi_graph_create_)
UNSUPPORTED(MPI_Dist_graph_create, mpi_dist_graph_create_)
UNSUPPORTED(MPI_Dist_graph_create_adjacent, mpi_dist_graph_create_adjacent_)
UNSUPPORTED(MPI_Neighbor_allgather, mpi_neighbor_allgather_)
UNSUPPORTED(MPI_Neighbor_allgatherv, mpi_neighbor_allgatherv_)
UNSUPPORTED(MPI_Neighbor_alltoall, mpi_neighbor_alltoall_)
UNSUPPORTED(MPI_Neighbor_alltoallv, mpi_neighbor_alltoallv_)
UNSUPPORTED(MPI_Ineighbor_allgather, mpi_ineighbor_allgather_)
UNSUPPORTED(MPI_Ineighbor_allgatherv, mpi_ineighbor_allgatherv_)
UNSUPPORTED(MPI_Ineighbor_alltoall, mpi_ineighbor_alltoall_)
UNSUPPORTED(MPI_Ineighbor_alltoallv, mpi_ineighbor_alltoallv_)
